"""A loopback web site for tests, friendly or hostile to the byte, in a thread of its own.

    with Site() as site:
        site.routes["/robots.txt"] = Reply(404)
        site.routes["/a.xml"] = Reply(body="<urlset/>", headers={"Content-Type": "application/xml"})
        site.routes["/b.xml"] = [Reply(503), Reply(body="<urlset/>")]          # one after the other, the last one stays
        site.routes["/c.xml"] = lambda seen: Reply(body=seen.headers["user-agent"])
        site.routes["/d.xml"] = Script(head(200, length=10), b"12345", RESET)  # every byte by hand

A path with its query string is looked up first, then without it; what is not there is a 404. `site.requests` lists what
came, in order. Nothing here sleeps except where a script or a reply says so, and `Hold` waits for the test instead.
"""

import asyncio
import contextlib
import datetime as dt
import ipaddress
import json
import os
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


class Step:
    """A named step of a script."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


RESET = Step("RESET")
"""Break the connection (TCP RST)."""
CLOSE = Step("CLOSE")
"""Close the connection in an orderly way."""
HANG = Step("HANG")
"""Say nothing more, and keep the connection until the client or the test ends it."""


class Forever:
    """Send these bytes again and again until the client leaves."""

    def __init__(self, data: bytes) -> None:
        self.data = data


class Slowly:
    """Send the bytes one by one, each as its own packet, `pause` seconds apart."""

    def __init__(self, data: bytes, pause: float = 0.0) -> None:
        self.data = data
        self.pause = pause


class Hold:
    """A step at which the server waits until the test says `release()`; `reached` is set when it has come there."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._released = threading.Event()

    def release(self) -> None:
        self._released.set()

    async def wait(self) -> None:
        self.reached.set()
        await asyncio.get_running_loop().run_in_executor(None, self._released.wait, 30)


Part = bytes | float | Step | Forever | Slowly | Hold
"""bytes: send them. A number: wait so many seconds. The rest: see there."""


class Script:
    """An answer written out by hand: status line, headers and body are whatever the parts send.

    The connection is closed at the end, unless `keep_alive`.
    """

    def __init__(self, *parts: Part, keep_alive: bool = False) -> None:
        self.parts = parts
        self.keep_alive = keep_alive


@dataclass
class Reply:
    """An ordinary answer. `chunks` (bytes, pauses, holds) replace the body and are sent with chunked coding."""

    status: int = 200
    body: bytes | str = b""
    headers: Mapping[str, str] | Iterable[tuple[str, str]] = ()
    chunks: Iterable[Part] | None = None
    delay: float = 0.0
    keep_alive: bool = True


@dataclass
class Seen:
    """A request as it came. `headers` has lower-case names (the last of several); `connection` counts from 1."""

    method: str
    target: str
    headers: dict[str, str]
    raw_headers: list[tuple[str, str]]
    connection: int
    started: float
    """`time.monotonic()` when the request was in."""
    ended: float | None = None
    """The same when the last byte of the answer was handed over."""
    host: str = ""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


Answer = Reply | Script
Route = Answer | list[Answer] | Callable[[Seen], Answer]


def head(status: int = 200, *, length: int | None = None, **headers: str) -> bytes:
    """Write a status line and headers (`content_type="text/xml"`), blank line included."""
    lines = [f"HTTP/1.1 {status} {_phrase(status)}"]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    lines += [f"{name.replace('_', '-').title()}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


@dataclass(frozen=True)
class Certificate:
    """A self-signed certificate and its key, in files; `ca_file` is what a client must trust."""

    ca_file: Path
    key_file: Path


class Site:
    """A site on `host` (any loopback address, IPv6 too) and a free port; https where a certificate is given.

    `name` is what `url` calls it, where a test resolves names by itself.
    """

    def __init__(
        self, host: str = "127.0.0.1", *, certificate: Certificate | None = None, name: str | None = None
    ) -> None:
        self.host = host
        self.name = name or (f"[{host}]" if ":" in host else host)
        self.scheme = "https" if certificate else "http"
        self.routes: dict[str, Route] = {}
        self.requests: list[Seen] = []
        self.connections = 0
        self.at_once = 0
        self.most_at_once = 0
        self.fallback: Route = Reply(404, "not here")
        self.errors: list[BaseException] = []
        self.port = 0
        self._tls = _server_tls(certificate) if certificate else None
        self._turns: dict[str, int] = {}
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._serve, name="site", daemon=True)

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.name}:{self.port}"

    @property
    def url(self) -> str:
        """The address of the front page, with its slash."""
        return self.origin + "/"

    def paths(self) -> list[str]:
        """The targets that were asked for, in order."""
        return [seen.target for seen in self.requests]

    def start(self) -> Self:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the test site did not start")
        return self

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)
        if self.errors:
            raise AssertionError(f"the test site itself failed: {self.errors!r}") from self.errors[0]

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _serve(self) -> None:
        loop = self._loop
        asyncio.set_event_loop(loop)
        server = loop.run_until_complete(asyncio.start_server(self._accept, self.host, 0, ssl=self._tls))
        self.port = server.sockets[0].getsockname()[1]
        loop.set_exception_handler(lambda *_: None)  # clients that break connections are the point of it
        self._ready.set()
        try:
            loop.run_forever()
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*self._tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(asyncio.sleep(0))
            loop.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        number = self.connections
        try:
            while await self._one(reader, writer, number):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, asyncio.CancelledError):
            pass
        except Exception as error:
            self.errors.append(error)
        finally:
            self._tasks.discard(task)
            writer.transport.abort() if writer.transport.is_closing() else writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> bool:
        """Read one request and answer it; return whether the connection goes on."""
        try:
            start = await reader.readexactly(1)
            if start == b"\x16":  # a TLS handshake on a plain port
                writer.write(head(400, length=0))
                await writer.drain()
                return False
            request = (start + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return False
        first, *lines = request.split("\r\n")
        method, target, _version = first.split(" ", 2)
        raw = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines if line)]
        seen = Seen(method, target, {name.lower(): value for name, value in raw}, raw, number, time.monotonic())
        seen.host = seen.headers.get("host", "")
        self.requests.append(seen)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return await self._answer(seen, writer)
        finally:
            self.at_once -= 1
            seen.ended = time.monotonic()

    def _route(self, seen: Seen) -> Answer:
        key = seen.target if seen.target in self.routes else seen.path
        route = self.routes.get(key, self.fallback)
        if callable(route):
            return route(seen)
        if isinstance(route, list):
            turn = self._turns[key] = self._turns.get(key, 0) + 1
            return route[min(turn, len(route)) - 1]
        return route

    async def _answer(self, seen: Seen, writer: asyncio.StreamWriter) -> bool:
        answer = self._route(seen)
        script = answer if isinstance(answer, Script) else _script(answer)
        for part in script.parts:
            if not await _play(part, writer):
                return False
        await writer.drain()
        return script.keep_alive


