"""Monitor mode against sites that change in awkward ways: what may never become a change, and what must."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.spider.conftest import SiteFactory
from tests.spider.helpers import INDEX, QUICK, URLSET, XML, Crawled, crawl, serve_index, serve_robots
from tests.spider.server import Reply, Seen, Site

Pages = dict[str, str | None]


async def monitor(folder: Path, *servers: Site, settings: dict[str, Any] | None = None, **given: Any) -> Crawled:
    given = {"sites": ",".join(server.origin for server in servers), **given}
    return await crawl(folder, {"SITEMAP_LEASE_WAIT_SECS": 0, **QUICK, **(settings or {})}, mode="monitor", **given)


def changes(crawled: Crawled) -> dict[str, str]:
    found = {row["url"].split("/", 3)[3]: row["changeType"] for row in crawled.rows}
    assert len(found) == len(crawled.rows), "a page has two rows"
    return found


def kinds(crawled: Crawled) -> dict[str, int]:
    return dict(Counter(row["changeType"] for row in crawled.rows))


def flags(crawled: Crawled) -> list[str]:
    (site,) = crawled.record("SUMMARY")["sites"]
    return list(site["flags"])


def text(server: Site, pages: Pages, *, namespace: str = "") -> str:
    entries = "".join(
        f"<url><loc>{server.origin}{path}</loc>{f'<lastmod>{date}</lastmod>' if date else ''}</url>"
        for path, date in pages.items()
    )
    return URLSET.replace("<urlset", f"<urlset {namespace}").format(entries)


def put(server: Site, path: str, *pages: str, lastmod: str | None = None, **dated: str | None) -> None:
    listed: Pages = dict.fromkeys(pages, lastmod) | {f"/{name}": date for name, date in dated.items()}
    server.routes[path] = Reply(body=text(server, listed), headers=XML)


def put_tagged(server: Site, path: str, body: str) -> None:
    """Serve with an ETag of the body's own, and 304 where it is asked for."""
    tag = f'"{hash(body)}"'

    def answer(seen: Seen) -> Reply:
        headers = XML | {"ETag": tag}
        return Reply(304, headers=headers) if seen.headers.get("if-none-match") == tag else Reply(200, body, headers)

    server.routes[path] = answer


def index_text(server: Site, *paths: str) -> str:
    return INDEX.format("".join(f"<sitemap><loc>{server.origin}{path}</loc></sitemap>" for path in paths))


def numbered(count: int, stem: str = "p") -> list[str]:
    return [f"/{stem}{number}" for number in range(count)]


def robots(server: Site, *paths: str, rules: Sequence[str] = ()) -> None:
    serve_robots(server, *rules, *(f"Sitemap: {server.origin}{path}" for path in paths))


# --- files that come, go and move


