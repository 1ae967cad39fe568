"""Extract mode, end to end: real crawls of loopback sites."""

import csv
import gzip
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.spider.conftest import SiteFactory
from tests.spider.helpers import INDEX, URLSET, XML, crawl, serve, serve_index, serve_robots
from tests.spider.server import Reply


async def test_robots_txt_first_then_its_sitemaps_then_their_children(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/index.xml")
    serve_index(server, "/index.xml", "/a.xml", "/b.xml.gz")
    serve(server, "/a.xml", "/1", "/2", lastmod="2026-01-02")
    body = gzip.compress(URLSET.format(f"<url><loc>{server.origin}/3</loc><priority>0.5</priority></url>").encode())
    server.routes["/b.xml.gz"] = Reply(body=body, headers={"Content-Type": "application/gzip"})

    crawled = await crawl(tmp_path, sites=server.origin)

    assert server.paths() == ["/robots.txt", "/index.xml", "/a.xml", "/b.xml.gz"]
    assert crawled.urls == [f"{server.origin}/{number}" for number in (1, 2, 3)]
    first, _, third = crawled.rows
    assert first == {
        "url": f"{server.origin}/1",
        "lastmod": "2026-01-02",
        "changefreq": None,
        "priority": None,
        "sourceSitemap": f"{server.origin}/a.xml",
        "site": server.origin,
        "fetchedAt": first["fetchedAt"],
    }
    assert third["priority"] == "0.5"
    report = crawled.report
    assert (report["result"], report["stopReason"]) == ("finished", None)
    assert report["counts"]["saved"] == report["counts"]["listed"] == 3
    assert report["counts"]["sitemapsFetched"] == 3
    assert report["counts"]["requests"] == 4
    assert crawled.site["status"] == "ok"
    index = crawled.file(f"{server.origin}/index.xml")
    assert (index["kind"], index["children"], index["status"]) == ("index", 2, "ok")
    child = crawled.file(f"{server.origin}/a.xml")
    assert (child["parent"], child["depth"], child["newestLastmod"]) == (f"{server.origin}/index.xml", 1, "2026-01-02")
    assert crawled.skipped == []


async def test_every_request_identifies_itself_and_carries_nothing_else(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    serve(server, "/a.xml", "/1")
    server.routes["/robots.txt"].headers = {"Content-Type": "text/plain", "Set-Cookie": "a=b"}
    await crawl(tmp_path, sites=server.origin)
    for seen in server.requests:
        assert seen.headers["user-agent"].startswith("SitemapUrlExtractor/0.1 (Apify Actor sitemap-url-extractor;")
        assert seen.headers["accept-encoding"] == "gzip"
        assert not {"cookie", "referer", "authorization", "proxy-authorization"} & set(seen.headers)


async def test_common_paths_are_tried_in_order_until_one_works(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, "User-agent: *", "Disallow: /sitemap_index.xml")
    serve(server, "/sitemap.xml.gz", "/1")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert server.paths() == ["/robots.txt", "/sitemap.xml", "/sitemap-index.xml", "/sitemap.xml.gz"]
    assert crawled.urls == [f"{server.origin}/1"]
    assert crawled.site["commonPathsTried"] == [
        server.origin + path for path in ("/sitemap.xml", "/sitemap_index.xml", "/sitemap-index.xml", "/sitemap.xml.gz")
    ]
    assert [skip["address"] for skip in crawled.skips(reason="robots_txt_disallowed")] == [
        server.origin + "/sitemap_index.xml"
    ]


async def test_common_paths_come_after_a_named_sitemap_that_cannot_be_read(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/gone.xml")
    serve(server, "/sitemap.xml", "/1")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/1"]
    assert crawled.skips(reason="http_error")[0]["address"] == f"{server.origin}/gone.xml"
    assert crawled.site["status"] == "partial"


async def test_no_sitemap_anywhere_is_said_plainly(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.site["status"] == "failed"
    assert [(skip["stage"], skip["reason"]) for skip in crawled.skipped] == [("site", "no_sitemap_found")]
    assert "No sitemap found" in crawled.report["message"]
    assert crawled.report["result"] == "finished"
    crawled = await crawl(tmp_path, sites=server.origin, tryCommonPaths="false")
    assert crawled.site["commonPathsTried"] == []
    assert crawled.site["status"] == "skipped"


async def test_disallowed_files_and_pages_are_listed_and_not_requested(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, "User-agent: *", "Disallow: /private", f"Sitemap: {server.origin}/index.xml")
    serve_index(server, "/index.xml", "/private/a.xml", "/b.xml")
    serve(server, "/b.xml", "/ok", "/private/page", "/private/page")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert "/private/a.xml" not in server.paths()
    assert crawled.urls == [f"{server.origin}/ok"]
    assert crawled.report["counts"]["disallowed"] == 2
    assert [(skip["stage"], skip["address"]) for skip in crawled.skips(reason="robots_txt_disallowed")] == [
        ("sitemap", f"{server.origin}/private/a.xml"),
        ("url", f"{server.origin}/private/page"),
    ]
    assert crawled.skips(stage="url")[0]["foundIn"] == f"{server.origin}/b.xml"
    assert crawled.site["status"] == "partial"


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (401, "", "access_denied"),
        (403, "User-agent: *\nAllow: /", "access_denied"),
        (429, "", "rate_limited"),
        (
            200,
            "<html><head><title>Just a moment...</title></head><body><form id='challenge-form'></form></body></html>",
            "captcha",
        ),
        (200, "<html><title>Log in</title><form><input type=password></form></html>", "login_page"),
        (500, "", "robots_txt_server_error"),
        (503, "User-agent: *\nAllow: /", "robots_txt_server_error"),
        (304, "", "robots_txt_redirect"),
        (200, b"User-agent: *\x00\nDisallow: /x", "robots_txt_server_error"),
    ],
)
async def test_a_robots_txt_that_gives_no_permission_skips_the_site(
    site: SiteFactory, tmp_path: Path, status: int, body: str, reason: str
) -> None:
    server = site()
    server.routes["/robots.txt"] = Reply(status, body, {"Content-Type": "text/html"})
    serve(server, "/sitemap.xml", "/1")
    crawled = await crawl(tmp_path, {"SITEMAP_RETRY_DELAY_FACTOR": 0}, sites=server.origin)
    assert set(server.paths()) == {"/robots.txt"}
    assert crawled.rows == []
    assert crawled.site["status"] == "skipped"
    assert {(skip["stage"], skip["reason"]) for skip in crawled.skipped} == {("robots.txt", reason), ("site", reason)}
    (host,) = crawled.report["hosts"]
    assert (host["robotsTxt"], host["skippedFor"]) == ("unreadable", reason)


@pytest.mark.parametrize("status", [404, 410, 400, 451])
async def test_another_4xx_for_robots_txt_means_no_rules(site: SiteFactory, tmp_path: Path, status: int) -> None:
    server = site()
    server.routes["/robots.txt"] = Reply(status, "User-agent: *\nDisallow: /")
    serve(server, "/sitemap.xml", "/1")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/1"]
    assert crawled.report["hosts"][0]["robotsTxt"] == "none"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("User-agent: *", "Disallow: /", "Allow: /sitemap.xml"), "site_disallows_all"),
        (("User-agent: SitemapUrlExtractor", "Disallow: /"), "site_disallows_all"),
        (("User-agent: apify", "Disallow: /"), "site_disallows_all"),
        (("User-agent: *", "Crawl-delay: 61"), "crawl_delay_too_long"),
    ],
)
async def test_a_site_that_forbids_itself_is_skipped(
    site: SiteFactory, tmp_path: Path, lines: tuple[str, ...], reason: str
) -> None:
    server = site()
    serve_robots(server, *lines)
    serve(server, "/sitemap.xml", "/1")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert server.paths() == ["/robots.txt"]
    assert reason in {skip["reason"] for skip in crawled.skips(stage="site")}
    assert crawled.site["status"] == "skipped"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Reply(403), "access_denied"),
        (Reply(429, headers={"Retry-After": "1"}), "rate_limited"),
        (
            Reply(
                200, "<html><title>Sign in</title><form><input type='password'></form>", {"Content-Type": "text/html"}
            ),
            "login_page",
        ),
        (Reply(302, headers={"Location": "/login?next=/b.xml"}), "login_page"),
        (
            Reply(
                200, "<html><head><title>Just a moment...</title></head><body><div id='cf-wrapper'></div></body></html>"
            ),
            "captcha",
        ),
    ],
)
async def test_a_closed_door_stops_the_host_and_what_is_queued_for_it(
    site: SiteFactory, tmp_path: Path, answer: Reply, reason: str
) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/index.xml")
    serve_index(server, "/index.xml", "/a.xml", "/b.xml", "/c.xml", "/d.xml")
    serve(server, "/a.xml", "/1")
    server.routes["/b.xml"] = answer
    crawled = await crawl(tmp_path, sites=server.origin)
    assert server.paths() == ["/robots.txt", "/index.xml", "/a.xml", "/b.xml"]
    assert crawled.urls == [f"{server.origin}/1"]
    assert crawled.file(f"{server.origin}/b.xml")["reason"] == reason
    assert {skip["address"] for skip in crawled.skips(reason="host_closed")} == {
        f"{server.origin}/c.xml",
        f"{server.origin}/d.xml",
    }
    assert crawled.report["hosts"][0]["stoppedFor"] == reason