def _script(reply: Reply) -> Script:
    """Write an ordinary answer out as a script."""
    body = reply.body.encode() if isinstance(reply.body, str) else reply.body
    given = list(reply.headers.items() if isinstance(reply.headers, Mapping) else reply.headers)
    names = {name.lower() for name, _ in given}
    lines = [f"HTTP/1.1 {reply.status} {_phrase(reply.status)}", *(f"{name}: {value}" for name, value in given)]
    if "content-type" not in names:
        lines.append("Content-Type: text/plain")
    if not reply.keep_alive:
        lines.append("Connection: close")
    chunked = reply.chunks is not None
    if chunked:
        lines.append("Transfer-Encoding: chunked")
    elif "content-length" not in names and reply.status not in {204, 304}:
        lines.append(f"Content-Length: {len(body)}")
    parts: list[Part] = [reply.delay] if reply.delay else []
    parts.append(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
    parts.extend(
        b"%x\r\n%b\r\n" % (len(part), part) if isinstance(part, bytes) else part for part in reply.chunks or ()
    )
    parts.append(b"0\r\n\r\n" if chunked else body)
    return Script(*parts, keep_alive=reply.keep_alive)


async def _play(part: Part, writer: asyncio.StreamWriter) -> bool:
    """Do one step of a script; return whether there may be a next one."""
    if isinstance(part, bytes):
        writer.write(part)
        await writer.drain()
    elif isinstance(part, Hold):
        await part.wait()
    elif isinstance(part, Forever):
        while True:
            writer.write(part.data)
            await writer.drain()
            await asyncio.sleep(0)
    elif isinstance(part, Slowly):
        for position in range(len(part.data)):
            writer.write(part.data[position : position + 1])
            await writer.drain()
            await asyncio.sleep(part.pause)
    elif part is RESET:
        _reset(writer)
        return False
    elif part is CLOSE:
        return False
    elif part is HANG:
        await asyncio.Event().wait()
    else:
        assert isinstance(part, float | int)
        await asyncio.sleep(part)
    return True


def _reset(writer: asyncio.StreamWriter) -> None:
    plain: socket.socket = writer.get_extra_info("socket")
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _phrase(status: int) -> str:
    with contextlib.suppress(ValueError):
        return HTTPStatus(status).phrase
    return "Whatever"


class DeafPort:
    """A listening socket that never accepts, with its queue full: a connection to it hangs. Counts nothing."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._listener = socket.socket()
        self._listener.bind((host, 0))
        self._listener.listen(0)
        self.host, self.port = self._listener.getsockname()
        self._fillers: list[socket.socket] = []

    def __enter__(self) -> Self:
        for _ in range(8):
            filler = socket.socket()
            filler.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                filler.connect((self.host, self.port))
            self._fillers.append(filler)
        return self

    def __exit__(self, *_: object) -> None:
        for filler in self._fillers:
            filler.close()
        self._listener.close()


def make_certificate(folder: Path, *names: str, days: int = 1) -> Certificate:
    """Make a self-signed certificate for names and addresses; negative `days` make one that has run out."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test site")])
    start = dt.datetime.now(dt.UTC) - dt.timedelta(days=abs(days) + 1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(dt.datetime.now(dt.UTC) + dt.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder.mkdir(parents=True, exist_ok=True)
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    made.ca_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    made.key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return made


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _server_tls(certificate: Certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.ca_file, certificate.key_file)
    return context


HOSTS_VARIABLE = "SITEMAP_TEST_HOSTS"


def lookup(host: str, _port: int) -> list[str]:
    """Resolve names from the environment: SITEMAP_TEST_HOSTS='{"www.example.com": ["127.0.0.2"]}'.

    For the setting SITEMAP_RESOLVER, also in a child process: SITEMAP_RESOLVER=tests.spider.server.lookup. A name that
    is not in it does not exist.
    """
    known: dict[str, list[str]] = json.loads(os.environ.get(HOSTS_VARIABLE, "{}"))
    if host not in known:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    return known[host]
