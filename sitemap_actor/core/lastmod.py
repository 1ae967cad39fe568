"""Judges lastmod texts: the instant a text names, or that it cannot be read, never a guess.

Read are the W3C's dates and date-times in all precisions (https://www.w3.org/TR/NOTE-datetime) with what real
sitemaps do to them: a space for the T, single-digit months and days, no colon in the offset, a fraction of any
length, no zone (UTC then); and RFC 822/1123 dates with or without their weekday. A year or a month is its start, a
day its first instant. Anything else is unreadable: day and month are never swapped, an impossible date is not rolled
over, a weekday that contradicts its date, a 12-hour clock and bare numbers are not interpreted.

Instants are POSIX seconds, UTC. `LastmodJudge` works on whole columns, because every lastmod of every page is judged.
"""

import re
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, cast

from sitemap_actor.core.sitemaps.entries import trim

FUTURE = 86_400.0
"""How many seconds ahead of the run a lastmod may be before it counts as in the future."""

_EPOCH_DAY = date(1970, 1, 1).toordinal()
_LONGEST = 100
_MEMO = 4_096

_W3C = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2})"
    r"(?:(?:[Tt]|\x20{1,3})(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?P<fraction>\.[0-9]+)?)?)?"
    r"\x20?(?P<zone>[Zz]|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)?)?)?"
)
_RFC822 = re.compile(
    r"(?:(?P<weekday>mon|tue|wed|thu|fri|sat|sun),?\x20+)?(?P<day>[0-9]{1,2})\x20+"
    r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\x20+(?P<year>[0-9]{4}|[0-9]{2})\x20+"
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?P<fraction>\.[0-9]+)?)?"
    r"(?:\x20*(?P<zone>[+-][0-9]{2}:?[0-9]{2})|\x20+(?P<name>z|ut|utc|gmt|est|edt|cst|cdt|mst|mdt|pst|pdt))?",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# RFC 822 5.1; its single letters were misread so often that RFC 2822 withdrew them.
_HOURS = {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}

# A text with its digits and signs levelled shows its shape. Texts of these shapes Python's own reader takes strictly,
# once what the shape leaves out is added.
_LEVEL = str.maketrans("123456789+", "000000000-")
_SHAPES = {
    **{f"0000-00-00{t}00:00{s}{zone}": "" for t in "T " for s in ("", ":00", ":00.000") for zone in ("Z", "-00:00")},
    **{f"0000-00-00{t}00:00{s}": "+00:00" for t in "T " for s in ("", ":00", ":00.000")},
    "0000-00-00": "T00:00:00+00:00",
}

# How a text was read.
_READ, _ZONE_ASSUMED, _UNREADABLE, _ABSENT = range(4)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one text says: `instant` where it was read; `zone_assumed` tells a time without zone, taken as UTC."""

    status: Literal["read", "unreadable", "absent"]
    instant: float | None = None
    zone_assumed: bool = False


ABSENT = Reading("absent")
UNREADABLE = Reading("unreadable")


def parse(text: str | None) -> Reading:
    """Read one lastmod text; none, or an empty one, is absent."""
    instant, how = _parse(text)
    if instant is None:
        return ABSENT if how == _ABSENT else UNREADABLE
    return Reading("read", instant, how == _ZONE_ASSUMED)


def parse_since(text: str) -> float:
    """Read the date filter's value (`changedSince`) as an instant; raise ValueError where it cannot be read."""
    reading = parse(text)
    if reading.instant is None:
        raise ValueError(f"not a date, or a date and time, that can be read: {text[:_LONGEST]!r}")
    return reading.instant


