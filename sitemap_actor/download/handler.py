"""The download handler for http and https (Scrapy's DOWNLOAD_HANDLERS), on aiohttp.

What it adds to Scrapy's own: bodies stream to a spooled file instead of memory, unpacked and measured on the way; the
two time-outs of spec 5 (each step, and four times that for the whole file); the address guard on the dialled address;
and the gate, which is held from before the connection to the last byte.

Only GET, no proxy, no cookie, no Referer, no credentials, no redirect followed, no request repeated here: each of these
is decided elsewhere or never. A failure is an exception of `core.errors` with `reason`, `detail` and `retryable`. What
came in part is a response that says so (`short`, `cut`, `over_limit`): what to make of it is for others to say.
"""

import asyncio
import copy
import ipaddress
import re
import ssl
import time
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import aiohttp
import yarl
from aiohttp.connector import Connection
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotSupported
from scrapy.http import Headers
from scrapy.utils.misc import load_object

from sitemap_actor.core.addresses import refusal
from sitemap_actor.core.errors import BadHttpError, FetchError, PrivateAddressError, TimeoutFetchError
from sitemap_actor.core.urls import UrlError, read
from sitemap_actor.download.body import HEAD, ROBOTS, Body
from sitemap_actor.download.clock import Deadline, ListeningClock
from sitemap_actor.download.connector import AddressGuard, Lookup, guarded_connector, system_lookup
from sitemap_actor.download.failures import fetch_error
from sitemap_actor.download.response import SpooledResponse

_WHOLE_FILE = 4
"""The whole file may take so many times the seconds of one step (spec 5)."""

# The head of an answer is bounded, but not tightly: policy headers of many kilobytes are common.
_MAX_LINE = 16_384
_MAX_FIELD = 32_768
_MAX_HEADERS = 200

_SENT = ("Accept", "Accept-Language", "If-None-Match", "If-Modified-Since")
"""What is sent on of a Scrapy request's headers. A list of what may pass cannot forget one that may not."""

_ORDINARY = re.compile(r"[!-~]+")


