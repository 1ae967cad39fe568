"""Text sitemaps: one absolute http or https URL per line (sitemaps.org, "Text file").

UTF-8, a byte order mark allowed; lines end at CR, LF or CRLF and nowhere else. Other lines are counted, not read; where
they are more than half of those that are not blank, the file is no sitemap. A line that is not UTF-8 is invalid. A file
that was cut does not give its last line unless that line was ended: it may be half a URL.
"""

import re

from sitemap_actor.core.sitemaps.entries import FIELD_LIMIT, Collector, trim

_URL = re.compile(r"https?://", re.IGNORECASE)
_URL_BYTES = re.compile(rb"(?:\xef\xbb\xbf|[\x00-\x20])*+https?://", re.IGNORECASE)
_LINE_LIMIT = 4 * FIELD_LIMIT + 4  # bytes: no character of UTF-8 takes more than four


class TextReader:
    """Reads one text sitemap into `sink`, or with None only counts.

    `urls` counts lines that are URLs (the invalid ones included), `others` the lines that are neither that nor blank.
    """

    def __init__(self, sink: Collector | None) -> None:
        self.urls = 0
        self.others = 0
        self._sink = sink
        self._open = b""
        self._overlong = False
        self._after_cr = False

    @property
    def mostly_urls(self) -> bool:
        """Whether at least half of the lines that are not blank are URLs."""
        return self.urls >= self.others

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r") if data else self._after_cr
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if end:
            if self._overlong:
                first = re.search(rb"[\r\n]", data)
                skipped = first.end() if first else end
                self._overlong = False
            else:
                skipped = 0
            self._lines(self._open + data[skipped:end])
            self._open = b""
        if self._overlong:
            return
        self._open += data[end:]
        if len(self._open) > _LINE_LIMIT:
            self._one(self._open)
            self._open, self._overlong = b"", True

    def close(self, *, cut: bool) -> None:
        """Say that the file has ended; `cut` where it was meant to go on."""
        if self._open and not cut:
            self._lines(self._open)
        self._open = b""

    def _lines(self, data: bytes) -> None:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            for line in re.split(rb"[\r\n]", data):
                self._one(line)
            return
        lines = text.replace("\r", "\n").split("\n")
        if max(map(len, lines)) > FIELD_LIMIT:
            for each in lines:
                self._one(each.encode())
            return
        self._many([trimmed for line in lines if (trimmed := trim(line))])

    def _many(self, lines: list[str]) -> None:
        found = [line for line in lines if _URL.match(line)]
        self.urls += len(found)
        self.others += len(lines) - len(found)
        if self._sink is not None:
            none: list[str | None] = [None] * len(found)
            self._sink.extend(found, none, none, none)

    def _one(self, line: bytes) -> None:
        """Read a line that may be no UTF-8, or too long."""
        line = line[:_LINE_LIMIT]
        try:
            text = trim(line.decode())
        except UnicodeDecodeError:
            if not _URL_BYTES.match(line):
                self.others += 1
                return
            text = trim(line.decode(errors="replace"))
        else:
            if len(text) <= FIELD_LIMIT:
                self._many([text] if text else [])
                return
        if not _URL.match(text):
            self.others += 1
            return
        self.urls += 1
        if self._sink is not None:
            self._sink.add_invalid(text[:FIELD_LIMIT])