class LastmodJudge:
    """Judges the lastmods of one file, column by column.

    `now` is the run's start in POSIX seconds. Counted over all columns: `pages` judged, `absent`, `unreadable`,
    `in_future` (more than 24 hours ahead), `zone_missing`; `newest` is the (text, instant) of the latest lastmod that
    is not in the future, None before there is one.
    """

    def __init__(self, now: float) -> None:
        self.pages = 0
        self.absent = 0
        self.unreadable = 0
        self.in_future = 0
        self.zone_missing = 0
        self.newest: tuple[str, float] | None = None
        self._limit = now + FUTURE
        self._memo: dict[str | None, tuple[float | None, int]] = {}
        self._first: float | None = None
        self._differ = False

    @property
    def all_equal(self) -> bool:
        """Whether every page (of at least two) has a lastmod and all of them name one instant."""
        return self.pages > 1 and not self._differ and not self.absent and not self.unreadable

    def judge(self, column: list[str | None]) -> list[float | None]:
        """Return the instants of a column of texts, None where one is absent or unreadable."""
        if not column:
            return []
        self.pages += len(column)
        distinct = set(column)
        instants = self._in_bulk(column) if len(distinct) * 4 > len(column) else None
        if instants is None:
            instants = self._by_memo(column, distinct)
        self._survey(column, instants)
        return instants

    def _in_bulk(self, column: list[str | None]) -> list[float | None] | None:
        """Read a column whose texts all have one of the ordinary shapes, the same; None for any other column."""
        gaps = None in column
        texts = [text for text in column if text is not None] if gaps else cast("list[str]", column)
        shape = texts[0].translate(_LEVEL) if texts else ""
        missing = _SHAPES.get(shape)
        if missing is None:
            return None
        joined = ",".join(texts)
        if joined.translate(_LEVEL) != ",".join([shape] * len(texts)) or not _in_range(joined, shape, texts):
            return None
        if missing:
            texts = [text + missing for text in texts]
        try:
            instants: list[float | None] = list(map(datetime.timestamp, map(datetime.fromisoformat, texts)))
        except (ValueError, OverflowError):
            return None
        if missing == "+00:00":
            self.zone_missing += len(texts)
        if gaps:
            self.absent += len(column) - len(texts)
            following = iter(instants)
            return [None if text is None else next(following) for text in column]
        return instants

    def _by_memo(self, column: list[str | None], distinct: set[str | None]) -> list[float | None]:
        """Read each distinct text once."""
        memo = self._memo
        if len(memo) + len(distinct) > _MEMO:
            memo.clear()
        for text in distinct.difference(memo):
            memo[text] = _read(text)
        if any(memo[text][1] for text in distinct):
            ways = Counter(memo[text][1] for text in column)
            self.zone_missing += ways[_ZONE_ASSUMED]
            self.unreadable += ways[_UNREADABLE]
            self.absent += ways[_ABSENT]
        return [memo[text][0] for text in column]

    def _survey(self, column: list[str | None], instants: list[float | None]) -> None:
        """Note the newest lastmod, those in the future, and whether all are the same."""
        known = [instant for instant in instants if instant is not None] if None in instants else instants
        values = cast("list[float]", known)
        if not values:
            return
        if self._first is None:
            self._first = values[0]
        newest = max(values)
        if not self._differ:
            self._differ = newest != self._first or min(values) != self._first
        if newest > self._limit:
            past = [instant for instant in values if instant <= self._limit]
            self.in_future += len(values) - len(past)
            if not past:
                return
            newest = max(past)
        if self.newest is None or newest > self.newest[1]:
            self.newest = (column[instants.index(newest)] or "", newest)


def _in_range(joined: str, shape: str, texts: list[str]) -> bool:
    """Tell whether hours and offsets are within what a clock shows; Python's reader lets some others pass."""
    if "T24" in joined or " 24" in joined:
        return False
    if shape[-6:] != "-00:00" or joined.count("+00:00") == len(texts):
        return True
    return all(zone[1:] < "24" and zone[4:] < "60" for zone in {text[-6:] for text in texts})


def _read(text: str | None) -> tuple[float | None, int]:
    """Read one text, the short way where it has an ordinary shape; the same as `_parse` does."""
    shape = (text or "").translate(_LEVEL)
    missing = _SHAPES.get(shape)
    if text is None or missing is None or not _in_range(text, shape, [text]):
        return _parse(text)
    try:
        instant = datetime.fromisoformat(text + missing).timestamp()
    except (ValueError, OverflowError):
        return _parse(text)
    return instant, _ZONE_ASSUMED if missing == "+00:00" else _READ


def _parse(text: str | None) -> tuple[float | None, int]:
    text = trim(text or "")
    if not text:
        return None, _ABSENT
    if len(text) > _LONGEST:
        return None, _UNREADABLE
    match = _W3C.fullmatch(text)
    if match is not None:
        instant = _instant(match, int(match["year"]), int(match["month"] or 1), _offset(match["zone"]))
        assumed = match["hour"] is not None and match["zone"] is None
    else:
        match = _RFC822.fullmatch(text)
        if match is None:
            return None, _UNREADABLE
        instant = _rfc822(match)
        assumed = match["zone"] is None and match["name"] is None
    if instant is None:
        return None, _UNREADABLE
    return instant, _ZONE_ASSUMED if assumed else _READ


def _rfc822(match: re.Match[str]) -> float | None:
    year = int(match["year"])
    if len(match["year"]) == 2:
        # RFC 2822 4.3 settles what the two digits of RFC 822 mean.
        year += 2000 if year < 50 else 1900
    month = _MONTHS.index(match["month"].lower()) + 1
    offset = 3600 * _HOURS.get((match["name"] or "").lower(), 0) if match["name"] else _offset(match["zone"])
    instant = _instant(match, year, month, offset)
    if instant is not None and match["weekday"]:
        named = _WEEKDAYS.index(match["weekday"].lower())
        if date(year, month, int(match["day"])).weekday() != named:
            return None
    return instant


def _instant(match: re.Match[str], year: int, month: int, offset: int | None) -> float | None:
    """Put an instant together; None where there is no such day, hour or offset."""
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    if offset is None or hour > 23 or minute > 59 or second > 59:
        return None
    try:
        days = date(year, month, int(match["day"] or 1)).toordinal() - _EPOCH_DAY
    except ValueError:
        return None
    return days * 86_400 + hour * 3_600 + minute * 60 + second - offset + float(match["fraction"] or 0)


def _offset(zone: str | None) -> int | None:
    """Return a zone's seconds east of UTC, none being UTC; None for one that cannot be."""
    if zone is None or zone[0] not in "+-":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:]) if len(zone) > 3 else 0
    if hours > 23 or minutes > 59:
        return None
    return (hours * 3_600 + minutes * 60) * (-1 if zone[0] == "-" else 1)
