"""H09: no connection to an address that is not public, however it is spelled, resolved or swapped."""

import asyncio
import socket
from typing import Any

import pytest
from aiohttp.abc import ResolveResult

from sitemap_actor.core.errors import DnsError, PrivateAddressError
from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.download import connector
from sitemap_actor.download.connector import GuardedResolver, system_lookup
from tests.spider.conftest import Client, ClientFactory, SiteFactory
from tests.spider.server import Reply, Site

NAME = "www.example.com"


class Resolver:
    """Answers lookups by a list of answers, the last one for ever, and counts them."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def __deepcopy__(self, _memo: Any) -> "Resolver":
        return self  # Scrapy copies its settings deeply

    def __call__(self, host: str, _port: int) -> list[str]:
        self.asked.append(host)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


def guarded(client: ClientFactory, resolver: Resolver | None = None) -> Client:
    """A client as it is by default: private addresses refused."""
    return client(SITEMAP_ALLOW_PRIVATE_ADDRESSES=False, SITEMAP_RESOLVER=resolver)


async def refused(web: Client, url: str, site: Site) -> PrivateAddressError:
    """Fetch, and expect the refusal and a listener that saw nobody."""
    before = site.connections
    with pytest.raises(PrivateAddressError) as caught:
        await web.get(url)
    assert (caught.value.reason, caught.value.retryable) == (SkipReason.PRIVATE_ADDRESS, False)
    assert site.connections == before
    return caught.value


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> str:
    """An address on loopback that this test's judge takes for a public one."""
    real = connector.is_public
    monkeypatch.setattr(connector, "is_public", lambda ip: (True, "") if str(ip) == "127.0.0.2" else real(ip))
    return "127.0.0.2"


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "①②⑦.0.0.1",
        "[::ffff:127.0.0.1]",
        "localhost",
        "127.0.0.1.",
    ],
)
async def test_literals_and_local_names_in_every_spelling(host: str, site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    error = await refused(guarded(client), f"http://{host}:{server.port}/", server)
    assert error.detail.startswith("not a public address (")


async def test_the_ipv6_loopback_address(site: SiteFactory, client: ClientFactory) -> None:
    server = site("::1")
    await refused(guarded(client), server.url, server)


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["::ffff:127.0.0.1"],
        ["::1"],
        ["fe80::1%lo"],
        ["8.8.8.8", "127.0.0.1"],
        ["127.0.0.1", "8.8.8.8"],
        ["2001:4860:4860::8888", "127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["2002:7f00:1::"],
        ["169.254.169.254"],
        ["100.64.0.1"],
    ],
    ids=" ".join,
)
async def test_a_name_with_any_address_that_is_not_public(
    addresses: list[str], site: SiteFactory, client: ClientFactory
) -> None:
    server = site()
    resolver = Resolver(addresses)
    error = await refused(guarded(client, resolver), f"http://{NAME}:{server.port}/", server)
    assert resolver.asked == [NAME]
    assert error.detail.startswith(f"not a public address ({NAME} resolves to ")


async def test_a_name_public_when_checked_and_private_when_dialled(
    site: SiteFactory, client: ClientFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = site()

    async def unjudged(_self: GuardedResolver, host: str, port: int = 0, family: Any = 0) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in ("127.0.0.1", "::1")
        ]

    monkeypatch.setattr(GuardedResolver, "resolve", unjudged)
    await refused(guarded(client), f"http://{NAME}:{server.port}/", server)


async def test_a_name_that_turns_private_is_refused_and_stays_refused(
    site: SiteFactory, client: ClientFactory, stand_in: str
) -> None:
    public, private = site(stand_in), site("127.0.0.1")
    public.fallback = Reply(body="public", keep_alive=False)
    resolver = Resolver([stand_in], ["127.0.0.1"], [stand_in])
    web = guarded(client, resolver)
    url = f"http://{NAME}:{public.port}/"
    assert (await web.get(url)).body == b"public"
    await refused(web, url, private)
    await refused(web, url, public)  # the name is back, but nobody asks again
    assert len(resolver.asked) == 2
    assert len(public.requests) == 1


async def test_an_open_connection_to_a_refused_host_is_not_used_again(
    site: SiteFactory, client: ClientFactory, stand_in: str
) -> None:
    public = site(stand_in)
    web = guarded(client, Resolver([stand_in], ["10.0.0.1"]))
    url = f"http://{NAME}:{public.port}/"
    await web.get(url)  # this connection stays open
    with pytest.raises(PrivateAddressError):
        await web.get(f"http://{NAME}:{public.port + 1}/")  # the same name elsewhere: a new lookup
    await refused(web, url, public)
    assert len(public.requests) == 1


async def test_a_request_that_waited_meets_the_refusal_of_the_one_before(
    site: SiteFactory, client: ClientFactory
) -> None:
    server = site()
    resolver = Resolver(["127.0.0.1"])
    web = guarded(client, resolver)
    results = await asyncio.gather(
        *(web.get(f"http://{NAME}:{server.port}/{number}") for number in range(3)), return_exceptions=True
    )
    assert [type(result) for result in results] == [PrivateAddressError] * 3
    assert len(resolver.asked) == 1
    assert server.connections == 0


async def test_a_public_name_is_dialled_at_the_address_that_was_judged(
    site: SiteFactory, client: ClientFactory, stand_in: str
) -> None:
    server = site(stand_in)
    server.fallback = Reply(body="hello")
    response = await guarded(client, Resolver([stand_in])).get(f"http://{NAME}:{server.port}/")
    assert (response.body, str(response.ip_address)) == (b"hello", stand_in)
    assert server.requests[0].host == f"{NAME}:{server.port}"


async def test_private_addresses_may_be_allowed(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    web = client(SITEMAP_RESOLVER=lambda _host, _port: ["::1", "127.0.0.1"])
    assert (await web.get(f"http://{NAME}:{server.port}/")).status == 404  # the second address answers
    assert server.connections == 1


async def test_a_name_without_addresses_is_a_dns_error(client: ClientFactory) -> None:
    with pytest.raises(DnsError):
        await guarded(client, Resolver([])).get(f"http://{NAME}/")


def test_the_system_is_asked_for_every_address_without_AI_ADDRCONFIG(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def fake(*args: Any, **kwargs: Any) -> list[Any]:
        asked.append((args, kwargs))
        one = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 80))
        two = (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("2001:db8::1", 80, 0, 0))
        return [one, two, one]

    monkeypatch.setattr(socket, "getaddrinfo", fake)
    assert system_lookup(NAME, 80) == ["192.0.2.1", "2001:db8::1"]
    assert asked[0][1]["flags"] == 0
    assert "family" not in asked[0][1]
