"""What a sitemap file yields: columns of entries, and one verdict at the end.

Columns, because the per-URL path of the whole project works on lists; the texts are the sitemap's own, trimmed at both
ends and nothing else: never resolved, never judged here.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

from sitemap_actor.core.reasons import Fault, FileKind, SkipReason

BATCH = 1_000
"""The most entries in one batch."""

FIELD_LIMIT = 65_536
"""The longest text of one field that is held, in characters; a longer one is invalid."""

PROTOCOL_ENTRIES = 50_000
"""The most entries that sitemaps.org allows in one file."""

Extras = dict[str, list[dict[str, Any]]]
"""One entry's extension objects: `alternates`, `images`, `videos`, `news`, each a list as the sitemap gives them."""

# White space, controls, and what Unicode calls format characters or separators: nothing a reader of the page could see.
# Variation selectors are left alone, they belong to the emoji before them.
INVISIBLE = "".join(
    chr(code)
    for first, last in (
        (0x00, 0x20),
        (0x7F, 0xA0),
        (0xAD, 0xAD),
        (0x034F, 0x034F),
        (0x061C, 0x061C),
        (0x115F, 0x1160),
        (0x1680, 0x1680),
        (0x180E, 0x180E),
        (0x2000, 0x200F),
        (0x2028, 0x202F),
        (0x205F, 0x206F),
        (0x3000, 0x3000),
        (0x3164, 0x3164),
        (0xFEFF, 0xFEFF),
        (0xFFA0, 0xFFA0),
        (0xFFF9, 0xFFFB),
        (0xE0001, 0xE0001),
        (0xE0020, 0xE007F),
    )
    for code in range(first, last + 1)
)
"""What is stripped from both ends of every text."""

_PRIORITY = re.compile(r"\+?(?:0*1(?:\.0*)?|0+(?:\.[0-9]*)?|0*\.[0-9]+)")
_CHANGEFREQ = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never", None})
_PRIORITIES = frozenset({f"{tenth / 10:.{digits}f}" for tenth in range(11) for digits in (1, 2)} | {"0", "1", None})

Extra = Extras | None


@dataclass(slots=True)
class Entries:
    """Up to 1,000 entries in columns; the lists of pages are equally long, an absent value is None.

    `extras` is there only where extensions were asked for. `children` are (loc, lastmod) of `<sitemap>` entries.
    `invalid` are texts that stand in an entry's place but cannot be handed on as they are: a line that is not UTF-8
    (with replacement characters), a loc of more than 65,536 characters (cut there). They count as listed.
    """

    locs: list[str] = field(default_factory=list)
    lastmods: list[str | None] = field(default_factory=list)
    changefreqs: list[str | None] = field(default_factory=list)
    priorities: list[str | None] = field(default_factory=list)
    extras: list[Extra] | None = None
    children: list[tuple[str, str | None]] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Outcome:
    """How one file ended. `ok` is read whole; `partial` gave what stood before the error; `failed` gave nothing.

    `entries` counts pages listed (the invalid ones included), `children` the `<sitemap>` entries; `rolling` says that
    old entries leave such a file by design (news in use, RSS, Atom).
    """

    status: Literal["ok", "partial", "failed"]
    reason: SkipReason | None = None
    detail: str | None = None
    kind: FileKind | None = None
    rolling: bool = False
    faults: Counter[Fault] = field(default_factory=Counter)
    entries: int = 0
    children: int = 0


class BrokenFileError(Exception):
    """Raised inside the reader where a file ends being readable: the entries before it count. The text says why."""


class RefusedFileError(Exception):
    """Raised inside the reader where a file is not to be read at all, for `reason`."""

    def __init__(self, reason: SkipReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class Collector:
    """Gathers entries into batches and counts the faults that can be seen column by column."""

    def __init__(self, *, extras: bool = False) -> None:
        self.entries = 0
        self.children = 0
        self.faults: Counter[Fault] = Counter()
        self._extras = extras
        self._ready: list[Entries] = []
        self._open = self._fresh()
        self._weight = 0

    def add(self, loc: str, lastmod: str | None, changefreq: str | None, priority: str | None, extra: Extra) -> None:
        """Add one page."""
        batch = self._open
        batch.locs.append(loc)
        batch.lastmods.append(lastmod)
        batch.changefreqs.append(changefreq)
        batch.priorities.append(priority)
        if batch.extras is not None:
            batch.extras.append(extra)
        self._count(1)

    def extend(
        self, locs: list[str], lastmods: list[str | None], changefreqs: list[str | None], priorities: list[str | None]
    ) -> None:
        """Add many pages without extensions; the lists are equally long."""
        start = 0
        while start < len(locs):
            batch = self._open
            end = start + max(1, BATCH - self._weight)
            added = locs[start:end]
            batch.locs += added
            batch.lastmods += lastmods[start:end]
            batch.changefreqs += changefreqs[start:end]
            batch.priorities += priorities[start:end]
            if batch.extras is not None:
                batch.extras += [None] * len(added)
            self._count(len(added))
            start = end

    def add_child(self, loc: str, lastmod: str | None) -> None:
        """Add one `<sitemap>` entry."""
        self._open.children.append((loc, lastmod))
        self.children += 1
        self._weigh(1)

    def add_invalid(self, text: str) -> None:
        """Add the text of an entry that cannot be handed on as a URL."""
        self._open.invalid.append(text)
        # Texts may be as long as a field can be: a thousand of them would not be flat.
        self.entries += 1
        self._weigh(1 + len(text) // 1_024)

    def weigh_extras(self, characters: int) -> None:
        """Close the batch early where its extension objects get heavy."""
        self._weigh(characters // 4_096)

    def take(self, *, last: bool = False) -> list[Entries]:
        """Return the batches that are full, or everything at the last."""
        if last and self._weight:
            self._close_batch()
        ready, self._ready = self._ready, []
        return ready

    def clear(self) -> None:
        """Forget what was gathered but not taken: the file turned out to be none of ours."""
        self.entries = self.children = 0
        self._ready, self._open, self._weight = [], self._fresh(), 0

    def _count(self, entries: int) -> None:
        self.entries += entries
        self._weigh(entries)

    def _weigh(self, weight: int) -> None:
        self._weight += weight
        if self._weight >= BATCH:
            self._close_batch()

    def _close_batch(self) -> None:
        batch = self._open
        self._judge(batch.priorities, _PRIORITIES, _PRIORITY, Fault.BAD_PRIORITY)
        self._judge(batch.changefreqs, _CHANGEFREQ, None, Fault.BAD_CHANGEFREQ)
        self._ready.append(batch)
        self._open, self._weight = self._fresh(), 0

    def _judge(
        self, column: list[str | None], known: frozenset[str | None], legal: re.Pattern[str] | None, fault: Fault
    ) -> None:
        odd = set(column) - known
        bad = {text for text in odd if legal is None or not legal.fullmatch(text or "")}
        if bad:
            self.faults[fault] += sum(text in bad for text in column)

    def _fresh(self) -> Entries:
        return Entries(extras=[] if self._extras else None)


def trim(text: str) -> str:
    """Strip white space and invisible characters at both ends."""
    text = text.strip()
    # The long way is six times as dear, and text of other scripts or with odd ends is the exception.
    if text and not (" " < text[0] < "\x7f" and " " < text[-1] < "\x7f"):
        return text.strip(INVISIBLE)
    return text