class StreamingDownloadHandler:
    """Downloads http and https requests; one instance, and so one connection pool, serves both schemes of a crawler.

    Settings: USER_AGENT, SITEMAP_ALLOW_PRIVATE_ADDRESSES, SITEMAP_CA_FILE (certificates to trust besides the system's),
    SITEMAP_RESOLVER (a `connector.Lookup`, or its path), DOWNLOAD_TIMEOUT (seconds of a step, used where neither
    `run.job.request_timeout_secs` nor meta `download_timeout` gives them).
    Meta: `purpose` (`robots` or `sitemap`), `not_before` (a moment of the loop's clock, `time.monotonic()`).
    Of `crawler.spider.run` it uses `gate`, and, where they are there, `job`, `note_request(host)` and `note_bytes(n)`.
    """

    lazy = False

    _handlers: ClassVar[WeakKeyDictionary[Crawler, "StreamingDownloadHandler"]] = WeakKeyDictionary()

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._crawler = crawler
        self._user_agent: str = settings.get("USER_AGENT", "")
        self._step = settings.getfloat("DOWNLOAD_TIMEOUT")
        self._ca_file: str | None = settings.get("SITEMAP_CA_FILE")
        self._allow_private = settings.getbool("SITEMAP_ALLOW_PRIVATE_ADDRESSES")
        named = settings.get("SITEMAP_RESOLVER")
        self._lookup: Lookup = load_object(named) if named else system_lookup
        self._guard = AddressGuard(allow_private=self._allow_private)
        self._refused: dict[str, PrivateAddressError] = {}
        self._clock = ListeningClock()
        self._session: aiohttp.ClientSession | None = None
        self._ssl: ssl.SSLContext | bool = True

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Give the crawler's one handler."""
        known = cls._handlers.get(crawler)
        if not isinstance(known, cls):
            known = cls._handlers[crawler] = cls(crawler)
        return known

    async def download_request(self, request: Request) -> SpooledResponse:
        """Wait for the host's turn and download; raises FetchError, or the error that the gate was closed with."""
        if request.method != "GET":
            raise NotSupported(f"only GET requests are made, not {request.method}")
        host, url = _dialled(request.url)
        run: Any = getattr(self._crawler.spider, "run", None)
        self._refuse_private(url)
        async with run.gate.turn(host, not_before=request.meta.get("not_before", 0.0)):
            self._refuse_private(url)  # perhaps learnt while this one was waiting
            if hasattr(run, "note_request"):
                run.note_request(host)
            attempt = _Attempt(request, url, self._step_of(run, request), self._clock)
            try:
                response = await self._fetch(attempt)
            except PrivateAddressError as error:
                self._refused[url.raw_host or ""] = error
                raise
            finally:
                if hasattr(run, "note_bytes"):
                    run.note_bytes(attempt.wire_bytes)
            if hasattr(run, "answered"):
                run.answered(request, response)
            return response

    async def close(self) -> None:
        """Close all connections (Scrapy calls this once for each scheme)."""
        self._handlers.pop(self._crawler, None)
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _fetch(self, attempt: "_Attempt") -> SpooledResponse:
        """Make the request under its time limits, with every failure in our own words."""
        caught: list[PrivateAddressError] = []
        token = self._guard.caught.set(caught)
        self._clock.start()
        try:
            async with asyncio.timeout(None) as block:
                attempt.begin(block)
                return await self._exchange(attempt)
        except TimeoutError as error:
            raise attempt.timeout() from error
        except FetchError:
            raise
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # The dialler tries one address after the other; that one was refused outweighs what became of the rest.
            raise (caught[0] if caught else fetch_error(error, attempt.url.raw_host or "")) from error
        finally:
            attempt.end()
            self._clock.stop()
            self._guard.caught.reset(token)

    async def _exchange(self, attempt: "_Attempt") -> SpooledResponse:
        session = self._session or self._open()
        started = time.monotonic()
        answer = await session.get(
            attempt.url,
            headers=self._headers(attempt.request),
            timeout=aiohttp.ClientTimeout(total=None, sock_read=attempt.step),
            ssl=self._ssl,
            allow_redirects=False,
            trace_request_ctx=attempt,
        )
        assert isinstance(answer, _Answer)  # noqa: S101  (the session's response_class)
        try:
            attempt.request.meta["download_latency"] = time.monotonic() - started
            return await attempt.read(answer)
        finally:
            answer.close()  # does nothing to a connection whose answer was read to its end

    def _open(self) -> aiohttp.ClientSession:
        """Open the session, at the first request: it belongs to the loop that is running then."""
        if self._ca_file:
            self._ssl = ssl.create_default_context()
            self._ssl.load_verify_locations(self._ca_file)
            self._ssl.set_alpn_protocols(["http/1.1"])
        tracing = aiohttp.TraceConfig()
        tracing.on_connection_create_end.append(_connected)
        tracing.on_connection_reuseconn.append(_connected)
        session = aiohttp.ClientSession(
            connector=guarded_connector(self._guard, self._lookup),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            response_class=_Answer,
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
            trace_configs=[tracing],
            max_line_size=_MAX_LINE,
            max_field_size=_MAX_FIELD,
            max_headers=_MAX_HEADERS,
        )
        # aiohttp repeats a GET by itself after a reset: it would pass the gate unseen, on top of our own retries.
        session._retry_connection = False  # noqa: SLF001  (there is no public switch; a test counts the requests)
        self._session = session
        return session

    def _headers(self, request: Request) -> dict[str, str]:
        headers = {"User-Agent": self._user_agent, "Accept-Encoding": "gzip"}
        for name in _SENT:
            value = request.headers.get(name)
            if value is not None:
                headers[name] = value.decode("latin-1")
        return headers

    def _refuse_private(self, url: yarl.URL) -> None:
        """Raise if the host is a literal that is not public, or a name that was refused before.

        The latter also keeps a connection that is still open, from when the name had other addresses, from being used.
        """
        if self._allow_private:
            return
        host = url.raw_host or ""
        if host in self._refused:
            raise copy.copy(self._refused[host])
        why = refusal(host)
        if why is not None:
            raise PrivateAddressError(f"not a public address ({why})")

    def _step_of(self, run: Any, request: Request) -> float:
        job = getattr(run, "job", None)
        seconds = getattr(job, "request_timeout_secs", None) or request.meta.get("download_timeout")
        return float(seconds or self._step)


