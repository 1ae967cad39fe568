"""Unpacks a response body as it arrives: HTTP content codings first, then gzip by its magic, at most two layers deep.

Rules (RFC 9110 8.4, RFC 1952, spec 6): what a file is follows from its bytes, so a name or a header that says otherwise
is only noted. Both sides are held to one limit while reading, so that neither memory nor disk grows with a bomb. Output
that stood before the damage is kept, and the damage is told: a gzip without its right trailer is never whole. Archives
and codings that nobody asked for are named, never guessed at and never handed on as if they were text.
"""

import re
import zlib
from collections import Counter
from collections.abc import Iterator

from sitemap_actor.core.reasons import Fault

LIMIT = 52_428_800
"""Bytes allowed on either side, the limit itself included (sitemaps.org: 50 MB)."""

PIECE = 1_048_576
"""The longest piece handed out, in bytes."""

# Short input slices bound three things: what a broken slice costs to read again byte by byte, how much is copied for
# each of thousands of tiny gzip members, and how far one call can inflate.
_SLICE = 16_384
_HEAD = 512  # a tar archive shows its magic at byte 257
_MAGIC = b"\x1f\x8b"
_MAX_FILE_LAYERS = 2
_MAX_CODINGS = 2

_ARCHIVES = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "rar"),
    (b"\x04\x22\x4d\x18", "lz4"),
)
_LOOKS_LIKE_XML = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\x00\t\n\r ]{0,400}<[\x00A-Za-z?!]")


