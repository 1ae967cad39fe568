"""Hostile servers (issue 3, item 7): the run ends, within its bounds, says why, and the other sites are complete.

Every crawl here has a good site beside the hostile one, and `good` asserts that it came through whole. Bounds are asserted
as counts: requests, bytes, files, hosts, entries of the records. The seconds of a step are half of one here.
"""

import gzip
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitemap_actor.download.handler import StreamingDownloadHandler
from tests.spider.conftest import SiteFactory
from tests.spider.helpers import (
    INDEX,
    QUICK,
    XML,
    Crawled,
    crawl,
    publish,
    serve,
    serve_index,
    serve_robots,
    told,
    urlset,
)
from tests.spider.server import CLOSE, HANG, RESET, DeafPort, Forever, Reply, Script, Seen, Site, Slowly, head

STEP = 0.5
PAGES = [f"/good/{number}" for number in range(1_500)]
LIMIT = 52_428_800
TYPE = {"content_type": "application/xml"}


@pytest.fixture(autouse=True)
def _short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StreamingDownloadHandler, "_step_of", lambda *_: STEP)


@pytest.fixture
def good(site: SiteFactory) -> Site:
    """A site that everything is well with."""
    server = site("127.0.0.9")
    serve_robots(server, f"Sitemap: {server.origin}/sitemap.xml")
    serve(server, "/sitemap.xml", *PAGES)
    return server


async def beside(good: Site, tmp_path: Path, *hostile: Site, **given: Any) -> Crawled:
    """Crawl the hostile sites and the good one; the good one is complete, and the run ended as any other."""
    given.setdefault("maxUrls", "500000")
    crawled = await crawl(tmp_path, QUICK, sites=[*(each.origin for each in hostile), good.origin], **given)
    assert [url for url in crawled.urls if url.startswith(good.origin)] == [good.origin + path for path in PAGES]
    entry = next(entry for entry in crawled.report["sites"] if entry["site"] == good.origin)
    assert (entry["status"], entry["saved"]) == ("ok", len(PAGES))
    assert (crawled.report["result"], crawled.report["stopReason"]) == ("finished", None)
    return crawled


def entry_of(crawled: Crawled, server: Site) -> dict[str, Any]:
    return next(entry for entry in crawled.report["sites"] if entry["site"] == server.origin)


def page(server: Site, path: str) -> bytes:
    return f"<url><loc>{server.origin}{path}</loc></url>".encode()


