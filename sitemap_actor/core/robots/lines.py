"""A robots.txt body as lines of text.

A byte order mark decides between UTF-8, UTF-16 and UTF-32; without one the text is UTF-8. Bytes that are no UTF-8 harm
nothing but themselves: they are carried along as lone surrogates, so that a path in some older encoding still matches
the URL that is escaped byte by byte. Only CR and LF end a line (RFC 9309, 2.2); the other characters that Unicode, and
Protego, take for line breaks become spaces, or a rule could hide in a comment.
"""

import codecs
import re

from sitemap_actor.core.reasons import SkipReason

MOST_BYTES = 512_000  # 500 KiB, the size that RFC 9309 2.5 asks to be read at least

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NO_LINE_ENDS = str.maketrans(dict.fromkeys("\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))
_line_end = re.compile(r"\r\n|\r|\n")


class Unreadable(ValueError):
    """The body is no text, so it says nothing, least of all that everything is allowed."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.reason = SkipReason.ROBOTS_TXT_SERVER_ERROR
        self.detail = detail


def read_lines(body: bytes) -> list[str]:
    """Return the lines of a robots.txt, without their ends and comments; only the first 500 KiB, to a line's end.

    Raises Unreadable where the text holds NULs: a UTF-16 file without a mark, or no text at all.
    """
    text = _decoded(body[:MOST_BYTES])
    if "\0" in text:
        raise Unreadable("NUL bytes in the text")
    if len(body) >= MOST_BYTES:  # half a rule is another rule
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    return [line.partition("#")[0] for line in _line_end.split(text.translate(_NO_LINE_ENDS))]


def _decoded(body: bytes) -> str:
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            errors = "surrogateescape" if encoding == "utf-8" else "replace"
            return body[len(mark) :].decode(encoding, errors)
    return body.decode("utf-8", "surrogateescape")
