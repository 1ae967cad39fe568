"""How REPORT.html writes things: addresses from anywhere made harmless to look at, numbers, sizes, times.

Jinja escapes what is markup; this module deals with what escaping leaves: characters that hide, reorder or pile up text
(UTS 36, section 2.10 of bidirectional spoofing and the like) are written out as `⟨U+202E⟩`, and long texts are cut.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

ADDRESS_CHARS = 240
SENTENCE_CHARS = 600
MAX_HREF_CHARS = 1_000
"""A longer address is printed but not linked: nobody would follow it, and it would be in the page twice."""

_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\U000e0000-\U000e0fff]"
)
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_PILED_UP = re.compile(f"([{_MARKS}]{{2}})[{_MARKS}]+")
_SPACE = re.compile(r"[\s\x00-\x1f]+")
_WEB = re.compile(r"https?://[^/?#@\s\\]+(?:[/?#].*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Address:
    """An address to print: `text` is harmless and short, `cut` says how many characters were left out, `href` links it."""

    text: str
    cut: int = 0
    href: str | None = None

    @property
    def bytes(self) -> int:
        """About how many bytes of the page it takes."""
        return 90 + in_page(self.text) + in_page(self.href or "")


class Room:
    """A part of the page's size, in bytes, that one of its lists may fill."""

    def __init__(self, size: float) -> None:
        self._left = size

    def takes(self, size: int) -> bool:
        """Whether an entry of `size` bytes still fits; if so, it is counted. Once one did not fit, none does."""
        self._left = self._left - size if self._left >= size else 0
        return self._left > 0


def in_page(*texts: str) -> int:
    """How many bytes of the page `texts` take, escaped (five characters for the longest escape)."""
    return sum(len(text.encode()) + 4 * sum(map(text.count, "&<>\"'")) for text in texts)


def visible(text: str) -> str:
    """`text` with every character that would hide, reorder or pile up text written out as `⟨U+XXXX⟩` or left out."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", _PILED_UP.sub(r"\1…", text))


def address(text: str, *, chars: int = ADDRESS_CHARS, link: bool = True) -> Address:
    """An address as the page prints it, at most `chars` characters of it; linked where it is a plain http(s) URL."""
    kept = visible(text[:chars])
    linked = link and len(text) <= MAX_HREF_CHARS and visible(text) == text and _WEB.fullmatch(text) is not None
    return Address(kept, max(0, len(text) - chars), text if linked else None)


def sentence(text: object, *, chars: int = SENTENCE_CHARS) -> str:
    """A message as the page prints it: one line, harmless, at most `chars` characters."""
    line = visible(_SPACE.sub(" ", str(text)[: chars + 1])).strip()
    return line if len(str(text)) <= chars else line[:chars] + "…"


def many(count: int, thing: str, things: str | None = None) -> str:
    """A count with its noun: `1 URL`, `2,000 URLs`."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def listing(parts: list[str]) -> str:
    """Several things in a row of words: `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


def capital(text: str) -> str:
    """`text` with its first letter in upper case; the file name robots.txt stays as it is."""
    return text if text.startswith("robots.txt") else text[:1].upper() + text[1:]


def size(count: int) -> str:
    """Bytes in the unit that reads best."""
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:,.0f} {unit}" if unit == "bytes" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:,.1f} GiB"


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def moment(instant: float) -> str:
    """POSIX seconds as `30 November 2026, 21:18 UTC`."""
    when = datetime.fromtimestamp(instant, UTC)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"