class _Answer(aiohttp.ClientResponse):
    """An answer that remembers its connection, which aiohttp lets go of as soon as the body is in."""

    peer: str | None = None
    protocol: Any = None

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        self.protocol = connection.protocol
        if connection.transport is not None:
            name = connection.transport.get_extra_info("peername")
            self.peer = str(name[0]).partition("%")[0] if name else None
        return await super().start(connection)

    def was_reset(self) -> bool:
        """Tell whether the connection broke, also where the body has no length and so seems to have just ended."""
        return self.protocol is not None and isinstance(self.protocol.exception(), aiohttp.ClientOSError)


class _Attempt:
    """One request on its way: its time limits, the stage it has come to, and the body."""

    def __init__(self, request: Request, url: yarl.URL, step: float, clock: ListeningClock) -> None:
        self.request = request
        self.url = url
        self.step = step
        self._clock = clock
        self._waiting_for = "a connection"
        self._connecting: Deadline | None = None
        self._whole: Deadline | None = None
        self._body: Body | None = None

    @property
    def wire_bytes(self) -> int:
        return self._body.wire_bytes if self._body else 0

    def begin(self, block: asyncio.Timeout) -> None:
        self._connecting = Deadline(self._clock, block, self.step)
        self._whole = Deadline(self._clock, block, _WHOLE_FILE * self.step)

    def connected(self) -> None:
        self._waiting_for = "an answer"
        if self._connecting is not None:
            self._connecting.call_off()

    def end(self) -> None:
        for deadline in (self._connecting, self._whole):
            if deadline is not None:
                deadline.call_off()

    def _is_overdue(self) -> bool:
        return self._whole is not None and self._whole.struck

    def timeout(self) -> TimeoutFetchError:
        """Say which of the two limits was passed, and at what."""
        if self._is_overdue():
            return TimeoutFetchError(f"the whole file took longer than {_WHOLE_FILE * self.step:g} s")
        return TimeoutFetchError(f"waited {self.step:g} s for {self._waiting_for}")

    async def read(self, answer: _Answer) -> SpooledResponse:
        """Bring the body in and make the response of it; the file is closed again if that does not succeed."""
        self._waiting_for = "more of the body"
        lengths = [value for name, value in answer.raw_headers if name.lower() == b"content-length"]
        if len(lengths) > 1:
            raise BadHttpError(f"the answer gives its Content-Length {len(lengths)} times")
        codings = ", ".join(answer.headers.getall("Content-Encoding", []))
        body = self._body = Body(codings or None, urlsplit(self.request.url).path, self._keep(answer.status))
        try:
            await body.read(answer.content, promised=answer.content_length)
        except (TimeoutError, asyncio.CancelledError) as error:
            if not (isinstance(error, TimeoutError) or self._is_overdue()):  # the run ends
                body.discard()
                raise
            body.break_off(self.timeout().detail)
        except BaseException:
            body.discard()
            raise
        if answer.was_reset() and not body.arrival.cut:
            body.mark_short("the connection was reset")
        return self._response(answer, body)

    def _keep(self, status: int) -> int | None:
        if not 200 <= status < 300:
            return HEAD
        return ROBOTS if self.request.meta.get("purpose") == "robots" else None

    def _response(self, answer: _Answer, body: Body) -> SpooledResponse:
        headers = Headers(list(answer.raw_headers))
        headers.pop("Content-Encoding", None)  # undone already: nobody after us shall try again
        version = answer.version
        return SpooledResponse(
            self.request.url,
            status=answer.status,
            headers=headers,
            body=body.head,
            ip_address=ipaddress.ip_address(answer.peer) if answer.peer else None,
            protocol=f"HTTP/{version.major}.{version.minor}" if version else None,
            file=body.file,
            arrival=body.arrival,
        )


async def _connected(_session: aiohttp.ClientSession, context: Any, _what: Any) -> None:
    context.trace_request_ctx.connected()


def _dialled(url: str) -> tuple[str, yarl.URL]:
    """Give the host's key and the URL as it goes out: path and query as written, wherever a request line allows it."""
    try:
        parts = read(url)
    except UrlError as error:
        raise FetchError(error.reason, error.detail) from error
    rest = parts.rest if parts.rest.startswith("/") else f"/{parts.rest}"
    return parts.site, yarl.URL(parts.site + rest, encoded=_ORDINARY.fullmatch(rest) is not None)
