"""H09 and L05 end to end: no address that is not public is ever connected to, wherever it stands and however it is spelled.

Private addresses are refused here, as everywhere by default. Public names lead to a stand-in: 127.0.0.2, an address that
the judge of these tests takes for public. `Trap` is where everything else would arrive, and it must see nobody.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitemap_actor.download import connector
from tests.spider.conftest import SiteFactory
from tests.spider.helpers import INDEX, QUICK, XML, Crawled, crawl, publish, serve_robots, told, urlset
from tests.spider.server import Reply, Site

STAND_IN = "127.0.0.2"

LOOPBACK = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "0x7f.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "0177.0.0.1",
    "127.0.0.1.",
    "①②⑦.0.0.1",
    "127。0。0。1",
    "１２７.0.0.1",
    "%31%32%37.0.0.1",
    "0",
    "0.0.0.0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[0:0:0:0:0:0:0:1]",
    "localhost",
    "LocalHost.LocalDomain",
    "localhost.",
    "a.localhost",
    "intranet",
    "printer.local",
    "db.internal",
]
"""Every spelling that leads to this machine, or to a name that is local by definition."""

OTHERS = [
    "10.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.0.8",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "203.0.113.9",
    "224.0.0.1",
    "255.255.255.255",
    "[fc00::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[2001:db8::1]",
]
HOSTS = LOOPBACK + OTHERS


class Lookup:
    """A resolver: names by what they begin with. `public` -> the stand-in, `turns` -> public once, then loopback."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __deepcopy__(self, _memo: Any) -> "Lookup":
        return self

    def __call__(self, host: str, _port: int) -> list[str]:
        self.asked.append(host)
        if host.startswith("private"):
            return ["127.0.0.1"]
        if host.startswith("mixed"):
            return [STAND_IN, "127.0.0.1"]
        if host.startswith("mapped"):
            return ["::ffff:127.0.0.1"]
        if host.startswith("turns"):
            return [STAND_IN] if self.asked.count(host) == 1 else ["127.0.0.1"]
        return [STAND_IN]


NAMES = ["private.example.com", "mixed.example.com", "mapped.example.com"]


@pytest.fixture
def lookup(monkeypatch: pytest.MonkeyPatch) -> Lookup:
    real = connector.is_public
    monkeypatch.setattr(connector, "is_public", lambda ip: (True, "") if str(ip) == STAND_IN else real(ip))
    return Lookup()


@pytest.fixture
def trap(site: SiteFactory) -> Iterator[Site]:
    """Where a connection to a private address would arrive; nobody may come."""
    trap = site("127.0.0.1")
    trap.fallback = Reply(body=urlset("http://public.example.com/stolen"), headers=XML)
    yield trap
    assert trap.connections == 0


@pytest.fixture
def public(site: SiteFactory) -> Site:
    return site(STAND_IN, name="public.example.com")


async def guarded(tmp_path: Path, lookup: Lookup, **given: Any) -> Crawled:
    settings = QUICK | {"SITEMAP_ALLOW_PRIVATE_ADDRESSES": False, "SITEMAP_RESOLVER": lookup}
    crawled = await crawl(tmp_path, settings, **given)
    assert not any("stolen" in url for url in crawled.urls)
    return crawled


def urls_at(port: int, path: str, hosts: list[str] = HOSTS) -> list[str]:
    return [f"http://{host}:{port}{path}" for host in hosts]


async def test_H09_as_sites_of_the_input(public: Site, trap: Site, lookup: Lookup, tmp_path: Path) -> None:
    public.routes["/sitemap.xml"] = Reply(body=urlset(f"{public.origin}/1"), headers=XML)
    direct = urls_at(trap.port, "/a.xml")
    crawled = await guarded(
        tmp_path, lookup, sites=[*urls_at(trap.port, "/"), *direct, public.origin], sitemapUrls=urls_at(trap.port, "/b")
    )
    assert crawled.urls == [f"{public.origin}/1"]
    assert {(skip["stage"], skip["reason"]) for skip in crawled.skipped} == {("input", "private_address")}
    assert len(crawled.skipped) == 3 * len(HOSTS)
    assert len(crawled.report["sites"]) == 1
    assert set(lookup.asked) == {"public.example.com"}


async def test_H09_as_names_that_resolve_to_private_addresses(
    public: Site, trap: Site, lookup: Lookup, tmp_path: Path
) -> None:
    public.routes["/sitemap.xml"] = Reply(body=urlset(f"{public.origin}/1"), headers=XML)
    crawled = await guarded(tmp_path, lookup, sites=[*urls_at(trap.port, "/", NAMES), public.origin])
    assert crawled.urls == [f"{public.origin}/1"]
    for name in NAMES:
        stages = {(skip["stage"], skip["reason"]) for skip in crawled.skips(site=f"http://{name}:{trap.port}")}
        assert stages == {("robots.txt", "private_address"), ("site", "private_address")}
    assert lookup.asked.count("private.example.com") == 1


