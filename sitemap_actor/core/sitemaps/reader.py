"""SitemapReader: the bytes of one file in, batches of entries and one outcome out.

It decides by the bytes what the file is (`sniff`), has it read (`xml`, `text`), and settles how it ended. Bytes come
unpacked already; nothing here fetches, guesses at a login page, or knows robots.txt.
"""

from collections import Counter
from collections.abc import Iterator
from typing import IO, Literal

from sitemap_actor.core.reasons import Fault, FileKind, SkipReason
from sitemap_actor.core.sitemaps.entries import PROTOCOL_ENTRIES, Collector, Entries, Outcome
from sitemap_actor.core.sitemaps.sniff import HEAD, Shape, Sniffed, Transcoder, skip_blank, sniff, wide_codec
from sitemap_actor.core.sitemaps.text import TextReader
from sitemap_actor.core.sitemaps.xml import REGION, XmlReader

_TYPES_OF_ANYTHING = ("gzip", "octet-stream")
_BREATH = 1_048_576  # bytes without an entry after which the caller is given its turn


class SitemapReader:
    """Reads one file.

    `content_type` is the response's header (or None), `extensions` names the extension fields wanted (`alternates`,
    `images`, `videos`, `news`). Either `feed` the bytes and `close`, or let `read` do both. `outcome` is there
    afterwards. `fast` is for comparing the two ways of reading XML.
    """

    def __init__(
        self,
        *,
        content_type: str | None = None,
        url: str = "",
        extensions: frozenset[str] = frozenset(),
        fast: bool = True,
    ) -> None:
        self.url = url
        self.outcome = Outcome("failed", SkipReason.EMPTY)
        self._content_type = content_type
        self._extensions = extensions
        self._fast = fast
        self._text_mode: Literal["hold", "count", "emit"] = "hold"
        self._sink = Collector(extras=bool(extensions))
        self._outer: Transcoder | None = None
        self._inner = Transcoder(None)
        self._first = b""
        self._head: list[bytes] = []
        self._head_size = 0
        self._lines = 0
        self._sniffed: Sniffed | None = None
        self._body: XmlReader | TextReader | None = None

    def feed(self, chunk: bytes) -> list[Entries]:
        """Take the next bytes; return the batches that are full. (A text sitemap gives its entries at the end.)"""
        self._push(chunk, last=False)
        return self._take(last=False)

    def close(self, *, cut: SkipReason | None = None, detail: str | None = None) -> list[Entries]:
        """Say that the bytes have ended, and return the rest.

        `cut` says why they ended early (a body shorter than promised, a damaged gzip, a time-out), `detail` in words:
        the file is then never whole, whatever it looks like.
        """
        self._push(b"", last=True)
        body = self._body
        if isinstance(body, XmlReader):
            body.close()
        elif isinstance(body, TextReader):
            body.close(cut=cut is not None)
            if not body.mostly_urls:
                self._sink.clear()
        rest = self._take(last=True)
        self.outcome = self._conclude(cut, detail)
        if isinstance(body, XmlReader):
            body.release()
        return [] if self.outcome.status == "failed" else rest

    def read(self, file: IO[bytes], *, cut: SkipReason | None = None, detail: str | None = None) -> Iterator[Entries]:
        """Read a seekable file from where it stands, in batches of at most 1,000 entries; `cut` as for `close`.

        A text file is read twice: first to see whether it is a sitemap at all, so that nothing of it is held. An
        empty batch comes now and then where a long stretch has no entries, so that the caller can do other things.
        """
        start = file.tell()
        self._text_mode = "count"
        yield from self._read_once(file, cut, detail)
        if isinstance(self._body, TextReader) and self.outcome.status != "failed":
            file.seek(start)
            again = SitemapReader(content_type=self._content_type, url=self.url, extensions=self._extensions)
            again._text_mode = "emit"
            yield from again._read_once(file, cut, detail)
            self.outcome = again.outcome

    def _read_once(self, file: IO[bytes], cut: SkipReason | None, detail: str | None) -> Iterator[Entries]:
        silent = 0
        while not self._settled() and (chunk := file.read(REGION)):
            batches = self.feed(chunk)
            yield from batches
            silent = 0 if batches else silent + len(chunk)
            if silent > _BREATH:
                silent = 0
                yield Entries()
        yield from self.close(cut=cut, detail=detail)

    def _settled(self) -> bool:
        """Tell whether further bytes can change nothing."""
        if self._sniffed is None:
            return False
        return self._body is None or (isinstance(self._body, XmlReader) and self._body.done)

    def _take(self, *, last: bool) -> list[Entries]:
        if isinstance(self._body, TextReader) and self._text_mode == "hold" and not last:
            return []
        return self._sink.take(last=last)

    def _push(self, chunk: bytes, *, last: bool) -> None:
        if self._outer is None:
            self._first += chunk
            if len(self._first) < 4 and not last:
                return
            chunk, self._first = self._first, b""
            self._outer = Transcoder(wide_codec(chunk))
        data = self._outer.feed(chunk, last=last)
        if self._sniffed is None:
            data = self._gather(data, last=last)
        if self._body is not None:
            data = self._inner.feed(data, last=last)
            if data:
                self._body.feed(data)

    def _gather(self, data: bytes, *, last: bool) -> bytes:
        """Gather the head of the file until it tells what the file is; return what of it is content."""
        self._head.append(data)
        self._head_size += len(data)
        if self._head_size < HEAD and not last:
            return b""
        head = b"".join(self._head)
        blank = skip_blank(head)
        self._lines += head.count(b"\n", 0, blank)
        head = head[blank:]
        self._head, self._head_size = [head], len(head)
        if len(head) < HEAD and not last:
            return b""
        self._head = []
        wide = self._outer is not None and self._outer.codec is not None
        self._sniffed = found = sniff(head[:HEAD], self._content_type, wide=wide)
        if found.shape is Shape.XML:
            lines = self._lines + head.count(b"\n", 0, found.start)
            self._body = XmlReader(self._sink, self._extensions, lines=lines, fast=self._fast)
            self._inner = Transcoder(found.codec)
        elif found.shape is Shape.TEXT:
            self._body = TextReader(None if self._text_mode == "count" else self._sink)
        return head[found.start :]

    def _conclude(self, cut: SkipReason | None, detail: str | None) -> Outcome:
        body = self._body
        if body is None:
            return self._nothing(cut, detail)
        outcome = self._of_text(body, cut, detail) if isinstance(body, TextReader) else self._of_xml(body, cut, detail)
        if outcome.reason is None and cut is not None:
            outcome.status, outcome.reason, outcome.detail = "partial", cut, detail
        if outcome.status != "failed":
            self._note(outcome)
        return outcome

    def _nothing(self, cut: SkipReason | None, detail: str | None) -> Outcome:
        """Judge a file that holds nothing to read."""
        found = self._sniffed or Sniffed(Shape.EMPTY)
        if found.shape is Shape.EMPTY:
            return Outcome("failed", cut or SkipReason.EMPTY, detail if cut else "the file is empty")
        if found.shape is Shape.UNKNOWN_ENCODING:
            return Outcome("failed", SkipReason.UNSUPPORTED_ENCODING, found.detail)
        what = "HTML" if found.shape is Shape.HTML else "neither XML nor text"
        return Outcome("failed", SkipReason.UNSUPPORTED_FORMAT, what)

    def _of_text(self, body: TextReader, cut: SkipReason | None, detail: str | None) -> Outcome:
        if not body.urls and not body.others:
            return Outcome("failed", cut or SkipReason.EMPTY, detail if cut else "the file is empty")
        if not body.mostly_urls:
            what = f"text of which {body.urls} of {body.urls + body.others} lines are URLs"
            return Outcome("failed", SkipReason.UNSUPPORTED_FORMAT, what)
        outcome = Outcome("ok", kind=FileKind.TEXT, entries=body.urls)
        if self._outer is not None and self._outer.broken:
            outcome.status, outcome.reason = "partial", SkipReason.MALFORMED
            outcome.detail = f"bytes that are not {self._outer.codec}"
        if body.others:
            outcome.faults[Fault.IGNORED_LINES] = body.others
        return outcome

    def _of_xml(self, body: XmlReader, cut: SkipReason | None, detail: str | None) -> Outcome:
        if body.refused is not None:
            return Outcome("failed", body.refused.reason, body.refused.detail)
        outcome = Outcome("ok", kind=body.kind, rolling=body.rolling, faults=body.faults)
        outcome.entries, outcome.children = self._sink.entries, self._sink.children
        broken = next((each.codec for each in (self._inner, self._outer) if each is not None and each.broken), None)
        if body.error is not None:
            outcome.status = "partial" if body.kind is not None else "failed"
            outcome.reason, outcome.detail = SkipReason.MALFORMED, body.error
            if body.at_end and cut is not None:
                outcome.reason, outcome.detail = cut, detail
            elif body.at_end and broken:
                outcome.detail = f"bytes that are not {broken}, after which: {body.error}"
        return outcome

    def _note(self, outcome: Outcome) -> None:
        """Add the faults that are not the body's to see."""
        if self._sniffed is not None:
            outcome.faults += self._sniffed.faults
        outcome.faults += self._sink.faults
        if outcome.entries + outcome.children > PROTOCOL_ENTRIES:
            outcome.faults[Fault.OVER_50000_ENTRIES] = 1
        if not _fits(self._content_type, outcome.kind):
            outcome.faults[Fault.WRONG_CONTENT_TYPE] = 1


def _fits(content_type: str | None, kind: FileKind | None) -> bool:
    """Tell whether a Content-Type suits the kind of file; none at all, and those of any packed file, do."""
    media = (content_type or "").split(";", 1)[0].strip().lower()
    if not media or any(part in media for part in _TYPES_OF_ANYTHING):
        return True
    return media == "text/plain" if kind is FileKind.TEXT else "xml" in media


def outcome_of_unreadable(unsupported: str) -> Outcome:
    """Return the outcome of a body that could not be unpacked, `unsupported` naming what it is packed as."""
    archive = unsupported in {"zip", "tar", "7z", "rar", "bzip2", "xz", "lz4"} or unsupported.startswith("gzip")
    reason = SkipReason.UNSUPPORTED_FORMAT if archive else SkipReason.UNSUPPORTED_ENCODING
    return Outcome("failed", reason, f"packed as {unsupported}", faults=Counter())