async def test_the_date_filter_counts_what_it_leaves_out(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    dates = {"/old": "2025-12-31", "/new": "2026-01-01", "/undated": "", "/bad": "31/12/2026"}
    entries = "".join(
        f"<url><loc>{server.origin}{path}</loc>" + (f"<lastmod>{date}</lastmod>" if date else "") + "</url>"
        for path, date in dates.items()
    )
    server.routes["/sitemap.xml"] = Reply(body=URLSET.format(entries), headers=XML)
    crawled = await crawl(tmp_path, sites=server.origin, changedSince="2026")
    counts = crawled.report["counts"]
    assert crawled.urls == [f"{server.origin}/new"]
    assert (counts["filteredOlder"], counts["filteredUndated"]) == (1, 2)
    crawled = await crawl(tmp_path, sites=server.origin, changedSince="2026-01-01", includeUrlsWithoutLastmod="true")
    assert crawled.urls == [f"{server.origin}{path}" for path in ("/new", "/undated", "/bad")]
    assert crawled.file(f"{server.origin}/sitemap.xml")["faults"] == {"lastmod_unreadable": 1}


async def test_patterns_choose_among_pages(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve(server, "/sitemap.xml", "/blog/1", "/blog/2.pdf", "/shop/1")
    crawled = await crawl(
        tmp_path, sites=server.origin, includeUrlPatterns="*/blog/*", excludeUrlPatterns=r"re:.*\.pdf"
    )
    assert crawled.urls == [f"{server.origin}/blog/1"]
    assert crawled.report["counts"]["filteredByPattern"] == 2


async def test_max_urls_is_exact_and_stops_the_run(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, *(f"Sitemap: {server.origin}/{name}.xml" for name in "abc"))
    serve(server, "/a.xml", *(f"/a{number}" for number in range(30)))
    serve(server, "/b.xml", *(f"/b{number}" for number in range(30)))
    serve(server, "/c.xml", *(f"/c{number}" for number in range(30)))
    crawled = await crawl(tmp_path, {"SITEMAP_MIN_GAP_SECS": 0.25}, sites=server.origin, maxUrls="45")
    assert len(crawled.rows) == 45
    report = crawled.report
    assert (report["result"], report["stopReason"]) == ("stopped_early", "max_urls")
    assert report["counts"]["notSaved"] == 15
    assert "/c.xml" not in server.paths()
    assert crawled.skips(reason="not_reached")[0]["address"] == f"{server.origin}/c.xml"
    assert crawled.site["status"] == "truncated"


async def test_max_urls_per_site_leaves_the_other_sites_alone(site: SiteFactory, tmp_path: Path) -> None:
    first, second = site(), site("127.0.0.2")
    for server in (first, second):
        serve(server, "/sitemap.xml", *(f"/{number}" for number in range(8)))
    crawled = await crawl(tmp_path, sites=f"{first.origin},{second.origin}", maxUrlsPerSite="5")
    assert {entry["site"]: entry["saved"] for entry in crawled.report["sites"]} == {first.origin: 5, second.origin: 5}
    assert {entry["status"] for entry in crawled.report["sites"]} == {"truncated"}
    assert crawled.report["result"] == "finished"


async def test_caps_on_files_and_depth_name_what_was_left_out(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/index.xml")
    serve_index(server, "/index.xml", "/deep.xml", "/a.xml", "/b.xml")
    serve_index(server, "/deep.xml", "/deeper.xml")
    serve(server, "/a.xml", "/1")
    serve(server, "/b.xml", "/2")
    crawled = await crawl(tmp_path, sites=server.origin, maxSitemaps="3", maxSitemapDepth="1")
    assert crawled.skips(reason="max_depth")[0]["address"] == f"{server.origin}/deeper.xml"
    assert crawled.skips(reason="max_sitemaps")[0]["address"] == f"{server.origin}/b.xml"
    assert crawled.urls == [f"{server.origin}/1"]
    assert crawled.site["status"] == "truncated"
    assert crawled.file(f"{server.origin}/deep.xml")["faults"] == {"index_in_index": 1}


async def test_duplicates_are_removed_across_the_run_by_canonical_form(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml", f"Sitemap: {server.origin}/b.xml")
    upper = server.origin.replace("http://", "HTTP://")
    serve(server, "/a.xml", "/1", "/1#top", "/2")
    serve(server, "/b.xml", f"{upper}/2", "/3")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/{number}" for number in (1, 2, 3)]
    assert crawled.report["counts"]["duplicates"] == 2
    assert crawled.file(f"{server.origin}/a.xml")["faults"]["duplicate_entry"] == 1


async def test_pages_of_another_host_are_judged_by_its_robots_txt_and_never_requested(
    site: SiteFactory, tmp_path: Path
) -> None:
    server, other, closed = site(), site("127.0.0.2"), site("127.0.0.3")
    serve_robots(other, "User-agent: *", "Disallow: /no")
    closed.routes["/robots.txt"] = Reply(403)
    serve(server, "/sitemap.xml", "/1", f"{other.origin}/yes", f"{other.origin}/no", f"{closed.origin}/x")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/1", f"{other.origin}/yes"]
    assert other.paths() == closed.paths() == ["/robots.txt"]
    assert crawled.skips(stage="url", reason="host_closed")[0]["address"] == f"{closed.origin}/x"
    counts = crawled.report["counts"]
    assert (counts["disallowed"], counts["skipped"]) == (1, 1)
    assert crawled.file(f"{server.origin}/sitemap.xml")["faults"]["other_host"] == 3


async def test_at_most_25_hosts_beyond_the_sites(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    others = [site(f"127.0.0.{number}") for number in range(10, 37)]
    serve(server, "/sitemap.xml", *(f"{other.origin}/page" for other in others))
    crawled = await crawl(tmp_path, sites=server.origin)
    assert len(crawled.rows) == 25
    assert sum(bool(other.requests) for other in others) == 25
    assert len(crawled.skips(stage="url", reason="max_hosts")) == 2


async def test_a_redirected_sitemap_is_checked_again_and_read_once(site: SiteFactory, tmp_path: Path) -> None:
    server, other = site(), site("127.0.0.2")
    serve_robots(server, *(f"Sitemap: {server.origin}/{name}.xml" for name in ("moved", "real", "barred", "loop")))
    serve_robots(other, "User-agent: *", "Disallow: /barred")
    server.routes["/moved.xml"] = Reply(301, headers={"Location": "/real.xml"})
    server.routes["/barred.xml"] = Reply(302, headers={"Location": f"{other.origin}/barred.xml"})
    server.routes["/loop.xml"] = Reply(302, headers={"Location": "/loop.xml"})
    serve(server, "/real.xml", "/1")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/1"]
    assert crawled.report["counts"]["duplicates"] == 0
    assert other.paths() == ["/robots.txt"]
    assert crawled.file(f"{server.origin}/barred.xml")["reason"] == "robots_txt_disallowed"
    assert crawled.file(f"{server.origin}/loop.xml")["reason"] == "too_many_redirects"
    statuses = {name: crawled.file(f"{server.origin}/{name}.xml")["status"] for name in ("moved", "real")}
    assert statuses == {"moved": "ok", "real": "ok"}
    assert server.paths().count("/loop.xml") == 6


async def test_failed_files_are_told_and_the_rest_goes_on(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    names = {
        "gone": (Reply(404), "http_error"),
        "down": (Reply(500), "server_error"),
        "page": (Reply(body="<!doctype html><title>Hello</title>"), "unsupported_format"),
        "empty": (Reply(body=b""), "empty"),
        "dtd": (Reply(body='<!DOCTYPE x [<!ENTITY a "b">]><urlset/>'), "unsafe_xml"),
        "br": (Reply(body=b"\x1b\x00\x00", headers={"Content-Encoding": "br"}), "unsupported_encoding"),
        "zip": (Reply(body=b"PK\x03\x04" + b"\x00" * 40), "unsupported_format"),
    }
    serve_robots(server, *(f"Sitemap: {server.origin}/{name}.xml" for name in [*names, "fine", "broken"]))
    for name, (answer, _reason) in names.items():
        server.routes[f"/{name}.xml"] = answer
    serve(server, "/fine.xml", "/1")
    server.routes["/broken.xml"] = Reply(
        body=URLSET.format(f"<url><loc>{server.origin}/2</loc></url><url><loc>x</url>")
    )
    crawled = await crawl(tmp_path, {"SITEMAP_RETRY_DELAY_FACTOR": 0}, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/1", f"{server.origin}/2"]
    assert {name: crawled.file(f"{server.origin}/{name}.xml")["reason"] for name in names} == {
        name: reason for name, (_answer, reason) in names.items()
    }
    assert {crawled.file(f"{server.origin}/{name}.xml")["status"] for name in names} == {"failed"}
    broken = crawled.file(f"{server.origin}/broken.xml")
    assert (broken["status"], broken["reason"]) == ("partial", "malformed")
    assert crawled.skips(reason="malformed")[0]["address"] == f"{server.origin}/broken.xml"
    assert server.paths().count("/down.xml") == 2
    assert crawled.site["status"] == "partial"


async def test_a_direct_sitemap_is_a_site_of_its_own(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/other.xml")
    serve(server, "/direct.XML", "/1")
    crawled = await crawl(tmp_path, sites=f"{server.origin}/direct.XML")
    assert server.paths() == ["/robots.txt", "/direct.XML"]
    assert crawled.site["entry"] == f"{server.origin}/direct.XML"
    assert crawled.rows[0]["site"] == server.origin


async def test_a_host_given_only_as_sitemap_url_uses_no_discovery(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/other.xml")
    serve(server, "/feed", "/1")
    crawled = await crawl(tmp_path, sitemapUrls=f"{server.origin}/feed")
    assert server.paths() == ["/robots.txt", "/feed"]
    assert crawled.site["sitemapsFromInput"] == [f"{server.origin}/feed"]


async def test_a_loop_of_indexes_is_read_once(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/index.xml")
    serve_index(server, "/index.xml", "/index.xml", "/second.xml")
    serve_index(server, "/second.xml", "/index.xml", "/a.xml", "/a.xml")
    serve(server, "/a.xml", "/1")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert server.paths() == ["/robots.txt", "/index.xml", "/second.xml", "/a.xml"]
    assert crawled.site["status"] == "ok"


@pytest.mark.parametrize("kind", ["csv", "json", "jsonl", "xml"])
async def test_feeds_have_one_line_per_row(site: SiteFactory, tmp_path: Path, kind: str) -> None:
    server = site()
    server.routes["/sitemap.xml"] = Reply(
        body=URLSET.format(f'<url><loc>{server.origin}/ä"1,&amp;</loc></url><url><loc>{server.origin}/2</loc></url>'),
        headers=XML,
    )
    feed = tmp_path / f"rows.{kind}"
    await crawl(tmp_path, {"FEEDS": {feed: {"format": kind}}}, sites=server.origin)
    if kind == "csv":
        rows = list(csv.DictReader(feed.read_text().splitlines()))
    elif kind == "xml":
        rows = [{field.tag: field.text for field in item} for item in ET.parse(feed).getroot()]
    elif kind == "json":
        rows = json.loads(feed.read_text())
    else:
        rows = [json.loads(line) for line in feed.read_text().splitlines()]
    assert [row["url"] for row in rows] == [f'{server.origin}/ä"1,&', f"{server.origin}/2"]
    assert set(rows[0]) == {"url", "lastmod", "changefreq", "priority", "sourceSitemap", "site", "fetchedAt"}
    assert {row["lastmod"] or None for row in rows} == {None}


async def test_an_index_larger_than_the_cap_keeps_a_thousand_entries_and_counts_the_rest(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site()
    entries = "".join(f"<sitemap><loc>{server.origin}/{number}.xml</loc></sitemap>" for number in range(1_500))
    serve_robots(server, f"Sitemap: {server.origin}/index.xml")
    server.routes["/index.xml"] = Reply(body=INDEX.format(entries), headers=XML)
    crawled = await crawl(tmp_path, sites=server.origin, maxSitemaps="2")
    assert len(crawled.site["sitemaps"]) == 1_002
    assert crawled.site["unreadFiles"] == 499
    assert crawled.report["skipsByReason"]["max_sitemaps"] == 1_499


async def test_rows_as_items_leave_one_by_one(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve(server, "/sitemap.xml", "/1", "/2", "/3")
    crawled = await crawl(tmp_path, {"SITEMAP_ROWS_AS_ITEMS": True}, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/{number}" for number in (1, 2, 3)]
    assert crawled.crawler.stats.get_value("item_scraped_count") == 3


async def test_scrapys_figures_count_rows(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve(server, "/sitemap.xml", "/1", "/2", "/3")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.crawler.stats.get_value("item_scraped_count") == 3


async def test_a_feed_that_cannot_be_stored_fails_the_run(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve(server, "/sitemap.xml", "/1")
    (tmp_path / "a-file").write_text("")
    crawled = await crawl(
        tmp_path, {"FEEDS": {tmp_path / "a-file" / "rows.csv": {"format": "csv"}}}, sites=server.origin
    )
    assert crawled.report["result"] == "failed"
    assert "feed" in crawled.report["message"]