async def test_a_file_that_an_index_dropped_is_not_asked_for_while_the_index_is_unchanged(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site()
    robots(server, "/index.xml")
    put_tagged(server, "/index.xml", index_text(server, "/a.xml", "/b.xml"))
    put(server, "/a.xml", "/1")
    put(server, "/b.xml", "/2")
    await monitor(tmp_path, server)
    put_tagged(server, "/index.xml", index_text(server, "/a.xml"))
    found = [changes(await monitor(tmp_path, server)) for _ in range(4)]
    assert found == [{}, {}, {"2": "removed"}, {}]


async def test_pages_that_move_while_one_file_fails(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml", "/b.xml")
    put(server, "/a.xml", "/1", "/2", "/3")
    put(server, "/b.xml", "/4")
    await monitor(tmp_path, server)
    put(server, "/a.xml", "/1", "/2")  # 3 moved to b, which fails today
    server.routes["/b.xml"] = Reply(503)
    assert (await monitor(tmp_path, server)).rows == []
    put(server, "/b.xml", "/4", "/3")
    assert (await monitor(tmp_path, server)).rows == []


async def test_a_file_that_redirects_to_another(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml", "/b.xml")
    put(server, "/a.xml", *numbered(4))
    put(server, "/b.xml", "/x")
    await monitor(tmp_path, server)
    put(server, "/b.xml", "/x", *numbered(4))
    server.routes["/a.xml"] = Reply(301, headers={"Location": "/b.xml"})
    assert (await monitor(tmp_path, server)).rows == []
    robots(server, "/a.xml")
    assert [(await monitor(tmp_path, server)).rows for _ in range(4)] == [[]] * 4
    put(server, "/b.xml", "/x", *numbered(3))
    assert changes(await monitor(tmp_path, server)) == {"p3": "removed"}


async def test_M07_a_sitemap_whose_name_changes_every_day(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/map-0.xml")
    put(server, "/map-0.xml", *numbered(5), "/only-0")
    assert kinds(await monitor(tmp_path, server)) == {"baseline": 6}
    for day in range(1, 6):  # one was always dropped of late, which holds removals
        robots(server, f"/map-{day}.xml")
        del server.routes[f"/map-{day - 1}.xml"]
        put(server, f"/map-{day}.xml", *numbered(5), f"/only-{day}")
        assert changes(await monitor(tmp_path, server)) == {f"only-{day}": "new"}
    found = [changes(await monitor(tmp_path, server)) for _ in range(3)]
    assert found == [{}, {f"only-{day}": "removed" for day in range(5)}, {}]


async def test_M07_a_daily_name_that_rolls_holds_nothing_and_is_forgotten(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    known = []
    for day in range(7):
        robots(server, f"/map-{day}.xml")
        put(server, f"/map-{day}.xml", *numbered(5), f"/only-{day}")
        crawled = await monitor(tmp_path, server, rollingSitemaps="/map-")
        assert kinds(crawled) == ({"new": 1} if day else {"baseline": 6})
        assert "removalsHeld" not in flags(crawled)
        (entry,) = crawled.record("SUMMARY")["sites"]
        known.append(len(entry["sitemaps"]))
    assert known == [1, 2, 3, 4, 4, 4, 4]


async def test_an_index_that_goes_and_comes_back(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/index.xml")
    serve_index(server, "/index.xml", "/a.xml")
    put(server, "/a.xml", "/1", "/2")
    await monitor(tmp_path, server, tryCommonPaths="false")
    for answer in (Reply(404), Reply(503), Reply(200, "<html>sorry</html>"), Reply(404)):
        server.routes["/index.xml"] = answer
        assert (await monitor(tmp_path, server, tryCommonPaths="false")).rows == []
    robots(server)
    assert (await monitor(tmp_path, server, tryCommonPaths="false")).rows == []
    robots(server, "/index.xml")
    serve_index(server, "/index.xml", "/a.xml")
    put(server, "/a.xml", "/1", "/3")
    assert changes(await monitor(tmp_path, server, tryCommonPaths="false")) == {"3": "new", "2": "removed"}


async def test_a_robots_txt_that_disallows_a_sitemap_for_a_while(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml", "/b.xml")
    put(server, "/a.xml", "/1", "/2")
    put(server, "/b.xml", "/3")
    await monitor(tmp_path, server)
    robots(server, "/a.xml", "/b.xml", rules=["User-agent: *", "Disallow: /b.xml"])
    put(server, "/a.xml", "/1", "/4")
    assert [changes(await monitor(tmp_path, server)) for _ in range(5)] == [{"4": "new"}] + [{}] * 4
    robots(server, "/a.xml", "/b.xml")
    assert changes(await monitor(tmp_path, server)) == {"2": "removed"}


async def test_a_dead_sitemap_that_comes_back(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml", "/b.xml")
    put(server, "/a.xml", "/1")
    put(server, "/b.xml", "/2", "/3")
    await monitor(tmp_path, server)
    server.routes["/b.xml"] = Reply(404)
    found = [changes(await monitor(tmp_path, server)) for _ in range(4)]
    assert found == [{}, {}, {"2": "removed", "3": "removed"}, {}]
    cut = text(server, {"/2": None, "/3": None, "/4": None}).removesuffix("</urlset>")
    server.routes["/b.xml"] = Reply(body=cut, headers=XML)  # in part, so nothing is known of it yet
    second = await monitor(tmp_path, server)
    assert (second.rows, second.report["counts"]["held"]) == ([], 3)
    server.routes["/b.xml"] = Reply(503)
    assert (await monitor(tmp_path, server)).rows == []
    put(server, "/b.xml", "/2", "/3")
    assert changes(await monitor(tmp_path, server)) == {"2": "new", "3": "new"}
    server.routes["/b.xml"] = Reply(404)
    assert [(await monitor(tmp_path, server)).rows for _ in range(2)] == [[], []]


async def test_nothing_is_guessed_on_a_day_on_which_the_named_file_fails(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml")
    put(server, "/a.xml", "/1")
    put(server, "/sitemap.xml", "/old-1", "/old-2")
    await monitor(tmp_path, server)
    server.routes["/a.xml"] = Reply(503)
    assert (await monitor(tmp_path, server)).rows == []
    put(server, "/a.xml", "/1")
    assert [(await monitor(tmp_path, server)).rows for _ in range(4)] == [[]] * 4
    robots(server)
    assert [kinds(await monitor(tmp_path, server)) for _ in range(3)] == [{}, {}, {"removed": 1, "baseline": 2}]


# --- settings that change between runs


async def test_profile_sitemaps_behind_a_profile_index_are_a_baseline(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/index.xml")
    serve_index(server, "/index.xml", "/a.xml", "/authors/index.xml")
    serve_index(server, "/authors/index.xml", "/w1.xml")
    put(server, "/a.xml", "/1")
    put(server, "/w1.xml", "/by/jo", "/by/al")
    await monitor(tmp_path, server)
    assert kinds(await monitor(tmp_path, server, includeProfileUrls="true")) == {"baseline": 2}
    assert (await monitor(tmp_path, server)).rows == []
    put(server, "/w1.xml", "/by/jo", "/by/al", "/by/mo")
    assert changes(await monitor(tmp_path, server, includeProfileUrls="true")) == {"by/mo": "new"}


async def test_sitemaps_past_the_depth_are_a_baseline_when_it_is_raised(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/i0.xml")
    serve_index(server, "/i0.xml", "/a.xml")
    put(server, "/a.xml", "/1")
    await monitor(tmp_path, server)
    serve_index(server, "/i0.xml", "/a.xml", "/i1.xml")
    serve_index(server, "/i1.xml", "/i2.xml")
    serve_index(server, "/i2.xml", "/deep.xml")
    put(server, "/deep.xml", "/2")
    assert (await monitor(tmp_path, server, maxSitemapDepth="1")).rows == []
    assert changes(await monitor(tmp_path, server)) == {"2": "baseline"}


async def test_a_sitemap_that_the_input_adds_is_a_baseline(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml")
    put(server, "/a.xml", "/1")
    serve_index(server, "/more.xml", "/more-1.xml")
    put(server, "/more-1.xml", "/2")
    put(server, "/extra.xml", "/3")
    await monitor(tmp_path, server)
    extra = f"{server.origin}/extra.xml,{server.origin}/more.xml"
    assert changes(await monitor(tmp_path, server, sitemapUrls=extra)) == {"2": "baseline", "3": "baseline"}
    put(server, "/extra.xml", "/3", "/4")
    assert changes(await monitor(tmp_path, server, sitemapUrls=extra)) == {"4": "new"}
    assert [(await monitor(tmp_path, server)).rows for _ in range(4)] == [[]] * 4


async def test_M15_limits_lowered_and_raised(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml", "/b.xml")
    put(server, "/a.xml", *numbered(20, "a"))
    put(server, "/b.xml", *numbered(20, "b"))
    await monitor(tmp_path, server)
    assert (await monitor(tmp_path, server, maxUrlsPerSite="10")).rows == []
    put(server, "/b.xml", "/fresh", *numbered(19, "b"))
    assert (await monitor(tmp_path, server, maxUrlsPerSite="10")).rows == []
    assert (await monitor(tmp_path, server, maxSitemaps="1")).rows == []
    assert changes(await monitor(tmp_path, server)) == {"fresh": "new", "b19": "removed"}


async def test_M15_patterns_on_and_off(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml")
    put(server, "/a.xml", one="2026-01-01", two="2026-01-01")
    await monitor(tmp_path, server)
    put(server, "/a.xml", one="2026-01-01", two="2026-02-01", three="2026-02-01")
    only = {"includeUrlPatterns": "*/one"}
    assert (await monitor(tmp_path, server, **only)).rows == []
    put(server, "/a.xml", one="2026-01-01", three="2026-02-01")
    assert (await monitor(tmp_path, server, **only)).rows == []
    assert changes(await monitor(tmp_path, server)) == {"three": "baseline"}


async def test_a_new_state_key_is_a_new_baseline(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml")
    put(server, "/a.xml", "/1")
    await monitor(tmp_path, server)
    assert changes(await monitor(tmp_path, server, stateKey="other")) == {"1": "baseline"}
    put(server, "/a.xml", "/1", "/2")
    assert changes(await monitor(tmp_path, server)) == {"2": "new"}
    assert changes(await monitor(tmp_path, server, stateKey="other")) == {"2": "new"}


# --- rolling


NEWS = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'


async def test_a_rolling_sitemap_on_a_day_without_news_removes_nothing(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/latest.xml", "/a.xml")
    put(server, "/a.xml", "/1")
    news = "<news:news><news:title>t</news:title></news:news>"
    body = text(server, {"/s1": None, "/s2": None}, namespace=NEWS).replace("</url>", news + "</url>")
    server.routes["/latest.xml"] = Reply(body=body, headers=XML)
    await monitor(tmp_path, server)
    put(server, "/latest.xml")  # no entries, and so no use of the namespace
    assert [(await monitor(tmp_path, server)).rows for _ in range(4)] == [[]] * 4


async def test_a_sitemap_that_rolls_no_more_does_not_remove_what_aged_out(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/latest.xml")
    put(server, "/latest.xml", *numbered(6))
    await monitor(tmp_path, server, rollingSitemaps="latest")
    put(server, "/latest.xml", *numbered(5))
    assert (await monitor(tmp_path, server, rollingSitemaps="latest")).rows == []
    assert [(await monitor(tmp_path, server)).rows for _ in range(3)] == [[]] * 3
    put(server, "/latest.xml", *numbered(4))
    assert changes(await monitor(tmp_path, server)) == {"p4": "removed"}


async def test_a_feed_rolls(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/feed.xml")

    def rss(*paths: str) -> Reply:
        items = "".join(f"<item><link>{server.origin}{path}</link></item>" for path in paths)
        return Reply(body=f'<rss version="2.0"><channel>{items}</channel></rss>', headers=XML)

    server.routes["/feed.xml"] = rss("/1", "/2", "/3")
    await monitor(tmp_path, server)
    server.routes["/feed.xml"] = rss("/2", "/3", "/4")
    assert changes(await monitor(tmp_path, server)) == {"4": "new"}
    server.routes["/feed.xml"] = rss()
    assert [(await monitor(tmp_path, server)).rows for _ in range(3)] == [[]] * 3


# --- dates


@pytest.mark.parametrize("order", [("/a.xml", "/b.xml"), ("/b.xml", "/a.xml")])
async def test_one_page_in_two_files_of_different_dates(
    site: SiteFactory, tmp_path: Path, order: tuple[str, str]
) -> None:
    server = site()
    robots(server, *order)
    put(server, "/a.xml", p="2026-01-01")
    put(server, "/b.xml", p="2026-03-01")
    first = await monitor(tmp_path, server)
    assert [row["lastmod"] for row in first.rows] == ["2026-03-01"]
    put(server, "/a.xml", p="2026-02-01")
    assert (await monitor(tmp_path, server)).rows == []
    server.routes["/b.xml"] = Reply(503)
    put(server, "/a.xml", p="2026-02-15")
    assert (await monitor(tmp_path, server)).rows == []
    put(server, "/b.xml", p="2026-03-01")
    put(server, "/a.xml", p="2026-04-01")
    (row,) = (await monitor(tmp_path, server)).rows
    assert (row["changeType"], row["lastmod"], row["previousLastmod"]) == ("modified", "2026-04-01", "2026-03-01")


async def test_a_lastmod_that_flaps_between_two_servers(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml")
    put(server, "/a.xml", p="2026-01-02")
    await monitor(tmp_path, server)
    for date in ("2026-01-01", None, "2026-01-02", "2026-01-01T12:00:00Z", "2026-01-02T00:00:00+00:00", "2999-01-01"):
        put(server, "/a.xml", p=date)
        assert (await monitor(tmp_path, server)).rows == []


async def test_a_partial_deploy_stamp(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml")
    put(server, "/a.xml", *numbered(20), lastmod="2026-01-01")
    await monitor(tmp_path, server)
    stamped = dict.fromkeys((path[1:] for path in numbered(15)), "2026-05-05T10:00:00Z")
    rest = dict.fromkeys((path[1:] for path in numbered(20)[15:]), "2026-01-01")
    put(server, "/a.xml", **stamped | rest | {"p19": "2026-04-01"})
    second = await monitor(tmp_path, server)
    assert changes(second) == {"p19": "modified"}
    assert flags(second) == ["stampedLastmod"]
    assert (await monitor(tmp_path, server)).rows == []


# --- guards


async def test_shrink_guard_with_a_different_set_on_the_second_day(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml")
    put(server, "/a.xml", *numbered(20))
    await monitor(tmp_path, server)
    put(server, "/a.xml", *numbered(5))
    assert flags(await monitor(tmp_path, server)) == ["removalsHeld", "shrinkSuspected"]
    put(server, "/a.xml", *numbered(20)[3:9])
    assert set(changes(await monitor(tmp_path, server))) == {f"p{n}" for n in (0, 1, 2, *range(9, 20))}
    put(server, "/a.xml", *numbered(20)[3:9])
    assert (await monitor(tmp_path, server)).rows == []


async def test_an_empty_day_and_a_return(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml")
    put(server, "/a.xml", *numbered(20))
    await monitor(tmp_path, server)
    put(server, "/a.xml")
    assert (await monitor(tmp_path, server)).rows == []
    server.routes["/a.xml"] = Reply(500)
    assert (await monitor(tmp_path, server)).rows == []
    put(server, "/a.xml", *numbered(20))
    assert (await monitor(tmp_path, server)).rows == []


async def test_flapping_within_the_confirming_runs(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml")
    found = []
    for there in (True, False, True, False, True, False, False):
        put(server, "/a.xml", "/1", "/2", *(["/3"] if there else []))
        found.append(changes(await monitor(tmp_path, server, removalConfirmRuns="2")))
    assert found[1:] == [{}] * 5 + [{"3": "removed"}]


# --- several sites, limits on rows


async def test_max_changes_over_sites_and_runs_loses_and_doubles_nothing(site: SiteFactory, tmp_path: Path) -> None:
    servers = [site(), site("127.0.0.2")]
    for server in servers:
        robots(server, "/a.xml")
        put(server, "/a.xml", *numbered(6), lastmod="2026-01-01")
    await monitor(tmp_path, *servers)
    for server in servers:
        modified = dict.fromkeys(("p0", "p1"), "2026-02-01")
        same = dict.fromkeys(("p2", "p3"), "2026-01-01")
        put(server, "/a.xml", **modified | same | dict.fromkeys(("n0", "n1"), "2026-02-01"))
    found: Counter[tuple[str, str]] = Counter()
    for _ in range(5):
        crawled = await monitor(tmp_path, *servers, maxChanges="3")
        assert len(crawled.rows) <= 3
        found.update((row["url"], row["changeType"]) for row in crawled.rows)
    assert set(found.values()) == {1}
    assert Counter(kind for _url, kind in found) == {"new": 4, "modified": 4, "removed": 4}


async def test_a_direct_sitemap_and_its_host(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml", "/b.xml")
    put(server, "/a.xml", "/1")
    put(server, "/b.xml", "/2")
    both = f"{server.origin},{server.origin}/a.xml"
    assert kinds(await monitor(tmp_path, sites=both)) == {"baseline": 3}
    put(server, "/a.xml", "/2")
    put(server, "/b.xml", "/1")  # they changed places: nothing for the host
    second = await monitor(tmp_path, sites=both)
    by_site = {site["entry"]: site["counts"] for site in second.record("SUMMARY")["sites"]}
    assert (by_site[f"{server.origin}/"]["new"], by_site[f"{server.origin}/"]["removed"]) == (0, 0)
    assert kinds(second) == {"new": 1, "removed": 1}


async def test_a_direct_index_and_its_children(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server)
    serve_index(server, "/index.xml", "/a.xml", "/b.xml")
    put(server, "/a.xml", "/1")
    put(server, "/b.xml", "/2")
    sites = f"{server.origin}/index.xml"
    await monitor(tmp_path, sites=sites)
    serve_index(server, "/index.xml", "/a.xml", "/c.xml")
    put(server, "/c.xml", "/3")
    found = [changes(await monitor(tmp_path, sites=sites)) for _ in range(4)]
    assert found == [{"3": "new"}, {}, {"2": "removed"}, {}]


# --- validators


async def test_a_body_that_changes_under_one_etag(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml")
    server.routes["/a.xml"] = Reply(body=text(server, {"/1": None}), headers=XML | {"ETag": '"same"'})
    await monitor(tmp_path, server)
    server.routes["/a.xml"] = Reply(body=text(server, {"/1": None, "/2": None}), headers=XML | {"ETag": '"same"'})
    assert changes(await monitor(tmp_path, server)) == {"2": "new"}


async def test_unchanged_files_while_another_fails_and_pages_wait(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/index.xml")
    put_tagged(server, "/index.xml", index_text(server, "/a.xml", "/b.xml"))
    put_tagged(server, "/a.xml", text(server, {"/1": None, "/2": None, "/3": None}))
    put_tagged(server, "/b.xml", text(server, {"/4": None}))
    await monitor(tmp_path, server)
    put_tagged(server, "/a.xml", text(server, {"/1": None, "/5": None, "/6": None}))
    tagged = server.routes["/b.xml"]
    server.routes["/b.xml"] = Reply(503)
    assert kinds(await monitor(tmp_path, server, maxChanges="1")) == {"new": 1}
    server.routes["/b.xml"] = tagged
    assert kinds(await monitor(tmp_path, server, maxChanges="2")) == {"new": 1, "removed": 1}
    assert kinds(await monitor(tmp_path, server)) == {"removed": 1}
    assert (await monitor(tmp_path, server)).rows == []
    last = await monitor(tmp_path, server)
    assert (last.rows, last.report["counts"]["notModified"]) == ([], 3)


async def test_an_unchanged_file_behind_a_redirect_that_moves(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml")
    put_tagged(server, "/v1.xml", text(server, {"/1": None, "/2": None}))
    server.routes["/a.xml"] = Reply(302, headers={"Location": "/v1.xml"})
    await monitor(tmp_path, server)
    server.routes["/a.xml"] = Reply(302, headers={"Location": "/v2.xml"})
    server.routes["/v2.xml"] = Reply(304)
    assert (await monitor(tmp_path, server)).rows == []
    put(server, "/v2.xml", "/1", "/3")
    assert changes(await monitor(tmp_path, server)) == {"2": "removed", "3": "new"}


async def test_M09_another_order_is_no_change(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml")
    put(server, "/a.xml", *numbered(20), lastmod="2026-01-01")
    await monitor(tmp_path, server)
    put(server, "/a.xml", *reversed(numbered(20)), lastmod="2026-01-01")
    again = await monitor(tmp_path, server)
    assert again.rows == []
    assert again.report["counts"]["unchanged"] == 20


async def test_M14_a_renamed_page_is_a_new_one_and_a_removed_one(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml")
    put(server, "/a.xml", "/stays", "/old-slug")
    await monitor(tmp_path, server)
    put(server, "/a.xml", "/stays", "/new-slug")
    assert changes(await monitor(tmp_path, server)) == {"new-slug": "new", "old-slug": "removed"}


async def test_M16_the_first_run_is_a_baseline_and_nothing_else(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml")
    put(server, "/a.xml", *numbered(30), lastmod="2026-01-01")
    assert kinds(await monitor(tmp_path, server)) == {"baseline": 30}
    put(server, "/a.xml", *numbered(31), lastmod="2026-01-01")
    assert changes(await monitor(tmp_path, server)) == {"p30": "new"}


@pytest.mark.parametrize("dates", [("2026-01-01", "2026-01-01"), ("2026-01-01", "2026-06-01")])
async def test_M17_an_indexs_date_for_a_child_neither_hides_nor_makes_a_change(
    site: SiteFactory, tmp_path: Path, dates: tuple[str, str]
) -> None:
    server = site()
    robots(server, "/index.xml")

    def dated(date: str) -> Reply:
        entry = f"<sitemap><loc>{server.origin}/a.xml</loc><lastmod>{date}</lastmod></sitemap>"
        return Reply(body=INDEX.format(entry), headers=XML)

    server.routes["/index.xml"] = dated(dates[0])
    put(server, "/a.xml", "/1")
    await monitor(tmp_path, server)
    server.routes["/index.xml"] = dated(dates[1])
    assert (await monitor(tmp_path, server)).rows == []
    put(server, "/a.xml", "/1", "/2")
    assert changes(await monitor(tmp_path, server)) == {"2": "new"}
