"""The address guard: no connection to an address that is not public, whatever a name says (spec 5).

Two looks, because either alone can be got round. The resolver refuses a name as soon as any one of its addresses is not
public (a dialler alone would be content with a public one beside it). The socket factory judges the very address about
to be dialled, IP literals included, so a name that resolves differently the second time gains nothing.

aiohttp's own resolver asks with AI_ADDRCONFIG, which hides addresses from the judge; this one asks plainly. It asks in
a daemon thread of its own: a name server that never answers holds up neither the event loop nor the end of the run.
"""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from sitemap_actor.core.addresses import is_public
from sitemap_actor.core.errors import PrivateAddressError
from sitemap_actor.download.protocol import HeadFirstProtocol

Lookup = Callable[[str, int], list[str]]
"""Takes a host name and a port, returns every address of it as text; blocks; raises OSError. Called in a thread."""

_KEEP_ALIVE = 4.0
"""Seconds an idle connection is kept: below the 5 s of common servers, so that we rarely write into one that is closing
(nobody repeats such a request for us)."""


def system_lookup(host: str, port: int) -> list[str]:
    """Ask the system for every address of a name, IPv4 and IPv6, whatever this machine itself has."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=0)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class AddressGuard:
    """The judge of one run, shared by resolver and dialler.

    `allow_private` lets everything pass. `caught` is where a refusal is left for the request it concerns, because
    aiohttp may melt the dialler's error into others on its way up.
    """

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private
        self.caught: ContextVar[list[PrivateAddressError] | None] = ContextVar("caught", default=None)

    def judge(self, address: str, host: str) -> None:
        """Raise PrivateAddressError unless `address` (of `host`) is public."""
        if self._allow_private:
            return
        public, why = is_public(address)
        if public:
            return
        named = f"{host} resolves to {address}" if host else address
        error = PrivateAddressError(f"not a public address ({named}: {why})")
        caught = self.caught.get()
        if caught is not None:
            caught.append(error)
        raise error

    def socket(self, info: tuple[Any, Any, int, str, tuple[Any, ...]]) -> socket.socket:
        """Make the socket for an address that is about to be dialled (aiohttp's `socket_factory`), or refuse."""
        family, kind, protocol, _, address = info
        self.judge(str(address[0]), "")
        return socket.socket(family, kind, protocol)


class GuardedResolver(AbstractResolver):
    """Resolves names for aiohttp: all addresses of a name, or PrivateAddressError if any of them is not public."""

    def __init__(self, guard: AddressGuard, lookup: Lookup = system_lookup) -> None:
        self._guard = guard
        self._lookup = lookup

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return aiohttp's form of every address; OSError where the name has none."""
        addresses = [address.partition("%")[0] for address in await _in_thread(self._lookup, host, port)]
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "the name has no address")
        for address in addresses:
            self._guard.judge(address, host)
        return [_result(host, address, port) for address in addresses]

    async def close(self) -> None:
        """Nothing is kept open."""


def guarded_connector(guard: AddressGuard, lookup: Lookup) -> aiohttp.TCPConnector:
    """Make the connector: no limits of its own (the gate sets the pace), every dialled address judged."""
    connector = aiohttp.TCPConnector(
        limit=0,
        limit_per_host=0,
        resolver=GuardedResolver(guard, lookup),
        use_dns_cache=False,
        socket_factory=guard.socket,
        keepalive_timeout=_KEEP_ALIVE,
    )
    HeadFirstProtocol.install(connector)
    return connector


def _result(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return ResolveResult(
        hostname=host, host=address, port=port, family=family, proto=socket.IPPROTO_TCP, flags=socket.AI_NUMERICHOST
    )


async def _in_thread(lookup: Lookup, host: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def settle(addresses: list[str] | None, error: Exception | None) -> None:
        if answer.done():  # whoever asked has given up
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(addresses or [])

    def ask() -> None:
        addresses: list[str] | None = None
        failure: Exception | None = None
        try:
            addresses = lookup(host, port)
        except UnicodeError:
            failure = socket.gaierror(socket.EAI_NONAME, "not a possible host name")
        except Exception as error:  # noqa: BLE001  (the edge of a thread: whatever it is belongs to the request)
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop has closed meanwhile
            loop.call_soon_threadsafe(settle, addresses, failure)

    threading.Thread(target=ask, name=f"lookup {host}", daemon=True).start()
    return await answer
