"""aiohttp's client protocol, made indifferent to how an answer falls into packets.

aiohttp hands each packet to its parser whole, and an error anywhere in it hides everything before the error. So a body
longer than its Content-Length (a length counted in characters is the usual cause) is read as promised when the surplus
comes in a packet of its own, but costs the whole answer when it does not; and bad chunked coding leaves the reader of
the body waiting. Here the head of an answer is parsed apart from what follows it, and an error in the body ends the
body. What came before an error can be had, too.

Written against aiohttp 3.14, and kept to this file, because it leans on what is not documented there; the tests show
each case in one packet and in several.
"""

import asyncio
import functools
import re
from collections.abc import Callable

import aiohttp
from aiohttp.client_proto import ResponseHandler

_BLANK_LINE = re.compile(rb"\r?\n\r?\n")


class HeadFirstProtocol(ResponseHandler):
    """One client connection."""

    _before = b""

    @classmethod
    def install(cls, connector: aiohttp.BaseConnector) -> None:
        """Have the connector (of the running loop) make connections of this class."""
        make: Callable[..., ResponseHandler] = cls
        connector._factory = functools.partial(make, loop=asyncio.get_running_loop())  # noqa: SLF001

    def data_received(self, data: bytes) -> None:
        """Take a packet (or, empty, aiohttp's word that reading goes on)."""
        if self._payload is None and data:
            end = self._end_of_head(data)
            if end is not None and end < len(data):
                super().data_received(data[:end])
                data = data[end:]
        payload = self._payload
        super().data_received(data)
        failure = self.exception()
        if payload is None or failure is None or payload.is_eof() or payload.exception() is not None:
            return
        payload.set_exception(aiohttp.ClientPayloadError(f"the body is not valid HTTP: {failure}"))

    def _end_of_head(self, data: bytes) -> int | None:
        """Find where the head ends in this packet, the blank line perhaps begun in the one before."""
        known = len(self._before)
        found = _BLANK_LINE.search(self._before + data)
        if found is None:
            self._before = (self._before + data)[-3:]
            return None
        self._before = b""
        return max(found.end() - known, 0)


def left_in(content: aiohttp.StreamReader) -> bytes:
    """Give what had come in before the body broke and was not read yet; aiohttp raises the error instead."""
    return content._read_nowait(-1) if content._buffer else b""  # noqa: SLF001