async def test_H09_as_sitemaps_children_and_pages(public: Site, trap: Site, lookup: Lookup, tmp_path: Path) -> None:
    hosts = HOSTS + NAMES
    index = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls_at(trap.port, "/child.xml", hosts))
    publish(
        public,
        {
            "/index.xml": Reply(body=INDEX.format(index), headers=XML),
            "/pages.xml": Reply(body=urlset(*urls_at(trap.port, "/page", hosts), f"{public.origin}/1"), headers=XML),
        },
    )
    lines = public.routes["/robots.txt"].body.splitlines()  # type: ignore[union-attr]
    serve_robots(public, *lines, *(f"Sitemap: {url}" for url in urls_at(trap.port, "/named.xml", hosts)))
    crawled = await guarded(tmp_path, lookup, sites=public.origin)

    assert crawled.urls == [f"{public.origin}/1"]
    counts = crawled.report["counts"]
    assert (counts["listed"], counts["saved"], counts["skipped"]) == (len(hosts) + 1, 1, len(hosts))
    for path, stage in (("/named.xml", "sitemap"), ("/child.xml", "sitemap"), ("/page", "url")):
        got = {skip["address"]: (skip["stage"], skip["reason"]) for skip in crawled.skipped if path in skip["address"]}
        assert got == dict.fromkeys(urls_at(trap.port, path, hosts), (stage, "private_address"))
    for url in urls_at(trap.port, "/child.xml", hosts):
        assert told(crawled, url) == ("skipped", "private_address")
    assert public.paths() == ["/robots.txt", "/index.xml", "/pages.xml"]
    assert set(lookup.asked) == {"public.example.com", *NAMES}


@pytest.mark.parametrize("purpose", ["sitemap", "robots"])
async def test_H09_as_redirect_targets(
    public: Site, trap: Site, lookup: Lookup, site: SiteFactory, tmp_path: Path, purpose: str
) -> None:
    targets = [*HOSTS, *NAMES]
    if purpose == "sitemap":
        answers = {
            f"/{number}.xml": Reply(302, headers=[("Location", _latin(f"http://{host}:{trap.port}/x.xml"))])
            for number, host in enumerate(targets)
        }
        publish(public, answers)
        crawled = await guarded(tmp_path, lookup, sites=public.origin)
        assert {told(crawled, public.origin + path) for path in answers} == {("failed", "private_address")}
        assert len(crawled.skips(stage="sitemap", reason="private_address")) == len(answers)
        return
    servers = [site(STAND_IN, name=f"public{number}.example.com") for number in range(len(targets))]
    for server, host in zip(servers, targets, strict=True):
        server.routes["/robots.txt"] = Reply(
            301, headers=[("Location", _latin(f"http://{host}:{trap.port}/robots.txt"))]
        )
        server.routes["/sitemap.xml"] = Reply(body=urlset(f"{server.origin}/1"), headers=XML)
    crawled = await guarded(tmp_path, lookup, sites=[server.origin for server in servers])
    assert crawled.rows == []
    for server in servers:
        stages = {(skip["stage"], skip["reason"]) for skip in crawled.skips(site=server.origin)}
        assert stages == {("robots.txt", "private_address"), ("site", "private_address")}
        assert server.paths() == ["/robots.txt"]


def _latin(text: str) -> str:
    """Text whose UTF-8 bytes the server writes into a header."""
    return text.encode().decode("latin-1")


async def test_H09_pages_of_a_host_whose_robots_txt_is_private(
    public: Site, trap: Site, lookup: Lookup, site: SiteFactory, tmp_path: Path
) -> None:
    other = site(STAND_IN, name="public2.example.com")
    other.routes["/robots.txt"] = Reply(302, headers={"Location": f"http://127.0.0.1:{trap.port}/robots.txt"})
    publish(public, {"/s.xml": Reply(body=urlset(f"{other.origin}/page", f"{public.origin}/1"), headers=XML)})
    crawled = await guarded(tmp_path, lookup, sites=public.origin)
    assert crawled.urls == [f"{public.origin}/1"]
    (skip,) = crawled.skips(stage="url")
    assert (skip["address"], skip["reason"]) == (f"{other.origin}/page", "private_address")


async def test_H09_a_name_that_turns_private_between_two_requests(
    site: SiteFactory, lookup: Lookup, tmp_path: Path
) -> None:
    server = site(STAND_IN, name="turns.example.com")
    publish(server, {"/a.xml": Reply(body=urlset(f"{server.origin}/1"), headers=XML)})
    for answer in server.routes.values():
        answer.keep_alive = False  # type: ignore[union-attr]
    crawled = await guarded(tmp_path, lookup, sites=server.origin)
    assert server.paths() == ["/robots.txt"]
    assert crawled.rows == []
    assert told(crawled, f"{server.origin}/a.xml")[1] == "private_address"
    assert lookup.asked == ["turns.example.com"] * 2


async def test_L05_development_hosts_left_in_a_sitemap(
    public: Site, trap: Site, lookup: Lookup, tmp_path: Path
) -> None:
    left = [f"http://localhost:{trap.port}/", f"http://127.0.0.1:{trap.port}/a", f"http://intranet:{trap.port}/"]
    publish(public, {"/s.xml": Reply(body=urlset(*left, f"{public.origin}/1"), headers=XML)})
    crawled = await guarded(tmp_path, lookup, sites=public.origin)
    assert crawled.urls == [f"{public.origin}/1"]
    assert [skip["address"] for skip in crawled.skips(reason="private_address", stage="url")] == left
    assert crawled.site["status"] == "ok"
    assert crawled.report["hosts"][0]["host"] == public.origin
    assert len(crawled.report["hosts"]) == 1  # none of them is asked for its robots.txt, or counts as a host


async def test_H09_an_environment_proxy_is_no_way_round(
    public: Site, trap: Site, lookup: Lookup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{trap.port}")
    publish(public, {"/s.xml": Reply(body=urlset(f"{public.origin}/1"), headers=XML)})
    crawled = await guarded(tmp_path, lookup, sites=public.origin)
    assert crawled.urls == [f"{public.origin}/1"]
