"""What a file is, by its first bytes: which encoding, XML or text, and where it really begins.

Order of evidence for the encoding (spec 6, faults X05): a byte order mark, the byte pattern of the first characters,
what the XML declaration says, the HTTP charset; then UTF-8. Evidence that the bytes contradict is ignored and noted.

Before an XML declaration up to 64 KiB of comments, white space, or a server's warning are skipped and noted; `<html`
among them means a web page. Only there: junk before a file without declaration is not guessed away.
"""

import codecs
import re
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum, auto

from sitemap_actor.core.reasons import Fault

JUNK_LIMIT = 65_536
"""The most bytes that are skipped before an XML declaration."""

HEAD = JUNK_LIMIT + 2_048
"""How many bytes (as UTF-8) are looked at, or all of a shorter file."""

_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE_PATTERNS = (
    (re.compile(rb"[<\t\n\r ]\0\0\0"), "utf-32-le"),
    (re.compile(rb"\0\0\0[<\t\n\r ]"), "utf-32-be"),
    (re.compile(rb"[<\t\n\r ]\0[^\0]\0"), "utf-16-le"),
    (re.compile(rb"\0[<\t\n\r ]\0[^\0]"), "utf-16-be"),
)
_BLANK = re.compile(rb"(?:\xef\xbb\xbf|[ \t\r\n])*+")
_DECLARATION = re.compile(rb"<\?xml[ \t\r\n]")
_ENCODING = re.compile(rb"<\?xml[ \t\r\n][^>]{0,500}?[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*[\"']([^\"'<>]{0,80})[\"']")
_COMMENTS = re.compile(rb"(?:<!--(?>.*?-->)[ \t\r\n]*+)++", re.DOTALL)
_HTML = re.compile(rb"<!doctype[ \t\r\n]+html|<html[ \t\r\n/>]", re.IGNORECASE)
_ROOT = re.compile(
    rb"<(?:[A-Za-z_][\w.-]*+:)?+(?:urlset|sitemapindex|url|sitemap|rss|rdf|feed)[ \t\r\n/>]", re.IGNORECASE
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([^\"';\s]+)", re.IGNORECASE)

# Codecs of Python that are no character encodings of files, or that could make text out of plain ASCII.
_NOT_FOR_FILES = frozenset(
    {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf_7", "mbcs", "oem", "palmos"}
)


class Shape(Enum):
    """What a file is by its first bytes."""

    XML = auto()
    TEXT = auto()
    HTML = auto()
    BINARY = auto()
    EMPTY = auto()
    UNKNOWN_ENCODING = auto()


@dataclass(slots=True)
class Sniffed:
    """What was found: where the content starts in the head, in which codec it is (None: UTF-8), what was noticed."""

    shape: Shape
    start: int = 0
    codec: str | None = None
    detail: str | None = None
    faults: Counter[Fault] = field(default_factory=Counter)


def wide_codec(first: bytes) -> str | None:
    """Return the codec of a file whose characters take two or four bytes, judged by its first four; None for others."""
    for mark, codec in _WIDE_MARKS:
        if first.startswith(mark):
            return codec
    for pattern, codec in _WIDE_PATTERNS:
        if pattern.match(first):
            return codec
    return None


def skip_blank(head: bytes) -> int:
    """Return how many bytes of byte order marks and white space stand in front."""
    match = _BLANK.match(head)
    return match.end() if match else 0


def sniff(head: bytes, content_type: str | None, *, wide: bool) -> Sniffed:
    """Tell what a file is.

    `head` is its beginning without blank bytes in front, `HEAD` bytes of it or all there is; `wide` says that it was
    UTF-16 or UTF-32 and is UTF-8 by now.
    """
    if not head:
        return Sniffed(Shape.EMPTY)
    found = _shape(head)
    if wide:
        # Read by its mark, but the protocol asks for UTF-8.
        found.faults[Fault.ENCODING_MISMATCH] = 1
    elif found.shape is Shape.XML:
        _settle_encoding(found, head[found.start :], content_type)
    return found


def _shape(head: bytes) -> Sniffed:
    if _DECLARATION.match(head):
        return Sniffed(Shape.XML)
    comments = _COMMENTS.match(head)
    begin = comments.end() if comments else 0
    if _HTML.match(head, begin):
        return Sniffed(Shape.HTML)
    if head.startswith((b"<!DOCTYPE", b"<?"), begin) and not _DECLARATION.match(head, begin):
        return Sniffed(Shape.XML)
    if _ROOT.match(head, begin):
        return Sniffed(Shape.XML)
    declaration = _DECLARATION.search(head, 0, JUNK_LIMIT + 6)
    page = _HTML.search(head)
    if declaration and not (page and page.start() < declaration.start()):
        return Sniffed(Shape.XML, declaration.start(), faults=Counter({Fault.LEADING_JUNK: 1}))
    if page:
        return Sniffed(Shape.HTML)
    if head.startswith(b"<"):
        return Sniffed(Shape.XML)
    if b"\0" in head:
        return Sniffed(Shape.BINARY)
    return Sniffed(Shape.TEXT)


def _settle_encoding(found: Sniffed, head: bytes, content_type: str | None) -> None:
    """Settle the encoding of an XML file whose characters are ASCII where they are ASCII."""
    declared = _ENCODING.match(head)
    charset = _CHARSET.search(content_type or "")
    named = declared[1].decode("ascii", "replace") if declared else charset[1] if charset else ""
    if not named:
        return
    codec, fits = _lookup(named)
    if declared and charset and _lookup(charset[1])[0] not in {codec, None}:
        found.faults[Fault.ENCODING_MISMATCH] = 1
    if not fits:
        # The declaration says UTF-16 or the like, the bytes that say so are ASCII.
        found.faults[Fault.ENCODING_MISMATCH] = 1
    elif codec is None:
        if declared:
            found.shape, found.detail = Shape.UNKNOWN_ENCODING, f"unknown encoding {named!r}"
        else:
            found.faults[Fault.ENCODING_MISMATCH] = 1
    elif codec not in {"utf-8", "ascii", "utf-8-sig"}:
        if not declared and _is_utf8(head):
            # A server's default charset, put on a file that is UTF-8 as XML wants it.
            found.faults[Fault.ENCODING_MISMATCH] = 1
        else:
            found.codec = codec


def _lookup(name: str) -> tuple[str | None, bool]:
    """Return Python's name of the codec (None: unknown), and whether ASCII bytes are ASCII in it."""
    if name.lower().replace("_", "-") in {"ucs-2", "ucs-4", "iso-10646-ucs-2", "iso-10646-ucs-4", "utf-16", "utf-32"}:
        return "utf-16", False
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:-]*", name):
        return None, True
    try:
        info = codecs.lookup(name)
        if info.name.replace("-", "_") in _NOT_FOR_FILES:
            return None, True
        plain = b"<?xml version='1.0' encoding=\"\"?>"
        return info.name, plain.decode(name) == plain.decode("ascii")
    except (LookupError, ValueError, UnicodeError, TypeError, AttributeError):
        # Among others: the codecs that turn bytes into bytes, which `decode` refuses.
        return None, True


def _is_utf8(head: bytes) -> bool:
    """Tell whether the head holds more than ASCII, and that as UTF-8."""
    if head.isascii():
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


class Transcoder:
    """Turns a file's bytes into UTF-8 as they come; `broken` says that they stopped being what the codec reads."""

    def __init__(self, codec: str | None) -> None:
        self.codec = codec
        self.broken = False
        self._decoder = codecs.getincrementaldecoder(codec)("strict") if codec else None

    def feed(self, data: bytes, *, last: bool = False) -> bytes:
        """Return the bytes as UTF-8; after the first ones that cannot be read, nothing more."""
        if self._decoder is None:
            return data
        if self.broken:
            return b""
        before = self._decoder.getstate()
        try:
            return self._decoder.decode(data, last).encode()
        except (UnicodeError, ValueError):
            self._decoder.setstate(before)
        return self._up_to_the_break(self._decoder, data)

    def _up_to_the_break(self, decoder: codecs.IncrementalDecoder, data: bytes) -> bytes:
        self.broken = True
        kept = bytearray()
        try:
            for position in range(len(data)):
                kept += decoder.decode(data[position : position + 1]).encode()
        except (UnicodeError, ValueError):
            return bytes(kept)
        return bytes(kept)