async def test_bodies_without_an_end_are_left_at_the_limit(good: Site, site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    zeros = gzip.compress(b" " * 10_000_000, 9)
    publish(
        server,
        {
            "/endless.xml": Script(head(**TYPE), b"<urlset>", Forever(page(server, "/x") * 1_000)),
            "/endless.txt": Script(head(content_type="text/plain"), Forever(f"{server.origin}/x\n".encode() * 1_000)),
            "/bomb.xml.gz": Script(head(content_type="application/gzip"), Forever(zeros)),
            "/coded.xml": Script(head(content_encoding="gzip", **TYPE), gzip.compress(b"<urlset>"), Forever(zeros)),
            "/fine.xml": Reply(body=urlset(f"{server.origin}/1"), headers=XML),
        },
    )
    crawled = await beside(good, tmp_path, server)
    names = ("/endless.xml", "/endless.txt", "/bomb.xml.gz", "/coded.xml")
    for name in names:
        file = crawled.file(server.origin + name)
        assert (file["status"], file["reason"], file["listed"]) == ("failed", "too_large", 0), name
        assert file["unpackedBytes"] <= LIMIT
        assert file["bytes"] <= LIMIT + 1_048_576
        assert server.paths().count(name) == 1
    assert [url for url in crawled.urls if url.startswith(server.origin)] == [f"{server.origin}/1"]
    assert len(crawled.skips(reason="too_large")) == len(names)
    assert entry_of(crawled, server)["status"] == "partial"


async def test_memory_stays_flat_while_a_body_has_no_end(good: Site, site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    zeros = gzip.compress(b" " * 10_000_000, 9)
    publish(server, {"/bomb.xml.gz": Script(head(content_type="application/gzip"), Forever(zeros))})
    tracemalloc.start()
    try:
        await beside(good, tmp_path, server)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 24 * 1_048_576


async def test_drips_end_with_the_time_for_the_whole_file(good: Site, site: SiteFactory, tmp_path: Path) -> None:
    body, header, robots = site(), site("127.0.0.2"), site("127.0.0.3")
    publish(body, {"/a.xml": Script(head(**TYPE), Slowly(urlset(f"{body.origin}/1").encode(), 0.1))})
    publish(header, {"/a.xml": Script(b"HTTP/1.1 200 OK\r\n", Slowly(b"X-A: b\r\n" * 500, 0.1))})
    robots.routes["/robots.txt"] = Script(
        head(content_type="text/plain"), Slowly(b"User-agent: *\nAllow: /\n" * 9, 0.1)
    )
    crawled = await beside(good, tmp_path, body, header, robots, tryCommonPaths="false")
    for server in (body, header):
        file = crawled.file(f"{server.origin}/a.xml")
        assert (file["status"], file["reason"]) == ("failed", "timeout")
        assert server.paths() == ["/robots.txt", "/a.xml", "/a.xml"]
    assert robots.paths() == ["/robots.txt"] * 2
    assert entry_of(crawled, robots)["status"] == "skipped"
    assert {skip["reason"] for skip in crawled.skipped} == {"timeout"}


async def test_a_body_that_stops_keeps_what_came_and_is_never_whole(
    good: Site, site: SiteFactory, tmp_path: Path
) -> None:
    server = site()
    some = b"<urlset>" + b"".join(page(server, f"/{number}") for number in range(50))
    publish(server, {"/a.xml": Script(head(length=99_999, **TYPE), some, HANG)})
    crawled = await beside(good, tmp_path, server)
    file = crawled.file(f"{server.origin}/a.xml")
    assert (file["status"], file["reason"], file["listed"]) == ("partial", "timeout", 50)
    assert server.paths() == ["/robots.txt", "/a.xml", "/a.xml"]
    (skip,) = crawled.skipped
    assert (skip["stage"], skip["reason"]) == ("sitemap", "timeout")


async def test_headers_that_never_end(good: Site, site: SiteFactory, tmp_path: Path) -> None:
    server, robots = site(), site("127.0.0.2")
    publish(
        server,
        {
            "/many.xml": Script(b"HTTP/1.1 200 OK\r\n", Forever(b"X-Header: value\r\n" * 100)),
            "/long.xml": Script(b"HTTP/1.1 200 OK\r\nX-Header: ", Forever(b"x" * 65_536)),
            "/status.xml": Script(Forever(b"HTTP/1.1 200 OK ")),
            "/fine.xml": Reply(body=urlset(f"{server.origin}/1"), headers=XML),
        },
    )
    robots.routes["/robots.txt"] = Script(b"HTTP/1.1 200 OK\r\n", Forever(b"X-Header: value\r\n" * 100))
    crawled = await beside(good, tmp_path, server, robots)
    for name in ("/many.xml", "/long.xml", "/status.xml"):
        assert told(crawled, server.origin + name) == ("failed", "network_error"), name
    assert told(crawled, server.origin + "/fine.xml") == ("ok", None)
    assert entry_of(crawled, robots)["status"] == "skipped"
    assert crawled.report["counts"]["bytesReceived"] < 1_000_000


async def test_a_thousand_redirects(good: Site, site: SiteFactory, tmp_path: Path) -> None:
    server, robots = site(), site("127.0.0.2")

    def onward(seen: Seen) -> Reply:
        number = int(seen.path.rpartition("/")[2] or 0)
        return Reply(302, headers={"Location": f"/hop/{number + 1}"})

    server.fallback = robots.fallback = onward
    robots.routes["/robots.txt"] = Reply(301, headers={"Location": "/hop/0"})
    publish(server, {"/a.xml": Reply(301, headers={"Location": "/hop/0"})})
    crawled = await beside(good, tmp_path, server, robots, tryCommonPaths="false")
    assert server.paths() == ["/robots.txt", "/a.xml", *(f"/hop/{number}" for number in range(5))]
    assert robots.paths() == ["/robots.txt", *(f"/hop/{number}" for number in range(5))]
    assert told(crawled, f"{server.origin}/a.xml") == ("failed", "too_many_redirects")
    assert {skip["reason"] for skip in crawled.skipped} == {"too_many_redirects"}


async def test_every_index_names_a_new_one_wide_and_deep(good: Site, site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/i/0")

    def ever_more(seen: Seen) -> Reply:
        entries = (f"<sitemap><loc>{server.origin}{seen.path}/{number}</loc></sitemap>" for number in range(30))
        return Reply(body=INDEX.format("".join(entries)), headers=XML)

    server.fallback = ever_more
    crawled = await beside(good, tmp_path, server, maxSitemaps="60", maxSitemapDepth="10")
    asked = [path for path in server.paths() if path.startswith("/i/")]
    assert len(asked) == len(set(asked)) == 59
    entry = entry_of(crawled, server)
    assert entry["status"] == "truncated"
    assert sum(file["status"] == "ok" for file in entry["sitemaps"]) == 59
    assert sum(file["status"] == "skipped" for file in entry["sitemaps"]) + entry["unreadFiles"] == 59 * 30 - 58
    assert set(crawled.report["skipsByReason"]) == {"max_sitemaps"}


async def test_5000_hosts_in_one_sitemap(good: Site, site: SiteFactory, tmp_path: Path) -> None:
    asked: list[str] = []

    def lookup(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.8"]

    server, farm = site(), site("127.0.0.8")
    pages = [f"http://host{number}.example.com:{farm.port}/page" for number in range(5_000)]
    publish(server, {"/a.xml": Reply(body=urlset(*pages), headers=XML)})
    settings = QUICK | {"SITEMAP_RESOLVER": lookup}
    crawled = await crawl(
        tmp_path, settings, sites=[server.origin, f"http://good.example.com:{good.port}"], maxUrls="9999"
    )
    assert crawled.report["result"] == "finished"
    assert crawled.urls == pages[:25]
    assert farm.paths() == ["/robots.txt"] * 25
    assert crawled.report["counts"]["skipped"] == 4_975
    assert crawled.report["skipsByReason"]["max_hosts"] == 4_975
    assert len(crawled.report["hosts"]) == 27
    assert "4,975 URLs are on hosts past the 25 beyond the sites." in crawled.report["message"]


async def test_a_thousand_hosts_as_children_of_one_index(good: Site, site: SiteFactory, tmp_path: Path) -> None:
    server, farm = site(), site("127.0.0.8")
    settings = QUICK | {"SITEMAP_RESOLVER": lambda _host, _port: ["127.0.0.8"]}
    farm.fallback = lambda seen: Reply(body=urlset(f"http://{seen.host}/1"), headers=XML)
    farm.routes["/robots.txt"] = Reply(404)
    children = [f"http://host{number}.example.com:{farm.port}/s.xml" for number in range(1_000)]
    serve_robots(server, f"Sitemap: {server.origin}/index.xml")
    serve_index(server, "/index.xml", *children)
    crawled = await crawl(tmp_path, settings, sites=server.origin, maxSitemaps="5000")
    assert crawled.urls == [child.replace("/s.xml", "/1") for child in children[:25]]
    assert farm.paths().count("/robots.txt") == farm.paths().count("/s.xml") == 25
    assert crawled.report["skipsByReason"] == {"max_hosts": 975}
    assert good.requests == []


STAGES: dict[str, Any] = {
    "before an answer": Script(RESET),
    "in the status line": Script(b"HTTP/1.1 2", RESET),
    "in the headers": Script(b"HTTP/1.1 200 OK\r\nContent-Ty", RESET),
    "after the headers": Script(head(length=500, **TYPE), RESET),
    "in the body": Script(head(length=500, **TYPE), b"<urlset><url>", RESET),
    "in a chunk": Script(head(transfer_encoding="chunked", **TYPE), b"50\r\n<urlset>", RESET),
    "in a body without a length": Script(head(**TYPE), b"<urlset><url>", RESET),
    "closed before an answer": Script(CLOSE),
    "closed in the headers": Script(b"HTTP/1.1 200 OK\r\nContent-Ty", CLOSE),
}


async def test_a_reset_at_each_stage_of_a_sitemap(good: Site, site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    publish(
        server,
        {f"/{number}.xml": answer for number, answer in enumerate(STAGES.values())}
        | {"/fine.xml": Reply(body=urlset(f"{server.origin}/1"), headers=XML)},
    )
    crawled = await beside(good, tmp_path, server)
    for number, stage in enumerate(STAGES):
        status, reason = told(crawled, f"{server.origin}/{number}.xml")
        assert (status in {"failed", "partial"}, reason) == (True, "network_error"), stage
        assert server.paths().count(f"/{number}.xml") == 2, stage
    assert [url for url in crawled.urls if url.startswith(server.origin)] == [f"{server.origin}/1"]
    assert crawled.report["skipsByReason"] == {"network_error": len(STAGES)}


async def test_a_reset_at_each_stage_of_robots_txt(good: Site, site: SiteFactory, tmp_path: Path) -> None:
    servers = {stage: site() for stage in STAGES}
    for stage, server in servers.items():
        server.routes["/robots.txt"] = STAGES[stage]
        serve(server, "/sitemap.xml", "/1")
    crawled = await beside(good, tmp_path, *servers.values())
    for stage, server in servers.items():
        assert server.paths() == ["/robots.txt"] * 2, stage
        stages = {(skip["stage"], skip["reason"]) for skip in crawled.skips(site=server.origin)}
        assert stages == {("robots.txt", "network_error"), ("site", "network_error")}, stage


@pytest.fixture
def deaf() -> Iterator[DeafPort]:
    with DeafPort() as port:
        yield port


async def test_a_host_that_accepts_no_connection(good: Site, deaf: DeafPort, tmp_path: Path) -> None:
    settings = QUICK
    silent = f"http://{deaf.host}:{deaf.port}"
    crawled = await crawl(tmp_path, settings, sites=[silent, good.origin], maxUrls="5000")
    assert len(crawled.rows) == len(PAGES)
    assert {(skip["stage"], skip["reason"]) for skip in crawled.skips(site=silent)} == {
        ("robots.txt", "timeout"),
        ("site", "timeout"),
    }


async def test_many_dead_sites_hold_up_nobody(good: Site, site: SiteFactory, tmp_path: Path) -> None:
    dead = [site() for _ in range(12)]  # more than are read at once
    for server in dead:
        server.routes["/robots.txt"] = Script(HANG)
    crawled = await beside(good, tmp_path, *dead)
    assert {entry_of(crawled, server)["status"] for server in dead} == {"skipped"}
    assert len(crawled.skips(stage="site", reason="timeout")) == len(dead)


async def test_xml_made_to_exhaust_a_parser(good: Site, site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    one = page(server, "/before")
    publish(
        server,
        {
            "/deep.xml": Reply(body=b"<urlset>" + one + b"<a>" * 200_000, headers=XML),
            "/names.xml": Reply(body=b"<urlset>" + one + b"".join(b"<n%d/>" % n for n in range(60_000)), headers=XML),
            "/token.xml": Reply(body=b"<urlset>" + one + b"<a b='" + b"x" * 3_000_000, headers=XML),
            "/text.xml": Reply(body=b"<urlset>" + one + b"<url><loc>" + b"x" * 3_000_000 + b"</loc></url></urlset>"),
            "/bomb.xml": Reply(
                body=b'<!DOCTYPE a [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><urlset><url><loc>&b;</loc></url>'
            ),
            "/line.txt": Reply(body=f"{server.origin}/line\n".encode() + b"http://" + b"x" * 3_000_000),
        },
    )
    crawled = await beside(good, tmp_path, server)
    mine = {url for url in crawled.urls if url.startswith(server.origin)}
    assert mine == {f"{server.origin}/before", f"{server.origin}/line"}
    got = {path: told(crawled, server.origin + path) for path in server.routes if path != "/robots.txt"}
    assert got == {
        "/deep.xml": ("partial", "malformed"),
        "/names.xml": ("partial", "malformed"),
        "/token.xml": ("partial", "malformed"),
        "/text.xml": ("ok", None),
        "/bomb.xml": ("failed", "unsafe_xml"),
        "/line.txt": ("ok", None),
    }
    assert len((crawled.records / "SKIPPED.json").read_bytes()) < 400_000
