"""The fast reading of ordinary entries: one compiled pattern over a region of text instead of a parser's events.

The pattern's language is a strict subset of what XML allows between two children of the root: whole `<url>` entries
in the ordinary spelling, their fields in any order, each at most once, text without controls and with no other
reference than the five predefined ones; and elements with a prefix, which are taken out first where nobody asked for
them. So a match invents nothing that the exact reading would not have read, and where the text is anything else the
exact reading takes over from there. Repetitions are possessive but for those that hold groups (Python 3.11 and 3.12
have been known to mix up groups there); what follows those cannot match any earlier, so time is linear in the text
all the same.
"""

import re
from functools import cache
from typing import NamedTuple

from sitemap_actor.core.sitemaps.entries import FIELD_LIMIT, trim

_WS = r"[ \t\r\n]*+"
_GAP = r"[ \t\r\n\0]*+"
_REFERENCE = r"&(?:amp|lt|gt|quot|apos);"
# Neither markup, nor white space, nor what XML forbids; a `]` is looked at twice because `]]>` may not stand in text.
_CHAR = r"[^<&\]\x00-\x20\x7f\ufffe\uffff]"
_CORE = rf"{_CHAR}++(?:(?:{_REFERENCE}|\](?!\]>)|\x20++(?=[^ \t\r\n<])){_CHAR}*+)*+"
_VALUE = rf"{_WS}({_CORE}|){_WS}"
_REST = r"((?s:.++))"


def _field(name: str) -> str:
    return rf"(?:<{name}>{_VALUE}</{name}>{_GAP})?"


def _once(name: str, group: int) -> str:
    return rf"(?({group})(?!))<{name}>{_VALUE}</{name}>{_GAP}"


# Sites keep to the order of the protocol's own example, nearly all of them; any other order costs a quarter more.
_ORDERED = re.compile(
    rf"{_GAP}<url>{_GAP}<loc>{_WS}({_CORE}){_WS}</loc>{_GAP}"
    rf"{_field('lastmod')}{_field('changefreq')}{_field('priority')}</url>|{_REST}"
)
_UNORDERED = re.compile(
    rf"{_GAP}<url>{_GAP}(?:{_once('loc', 1)}|{_once('lastmod', 2)}|{_once('changefreq', 3)}|{_once('priority', 4)})*"
    rf"</url>|{_REST}"
)

_NAME = r"[A-Za-z_][A-Za-z0-9_.-]*+"
# What XML forbids everywhere.
_BAD = r"\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff"
_DATA = rf"[^<&\]{_BAD}]*+"
_CDATA = rf"<!\[CDATA\[[^\]{_BAD}]*+(?:\](?!\]>)[^\]{_BAD}]*+)*+\]\]>"
_TEXT = rf"{_DATA}(?:(?:{_REFERENCE}|\](?!\]>)|{_CDATA}){_DATA})*+"
_INSIDE = rf"[^\"<&{_BAD}]*+"
_QUOTED = rf"\"{_INSIDE}(?:{_REFERENCE}{_INSIDE})*+\""


def _attributes(level: int) -> str:
    """Up to three attributes with different names, none of them a namespace declaration."""
    pattern = ""
    for number in (3, 2, 1):
        others = "".join(rf"(?!(?P=a{level}{before})=)" for before in range(1, number))
        inner = rf"(?P<a{level}{number}>{_NAME}(?::{_NAME})?+)={_QUOTED}{pattern}"
        pattern = rf"(?:[ \t\r\n]++(?!xmlns){others}{inner})?"
    return pattern + _WS


def _element(level: int) -> str:
    """An element with a prefix, and elements with a prefix inside it, three levels in all."""
    inner = rf"(?:{_element(level + 1)}{_TEXT})*" if level < 3 else ""
    return rf"<(?P<n{level}>{_NAME}:{_NAME}){_attributes(level)}(?:/>|>{_TEXT}{inner}</(?P=n{level})>)"


@cache
def _prefixed() -> re.Pattern[str]:
    """Compiled where a file has such elements: it takes 10 ms, a sixth of a second on the smallest machine."""
    return re.compile(_element(1))


class Columns(NamedTuple):
    """What the pattern read: four columns equally long, and how many characters of the text they came from."""

    locs: list[str]
    lastmods: list[str | None]
    changefreqs: list[str | None]
    priorities: list[str | None]
    end: int


class FastReader:
    """Reads regions of entries. `prefixed` says that elements with a prefix may be passed over unread."""

    def __init__(self, *, prefixed: bool) -> None:
        self._prefixed = prefixed
        self._pattern = _ORDERED

    def read(self, text: str) -> Columns | None:
        """Read entries from the start of the text as far as they are ordinary; None where not even the first one is.

        The text must end where an entry ends. Columns hold the entries' values as the exact reading gives them.
        """
        if "\0" in text:  # it stands for what was taken out
            return None
        bare = text
        if self._prefixed and ":" in text and _PREFIX_MARK.search(text):
            bare = _prefixed().sub("\0", text)
        rows = self._pattern.findall(bare)
        if rows[0][4]:
            self._pattern = _UNORDERED if self._pattern is _ORDERED else _ORDERED
            rows = self._pattern.findall(bare)
            if rows[0][4]:
                return None
        end = len(text)
        rest = rows[-1][4]
        if rest:
            rows.pop()
            # Every entry has exactly one end tag, also where elements were taken out of it.
            end = len(text) - len(rest) if bare is text else _after(text, len(rows))
        locs, lastmods, changefreqs, priorities, _ = zip(*rows, strict=True)
        columns = (locs, lastmods, changefreqs, priorities)
        if "" in locs or not (bare.isascii() or all(map(_trimmed, columns))):
            return None
        if len(bare) > FIELD_LIMIT and any(len(max(column, key=len)) > FIELD_LIMIT for column in columns):
            return None
        return Columns(
            _decoded(locs, bare),
            _optional(lastmods, bare),
            _optional(changefreqs, bare),
            _optional(priorities, bare),
            end,
        )


_PREFIX_MARK = re.compile(rf"<{_NAME}:")


def _trimmed(column: tuple[str, ...]) -> bool:
    """Tell whether no value has invisible characters at its ends, which only the exact reading strips."""
    return all(value.isascii() or trim(value) == value for value in column)


def _after(text: str, entries: int) -> int:
    """Return where the given number of entries ends."""
    end = 0
    for _ in range(entries):
        end = text.index("</url>", end) + 6
    return end


def _decoded(column: tuple[str, ...], text: str) -> list[str]:
    if "&" not in text:
        return list(column)
    return [unescape(value) if "&" in value else value for value in column]


def _optional(column: tuple[str, ...], text: str) -> list[str | None]:
    if "" in column:
        return [value or None for value in _decoded(column, text)]
    return list(_decoded(column, text))


def unescape(value: str) -> str:
    """Put characters for the five predefined references, once."""
    value = value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&apos;", "'")
    # The ampersand comes last, so that a reference it completes is not taken for one.
    return value.replace("&amp;", "&")
