"""Monitor mode, end to end: real crawls of loopback sites over several days."""

import csv
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from scrapy.crawler import Crawler

from sitemap_actor import settings as project
from sitemap_actor import signals
from sitemap_actor.core.report import StopReason
from sitemap_actor.run import run_of
from tests.spider.conftest import SiteFactory
from tests.spider.helpers import URLSET, XML, Crawled, crawl, serve, serve_index, serve_robots
from tests.spider.server import Reply, Seen, Site


async def monitor(folder: Path, site: Site, **given: Any) -> Crawled:
    settings = {"SITEMAP_LEASE_WAIT_SECS": 0, **given.pop("settings", {})}
    return await crawl(folder, settings, mode="monitor", sites=given.pop("sites", site.origin), **given)


def changes(crawled: Crawled) -> dict[str, str]:
    return {row["url"].split("/", 3)[3]: row["changeType"] for row in crawled.rows}


def summary(crawled: Crawled) -> dict[str, Any]:
    (site,) = crawled.record("SUMMARY")["sites"]
    return site


async def test_two_days(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/index.xml")
    serve_index(server, "/index.xml", "/a.xml", "/b.xml")
    serve(server, "/a.xml", "/1", "/2", "/3", lastmod="2026-01-01")
    serve(server, "/b.xml", "/b/4", "/b/5", "/1", lastmod="2026-01-02")
    first = await monitor(tmp_path, server)
    assert set(changes(first).values()) == {"baseline"}
    assert len(first.rows) == 5
    assert first.report["counts"]["duplicates"] == 1
    row = next(row for row in first.rows if row["url"].endswith("/1"))
    assert (row["lastmod"], row["sourceSitemap"]) == ("2026-01-02", f"{server.origin}/b.xml")
    assert list(row) == [
        "url", "lastmod", "changefreq", "priority", "sourceSitemap", "site", "fetchedAt",
        "changeType", "previousLastmod", "firstSeenAt",
    ]  # fmt: skip

    again = await monitor(tmp_path, server)
    assert again.rows == []
    assert again.report["counts"]["unchanged"] == 5
    assert summary(again)["status"] == "ok"

    serve(server, "/a.xml", "/1", "/2", "/6", lastmod="2026-01-01")
    serve(server, "/b.xml", "/b/4", "/b/5", "/1", lastmod="2026-03-03")
    third = await monitor(tmp_path, server)
    assert changes(third) == {"3": "removed", "6": "new", "1": "modified", "b/4": "modified", "b/5": "modified"}
    assert summary(third)["sections"] == {
        "/b": {"new": 0, "removed": 0, "modified": 2},
        "/3": {"new": 0, "removed": 1, "modified": 0},
        "/6": {"new": 1, "removed": 0, "modified": 0},
        "/1": {"new": 0, "removed": 0, "modified": 1},
    }
    assert third.record("SUMMARY")["totals"] == {
        "baseline": 0, "new": 1, "removed": 1, "modified": 3, "existing": 0, "unchanged": 1, "held": 0, "deferred": 0,
    }  # fmt: skip
    assert (await monitor(tmp_path, server)).rows == []


async def test_a_failed_child_holds_removals(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml", f"Sitemap: {server.origin}/b.xml")
    serve(server, "/a.xml", "/1", "/2")
    serve(server, "/b.xml", "/3")
    await monitor(tmp_path, server)
    serve(server, "/a.xml", "/1")
    server.routes["/b.xml"] = Reply(404)
    second = await monitor(tmp_path, server)
    assert second.rows == []
    entry = summary(second)
    assert entry["status"] == "partial"
    assert entry["flags"] == ["removalsHeld"]
    assert entry["counts"]["heldRemovals"] == 1
    assert {item["url"]: item["failedRuns"] for item in entry["sitemaps"]} == {
        f"{server.origin}/a.xml": 0,
        f"{server.origin}/b.xml": 1,
    }
    assert (await monitor(tmp_path, server)).rows == []
    assert changes(await monitor(tmp_path, server)) == {"2": "removed", "3": "removed"}


def _conditional(server: Site, path: str, body: str, *, etag: str | None = None, modified: str | None = None) -> None:
    headers = XML | ({"ETag": etag} if etag else {}) | ({"Last-Modified": modified} if modified else {})

    def answer(seen: Seen) -> Reply:
        hit = (etag and seen.headers.get("if-none-match") == etag) or (
            modified and seen.headers.get("if-modified-since") == modified
        )
        return Reply(304, headers=headers) if hit else Reply(body=body, headers=headers)

    server.routes[path] = answer


def _urlset(server: Site, *paths: str) -> str:
    return URLSET.format("".join(f"<url><loc>{server.origin}{path}</loc></url>" for path in paths))


@pytest.mark.parametrize(
    "validators",
    [{"etag": '"v1"'}, {"etag": 'W/"v1"'}, {"modified": "Mon, 02 Mar 2026 10:00:00 GMT"}],
)
async def test_unchanged_files_are_asked_for_with_validators(
    site: SiteFactory, tmp_path: Path, validators: dict[str, str]
) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    _conditional(server, "/a.xml", _urlset(server, "/1", "/2", "/users/joe"), **validators)
    await monitor(tmp_path, server)
    second = await monitor(tmp_path, server)
    assert second.rows == []
    assert second.report["counts"]["notModified"] == 1
    assert second.report["counts"]["listed"] == 3
    assert second.report["counts"]["unchanged"] == 2
    assert summary(second)["counts"]["profilePagesSkipped"] == 1
    assert second.file(f"{server.origin}/a.xml")["status"] == "unchanged"
    # Verdicts are formed anew on what is remembered.
    serve_robots(server, "User-agent: *", "Disallow: /2", f"Sitemap: {server.origin}/a.xml")
    third = await monitor(tmp_path, server, includeExisting="true")
    assert changes(third) == {"1": "existing"}
    assert third.report["counts"]["disallowed"] == 1
    # Other settings: the file is read in full.
    fourth = await monitor(tmp_path, server, includeProfileUrls="true")
    assert fourth.report["counts"]["notModified"] == 0
    assert changes(fourth) == {"users/joe": "baseline"}


async def test_children_of_an_unchanged_index_are_asked_for_all_the_same(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/index.xml")
    index = f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>{server.origin}/a.xml</loc></sitemap></sitemapindex>'
    _conditional(server, "/index.xml", index, etag='"i"')
    serve(server, "/a.xml", "/1")
    await monitor(tmp_path, server)
    serve(server, "/a.xml", "/1", "/2")
    second = await monitor(tmp_path, server)
    assert second.report["counts"]["notModified"] == 1
    assert changes(second) == {"2": "new"}


async def test_a_304_nobody_asked_for_is_a_failure(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    serve(server, "/a.xml", "/1")
    await monitor(tmp_path, server)
    server.routes["/a.xml"] = Reply(304)
    second = await monitor(tmp_path, server)
    assert second.rows == []
    assert second.file(f"{server.origin}/a.xml")["reason"] == "http_error"


async def test_every_tenth_run_reads_in_full(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    _conditional(server, "/a.xml", _urlset(server, "/1"), etag='"stuck"')
    await monitor(tmp_path, server)
    _conditional(server, "/a.xml", _urlset(server, "/1", "/2"), etag='"stuck"')
    found = [changes(await monitor(tmp_path, server)) for _ in range(9)]
    assert found == [{}] * 8 + [{"2": "new"}]


async def test_truncated_site(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    serve(server, "/a.xml", *(f"/{number}" for number in range(30)))
    first = await monitor(tmp_path, server, maxUrlsPerSite="20")
    assert len(first.rows) == 20
    assert summary(first)["status"] == "truncated"
    assert summary(first)["flags"] == ["truncated"]
    second = await monitor(tmp_path, server)
    assert set(changes(second).values()) == {"baseline"}
    assert len(second.rows) == 10


async def test_changes_past_max_changes_come_next_time(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    serve(server, "/a.xml", "/0")
    await monitor(tmp_path, server)
    serve(server, "/a.xml", *(f"/{number}" for number in range(8)))
    second = await monitor(tmp_path, server, maxChanges="3")
    assert changes(second) == {"1": "new", "2": "new", "3": "new"}
    assert second.report["counts"]["deferred"] == 4
    assert len((await monitor(tmp_path, server)).rows) == 4


async def test_profile_sitemaps_are_left_out_and_named(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/index.xml")
    serve_index(server, "/index.xml", "/a.xml", "/sitemap-authors1.xml")
    serve(server, "/a.xml", "/1", "/2")
    serve(server, "/sitemap-authors1.xml", "/by/jo")
    first = await monitor(tmp_path, server)
    assert "/sitemap-authors1.xml" not in server.paths()
    assert summary(first)["status"] == "ok"
    assert f"{server.origin}/sitemap-authors1.xml" in [item["url"] for item in summary(first)["sitemaps"]]
    serve(server, "/a.xml", "/1")
    assert changes(await monitor(tmp_path, server)) == {"2": "removed"}
    assert changes(await monitor(tmp_path, server, includeProfileUrls="true")) == {"by/jo": "baseline"}
    assert (await monitor(tmp_path, server)).rows == []


def _head(folder: Path) -> Path:
    (head,) = (folder / "storage" / "state" / "default").glob("*-head")
    return head


@pytest.mark.parametrize("damage", ["cut", "garbage", "newer", "foreign", "lost_shard", "lost_head", "bad_shard"])
async def test_a_state_that_cannot_be_read_is_kept_aside_and_told(
    site: SiteFactory, tmp_path: Path, damage: str
) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    serve(server, "/a.xml", "/1", "/2")
    await monitor(tmp_path, server)
    head = _head(tmp_path)
    body = head.read_bytes()
    (shard,) = head.parent.glob("*-g*")
    match damage:
        case "cut":
            head.write_bytes(body[:-20])
        case "garbage":
            head.write_bytes(b"not a state")
        case "newer" | "foreign":
            import zlib

            old, new = (b'"version":1', b'"version":99') if damage == "newer" else (b"127.0.0.1", b"127.0.0.9")
            head.write_bytes(zlib.compress(zlib.decompress(body).replace(old, new, 1)))
        case "lost_shard":
            shard.unlink()
        case "lost_head":
            head.unlink()
        case "bad_shard":
            shard.write_bytes(shard.read_bytes()[:-1] + b"x")
    damaged = head.read_bytes() if head.exists() else None
    second = await monitor(tmp_path, server)
    assert second.rows == []
    assert "stateWasInvalid" in summary(second)["flags"]
    assert "could not be read" in second.report["message"]
    aside = [path.read_bytes() for path in head.parent.glob("*-aside-*")]
    assert damaged is None or aside == [damaged]
    if damage != "lost_shard":
        assert shard.exists()
    serve(server, "/a.xml", "/1", "/2", "/3")
    third = await monitor(tmp_path, server)
    assert changes(third) == {"3": "new"}
    assert summary(third)["flags"] == []


async def test_two_sites_of_one_host_have_states_of_their_own(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    serve(server, "/a.xml", "/1")
    sites = f"{server.origin},{server.origin}/a.xml"
    first = await monitor(tmp_path, server, sites=sites)
    assert [row["changeType"] for row in first.rows] == ["baseline", "baseline"]
    serve(server, "/a.xml", "/1", "/2")
    assert len((await monitor(tmp_path, server, sites=sites)).rows) == 2


async def test_M18_state_in_use(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    serve(server, "/a.xml", "/1")
    folder = tmp_path / "storage" / "state" / "default"
    folder.mkdir(parents=True)
    import time

    claim = {"run": "other-machine:1:2", "renewedAt": time.time(), "holds": True}
    (folder / "lease-other").write_text(json.dumps(claim))
    refused = await monitor(tmp_path, server)
    assert server.requests == []
    assert (refused.report["result"], refused.report["stopReason"]) == ("stopped_early", "state_in_use")
    assert refused.rows == []
    claim["renewedAt"] = time.time() - 301
    (folder / "lease-other").write_text(json.dumps(claim))
    assert len((await monitor(tmp_path, server)).rows) == 1
    assert list(folder.glob("lease-*")) == []


async def test_a_feed_that_could_not_be_stored_leaves_the_state_as_it_was(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    serve(server, "/a.xml", "/1")
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    feeds = {"FEEDS": {str(blocked / "rows.jsonl"): {"format": "jsonlines"}}}
    try:
        await monitor(tmp_path, server, settings=feeds)
    except Exception:
        pass
    assert changes(await monitor(tmp_path, server)) == {"1": "baseline"}


async def test_patterns_and_robots_silence_pages(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, "User-agent: *", "Disallow: /2", f"Sitemap: {server.origin}/a.xml")
    serve(server, "/a.xml", "/1", "/2", "/3")
    first = await monitor(tmp_path, server, excludeUrlPatterns="*/3")
    assert changes(first) == {"1": "baseline"}
    counts = first.report["counts"]
    assert (counts["disallowed"], counts["filteredByPattern"], counts["rememberedSilently"]) == (1, 1, 1)
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    assert changes(await monitor(tmp_path, server)) == {"2": "baseline", "3": "baseline"}
    assert (await monitor(tmp_path, server, excludeUrlPatterns="*/3")).rows == []


async def test_extensions_are_printed_and_remembered(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    body = URLSET.replace("<urlset ", '<urlset xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" ').format(
        f"<url><loc>{server.origin}/1</loc><image:image><image:loc>{server.origin}/i.png</image:loc></image:image></url>"
    )
    _conditional(server, "/a.xml", body, etag='"e"')
    first = await monitor(tmp_path, server, extensions="images")
    images = first.rows[0]["images"]
    assert images
    second = await monitor(tmp_path, server, extensions="images", includeExisting="true")
    assert second.report["counts"]["notModified"] == 1
    assert [(row["changeType"], row["images"]) for row in second.rows] == [("existing", images)]


async def test_a_site_that_vanished_keeps_its_state(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    serve(server, "/a.xml", "/1")
    await monitor(tmp_path, server)
    server.routes["/robots.txt"] = Reply(503)
    gone = await monitor(tmp_path, server, settings={"SITEMAP_RETRY_DELAY_FACTOR": 0.0})
    assert gone.rows == []
    assert summary(gone)["status"] == "skipped"
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    assert (await monitor(tmp_path, server)).rows == []


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "xml"])
async def test_rows_in_every_format(site: SiteFactory, tmp_path: Path, ending: str) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    serve(server, "/a.xml", "/1", "/ü,\"'", lastmod="2026-01-01")
    feed = tmp_path / f"rows.{ending}"
    kind = "jsonlines" if ending == "jsonl" else ending
    await monitor(tmp_path, server, settings={"FEEDS": {str(feed): {"format": kind}}})
    text = feed.read_text()
    if ending == "csv":
        rows = list(csv.DictReader(text.splitlines()))
    elif ending == "xml":
        rows = [{cell.tag: cell.text or "" for cell in item} for item in ET.fromstring(text)]
    else:
        rows = json.loads(text) if ending == "json" else [json.loads(line) for line in text.splitlines()]
    assert [row["url"] for row in rows] == [f"{server.origin}/1", f"{server.origin}/ü,\"'"]
    assert {row["changeType"] for row in rows} == {"baseline"}
    if ending != "xml":  # which has no empty value
        assert {row["previousLastmod"] or None for row in rows} == {None}


class StopAfterFirstFile:
    """Ends the run as an abort does, as soon as a file was read."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "StopAfterFirstFile":
        extension = cls()
        extension.run = run_of(crawler)
        crawler.signals.connect(extension.file_read, signal=signals.file_read)
        return extension

    def file_read(self) -> None:
        self.run.stop(StopReason.ABORTED)


async def test_an_aborted_run_tells_what_it_read_and_the_next_one_the_rest(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, *(f"Sitemap: {server.origin}/{name}.xml" for name in "abcde"))
    for name in "abcde":
        serve(server, f"/{name}.xml", *(f"/{name}/{number}" for number in range(5)))
    extensions = {**project.EXTENSIONS, "tests.spider.test_monitor.StopAfterFirstFile": 99}
    first = await monitor(tmp_path, server, settings={"EXTENSIONS": extensions})
    assert first.report["stopReason"] == "aborted"
    assert 5 <= len(first.rows) < 25
    assert set(changes(first).values()) == {"baseline"}
    assert summary(first)["status"] == "truncated"
    second = await monitor(tmp_path, server)
    assert set(changes(second).values()) == {"baseline"}
    assert len(first.rows) + len(second.rows) == 25
    assert (await monitor(tmp_path, server)).rows == []