class Unpacker:
    """Takes the bytes of one response body and gives out what they hold.

    `content_encoding` is the header's value or None, `limit` the most bytes allowed on either side, and `name` the URL
    or its path, where the caller wants a `.gz` name compared with the bytes.
    """

    def __init__(self, content_encoding: str | None, limit: int = LIMIT, *, name: str = "") -> None:
        self.wire_bytes = 0
        self.unpacked_bytes = 0
        self.over_limit = False
        self.unsupported: str | None = None
        self.layers = 0
        self.faults: Counter[Fault] = Counter()
        self._limit = limit
        self._named_gz = name.split("?", 1)[0].split("#", 1)[0].lower().endswith(".gz") if name else None
        self._codings, self._unknown = _codings(content_encoding)
        self._expected = len(self._codings)
        self._levels: list[_Level] = [_Level()]
        self._closed = False

    @property
    def damaged(self) -> bool:
        """Whether a gzip layer was cut short, corrupt, or ended in a wrong checksum or length (final after `close`)."""
        return any(level.gunzip is not None and level.gunzip.damaged for level in self._levels)

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take the next bytes off the wire and return what they unpack to, in pieces of at most 1 MiB."""
        return list(self.pieces(chunk))

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        """Do as `feed` does, but one piece at a time: a single packed chunk may unpack to the whole limit."""
        if self.over_limit or self.unsupported or self._closed:
            return
        self.wire_bytes += len(chunk)
        if self.wire_bytes > self._limit:
            self._exceed()
            return
        yield from self._run(0, chunk, last=False)

    def close(self) -> list[bytes]:
        """Say that the body has ended, and return what was still held back."""
        if self.over_limit or self.unsupported or self._closed:
            return []
        rest = list(self._run(0, b"", last=True))
        self._closed = True
        excused = self._named_gz and self._expected  # the coding of the answer is the file's own gzip
        if self._named_gz is not None and self._named_gz != (self.layers > 0) and not excused:
            self.faults[Fault.GZIP_MISMATCH] = 1
        return [] if self.over_limit or self.unsupported else rest

    def _run(self, depth: int, data: bytes, *, last: bool) -> Iterator[bytes]:
        level = self._levels[depth]
        if not level.decided:
            level.head += data
            if len(level.head) < _HEAD and not last:
                return
            data, level.head = level.head, b""
            self._decide(depth, data)
        if self.unsupported:
            return
        if level.gunzip is None:
            yield from self._out(data)
            return
        for piece in level.gunzip.feed(data):
            level.size += len(piece)
            if level.size > self._limit:
                self._exceed()
            if self.over_limit or self.unsupported:
                return
            yield from self._run(depth + 1, piece, last=False)
        if last:
            level.gunzip.close()
            yield from self._run(depth + 1, b"", last=True)
        if level.gunzip.trailing:
            self.faults[Fault.TRAILING_BYTES] = 1

    def _out(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), PIECE):
            piece = data[start : start + PIECE]
            if self.unpacked_bytes + len(piece) > self._limit:
                self._exceed()
                return
            self.unpacked_bytes += len(piece)
            yield piece

    def _decide(self, depth: int, head: bytes) -> None:
        """Settle what this level is, from its first bytes."""
        level = self._levels[depth]
        level.decided = True
        packed = head.startswith(_MAGIC)
        if depth == 0 and self._unknown is not None:
            if not packed and not _LOOKS_LIKE_XML.match(head):
                self.unsupported = self._unknown
                return
            self.faults[Fault.GZIP_MISMATCH] = 1
        if self._codings:
            if packed:
                self._codings.pop()
                self._unwrap(level)
                return
            if head:
                self.faults[Fault.GZIP_MISMATCH] = 1
            self._codings.clear()
        if packed:
            self.layers += 1
            if self.layers > _MAX_FILE_LAYERS:
                self.unsupported = "gzip packed more than twice"
                return
            if self.layers > 1:
                self.faults[Fault.GZIP_MISMATCH] = 1
            self._unwrap(level)
            return
        self.unsupported = _archive(head)

    def _unwrap(self, level: "_Level") -> None:
        level.gunzip = _Gunzip()
        self._levels.append(_Level())

    def _exceed(self) -> None:
        self.over_limit = True
        self.faults[Fault.OVER_50_MB] = 1


class _Level:
    """One wrapping of the body: undecided until its first bytes are in, then gzip, or (None) the content itself."""

    __slots__ = ("decided", "gunzip", "head", "size")

    def __init__(self) -> None:
        self.decided = False
        self.gunzip: _Gunzip | None = None
        self.head = b""
        self.size = 0


class _Gunzip:
    """A gzip file of one or more members (RFC 1952 2.2), read as it comes.

    `damaged` says that a member was cut or corrupt; `trailing` that something else followed the last good one (it is
    ignored).
    """

    def __init__(self) -> None:
        self.damaged = False
        self.trailing = False
        self._member = zlib.decompressobj(31)
        self._between = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _SLICE):
            if self.damaged or self.trailing:
                return
            yield from self._slice(data[start : start + _SLICE])

    def close(self) -> None:
        # A lone first byte of the magic is a member cut short, not a tail.
        if not self.trailing and (not self._member.eof or self._between):
            self.damaged = True

    def _slice(self, data: bytes) -> Iterator[bytes]:
        more = False
        while data or more:
            if self._member.eof:
                data = self._next_member(data)
                if not data:
                    return
            # zlib drops the output of the very call in which it finds the damage.
            before = self._member.copy()
            try:
                piece = self._member.decompress(data, PIECE)
            except zlib.error:
                self.damaged = True
                yield from _salvage(before, data)
                return
            if piece:
                yield piece
            more = len(piece) == PIECE and not self._member.eof
            data = self._member.unused_data if self._member.eof else self._member.unconsumed_tail

    def _next_member(self, data: bytes) -> bytes:
        data = self._between + data
        self._between = b""
        if data.startswith(_MAGIC):
            self._member = zlib.decompressobj(31)
            return data
        if _MAGIC.startswith(data):
            self._between = data
        else:
            self.trailing = True
        return b""


def _salvage(member: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    """Read a slice known to be damaged byte by byte, to keep what stands before the damage."""
    kept: list[bytes] = []
    size = 0
    try:
        for position in range(len(data)):
            piece = member.decompress(data[position : position + 1])
            kept.append(piece)
            size += len(piece)
            if size > PIECE // 2:
                yield b"".join(kept)
                kept, size = [], 0
    except zlib.error:
        pass
    if size:
        yield b"".join(kept)


def _codings(header: str | None) -> tuple[list[str], str | None]:
    """Split a Content-Encoding value into the gzip codings to undo and the first token that is none we asked for."""
    tokens = [token.strip().lower() for token in (header or "").split(",")]
    # A charset in this header is a slip of the pen; it cannot mean packed bytes.
    tokens = [token for token in tokens if token not in {"", "identity", "utf-8", "utf8"}]
    for token in tokens:
        if token not in {"gzip", "x-gzip"}:
            return [], token
    if len(tokens) > _MAX_CODINGS:
        return [], ", ".join(tokens)
    return tokens, None


def _archive(head: bytes) -> str | None:
    for magic, kind in _ARCHIVES:
        if head.startswith(magic):
            return kind
    return "tar" if head[257:262] == b"ustar" else None
