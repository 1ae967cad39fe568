"""Brings one body in: unpacked and measured piece by piece, into a file that begins in memory and goes on on disk."""

import asyncio
import io
import tempfile
from typing import IO

import aiohttp

from sitemap_actor.core.doors import is_html
from sitemap_actor.core.reasons import Fault
from sitemap_actor.core.sitemaps.unpack import LIMIT, Unpacker
from sitemap_actor.download.protocol import left_in
from sitemap_actor.download.response import Arrival

HEAD = 65_536
"""Bytes that are enough to judge an answer that is no sitemap (spec 5), and the most that is read of one."""

ROBOTS = 512_000
"""Bytes read of a robots.txt: 500 KiB."""

_IN_MEMORY = 1_048_576
_TAIL = 8_192  # of what follows a finished gzip, before it is left unread


class Body:
    """One body on its way in. `keep` is the most that is read of it, None for a whole file within the size limit.

    Afterwards `file` is the unpacked body at position 0 (None if it was over the limit), `head` its first 64 KiB,
    or all of a body with a `keep`, and `arrival` how it came.
    """

    def __init__(self, content_encoding: str | None, name: str, keep: int | None) -> None:
        self.arrival = Arrival()
        self.file: IO[bytes] | None = _spool() if keep is None else io.BytesIO()  # the latter needs no closing
        self._keep = keep
        self._head = bytearray()
        self._kept = 0
        self._sniffed = False
        self._tail_from: int | None = None
        self._feeding = False
        self._unpacker = Unpacker(content_encoding, name=name)

    @property
    def head(self) -> bytes:
        """The first bytes, as far as read."""
        return bytes(self._head)

    @property
    def wire_bytes(self) -> int:
        """Bytes taken off the wire so far."""
        return self._unpacker.wire_bytes

    async def read(self, content: aiohttp.StreamReader, *, promised: int | None) -> None:
        """Read up to the end of the body or of our interest in it. `promised` is its Content-Length, if it has one.

        A connection that breaks makes the body `short`; only a time-out raises.
        """
        if self._keep is None and promised is not None and promised > LIMIT:
            self.arrival.over_limit = True
            self.arrival.faults[Fault.OVER_50_MB] = 1
        else:
            try:
                await self._take(content)
            except TimeoutError:
                raise
            except (aiohttp.ClientError, OSError) as error:
                await self._feed(left_in(content))
                if not self.arrival.cut:
                    self.mark_short(_words(error))
            self._finish()
        self._settle()

    def mark_short(self, detail: str) -> None:
        """Note a break that only the connection knows of (a body that ends with it has no length to compare)."""
        self.arrival.short = True
        self.arrival.short_detail = detail

    def break_off(self, detail: str) -> None:
        """End the body here, because its time is up: what came so far is kept, as of a body cut short."""
        self.mark_short(detail)
        self.arrival.timed_out = True
        if not self._feeding:  # else a gap would lie before what the unpacker still holds
            self._finish()
        self._settle()

    def discard(self) -> None:
        """Give the file's space back."""
        if self.file is not None:
            self.file.close()
            self.file = None

    async def _take(self, content: aiohttp.StreamReader) -> None:
        while chunk := await content.readany():
            await self._feed(chunk)
            if self.arrival.cut or self._done_with():
                return

    async def _feed(self, chunk: bytes) -> None:
        self._feeding = True
        for piece in self._unpacker.pieces(chunk):
            self._store(piece)
            if self.arrival.cut:
                break
            await asyncio.sleep(0)  # others have files to read and parse as well
        self._feeding = False

    def _store(self, piece: bytes) -> None:
        if self._keep is not None and self._kept + len(piece) > self._keep:
            piece = piece[: self._keep - self._kept]
            self.arrival.cut = True
        assert self.file is not None  # noqa: S101  (only `_settle` and `discard` take it away)
        self.file.write(piece)
        self._kept += len(piece)
        wanted = (self._keep or HEAD) - len(self._head)
        if wanted > 0:
            self._head += piece[:wanted]
        if self._keep is None and not self._sniffed and len(self._head) >= HEAD:
            self._sniffed = True
            self.arrival.cut = is_html(self.head)

    def _done_with(self) -> bool:
        """Whether what may still come can change nothing."""
        unpacker = self._unpacker
        if self._keep is not None and unpacker.wire_bytes > self._keep:
            self.arrival.cut = True  # packed so badly that more would come in than may go out
            return True
        if unpacker.over_limit or unpacker.unsupported or unpacker.damaged:
            return True
        if unpacker.faults[Fault.TRAILING_BYTES]:
            self._tail_from = self._tail_from or unpacker.wire_bytes
            return unpacker.wire_bytes - self._tail_from > _TAIL
        return False

    def _finish(self) -> None:
        for piece in self._unpacker.close():
            if not self.arrival.cut:
                self._store(piece)

    def _settle(self) -> None:
        unpacker, arrival = self._unpacker, self.arrival
        arrival.over_limit = arrival.over_limit or unpacker.over_limit
        arrival.wire_bytes, arrival.unpacked_bytes = unpacker.wire_bytes, unpacker.unpacked_bytes
        arrival.damaged = unpacker.damaged and not arrival.cut
        arrival.unsupported, arrival.layers = unpacker.unsupported, unpacker.layers
        arrival.faults.update(unpacker.faults)
        if arrival.over_limit:
            arrival.short = False
            self.discard()
        elif self.file is not None:
            self.file.seek(0)


def _spool() -> IO[bytes]:
    return tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # the response closes it


def _words(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientPayloadError) and "reset" not in str(error).lower():
        return "the connection ended before the body was complete"
    return "the connection was reset before the body was complete"
