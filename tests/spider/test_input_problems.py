"""Spec section 1, *Input problems*, through `scrapy crawl sitemap -a ...` in a process of its own.

Each line of that section: what stops the run before any request (exit code, message, REPORT, nothing asked), what is
adjusted and told, what is skipped and listed.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sitemap_actor.core.job import InputProblems
from tests.spider.conftest import SiteFactory
from tests.spider.helpers import XML, Ran, crawl, scrapy_crawl, serve, serve_robots, urlset
from tests.spider.server import Reply, Site

# field, value, what the message must say
PROBLEMS: dict[str, tuple[dict[str, str], str, str]] = {
    "no site at all": ({"sites": ""}, "sites", "No website to read"),
    "no usable site": ({"sites": "ftp://example.com, http://u:secret@example.com/"}, "sites", "No website to read"),
    "an unreadable changedSince": ({"changedSince": "soon"}, "changedSince", "'soon' is not a date"),
    "a bad stateKey": ({"stateKey": "Not Good"}, "stateKey", "1 to 40 characters of a-z, 0-9 and '-'"),
    "an unknown mode": ({"mode": "watch"}, "mode", "one of extract, monitor"),
    "a number that is none": ({"maxUrls": "many"}, "maxUrls", "a whole number is needed, not many"),
    "a boolean that is none": ({"tryCommonPaths": "perhaps"}, "tryCommonPaths", "true or false is needed, not perhaps"),
    "a list that is no JSON": ({"sitemapUrls": '["http://a.example/s.xml"'}, "sitemapUrls", "not readable as JSON"),
    "a list of no texts": ({"includeUrlPatterns": "[1, 2]"}, "includeUrlPatterns", "no entry of the list can be used"),
    "no known extension": ({"extensions": "pictures"}, "extensions", "no entry of the list can be used"),
    "a pattern that does not compile": (
        {"excludeUrlPatterns": "re:("},
        "excludeUrlPatterns",
        "not a regular expression",
    ),
}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, dict[str, Ran]]:
    """Every problem run once, two processes at a time."""
    folder = tmp_path_factory.mktemp("problems")
    with Site() as server, ThreadPoolExecutor(2) as pool:
        serve(server, "/sitemap.xml", "/1")
        runs = {
            name: pool.submit(scrapy_crawl, folder / str(number), {"sites": server.origin} | given)
            for number, (name, (given, _, _)) in enumerate(PROBLEMS.items())
        }
        return server, {name: run.result() for name, run in runs.items()}


@pytest.mark.parametrize("name", PROBLEMS)
def test_an_input_problem_stops_the_run_before_any_request(stopped: tuple[Site, dict[str, Ran]], name: str) -> None:
    server, runs = stopped
    given, field, words = PROBLEMS[name]
    ran = runs[name]
    assert ran.code != 0
    assert words in ran.said
    assert "Traceback" not in ran.said
    report = ran.record("REPORT")
    assert (report["result"], report["stopReason"], report["sites"]) == ("input_problem", None, [])
    problem = next(problem for problem in report["problems"] if problem["field"] == field)
    assert words in problem["message"]
    assert problem["message"] in report["message"]
    assert problem["value"] is not None
    assert report["counts"]["requests"] == report["counts"]["saved"] == 0
    assert report["charged"] is None
    assert server.connections == 0
    assert "secret" not in ran.said + json.dumps([report, ran.record("SKIPPED")])
    assert given


def test_several_problems_are_all_named(tmp_path: Path) -> None:
    ran = scrapy_crawl(tmp_path, {"sites": "", "mode": "watch", "maxUrls": "x", "changedSince": "?"})
    assert ran.code != 0
    assert {"mode", "maxUrls"} <= {problem["field"] for problem in ran.record("REPORT")["problems"]}


def test_bad_entries_are_listed_numbers_clamped_unknown_fields_told_and_the_rest_goes_on(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/named.xml")
    serve(server, "/named.xml", "/1", "/2")
    serve(server, "/extra.xml", "/3")
    listed = json.dumps(
        [
            server.origin,
            f"{server.origin}/ignored/path",
            "ftp://example.com",
            "http://u:secret@example.com",
            "a\u200bb.com",
            "http://exa mple.com",
            17,
        ]
    )
    given = {
        "sites": listed,
        "sitemapUrls": f"{server.origin}/extra.xml\nhttp://example.com:99999/s.xml",
        "maxUrls": "900000",
        "maxSitemapDepth": "-3",
        "requestTimeoutSecs": "1",
        "extensions": "images,pictures",
        "tryCommonPaths": "0",
        "includeUrlsWithoutLastmod": "True",
        "maxurls": "5",
        "_job": "6487ec79947edab326d6db28a2d86511e8247444",
    }
    feed = tmp_path / "rows.csv"
    ran = scrapy_crawl(tmp_path / "storage", given, "-O", str(feed))
    assert ran.code == 0, ran.said
    assert [line.partition(",")[0] for line in feed.read_text().splitlines()] == [
        "url",
        *(f"{server.origin}/{number}" for number in (1, 2, 3)),
    ]
    report = ran.record("REPORT")
    assert (report["result"], report["problems"]) == ("finished", [])
    assert {note["field"]: (note["value"], note["used"]) for note in report["adjustments"]} == {
        "maxUrls": ("900000", 500_000),
        "maxSitemapDepth": ("-3", 0),
        "requestTimeoutSecs": ("1", 5),
        "maxurls": ("5", None),
    }
    settings = report["settings"]
    assert (settings["maxUrls"], settings["maxSitemapDepth"], settings["requestTimeoutSecs"]) == (500_000, 0, 5)
    assert (settings["tryCommonPaths"], settings["includeUrlsWithoutLastmod"]) == (False, True)
    assert settings["extensions"] == ["images"]
    assert [entry["entry"] for entry in report["sites"]] == [server.origin + "/"]  # given twice, counted once
    assert report["sites"][0]["sitemapsFromInput"] == [f"{server.origin}/extra.xml"]  # it joins the site
    skipped = ran.record("SKIPPED")
    assert {skip["stage"] for skip in skipped} == {"input"}
    assert {(skip["address"], skip["reason"]) for skip in skipped} == {
        ("ftp://example.com", "unsupported_scheme"),
        ("http://***@example.com", "userinfo"),
        ("a\u200bb.com", "invalid_character"),
        ("http://exa mple.com", "invalid_url"),
        ("17", "unknown_value"),
        ("http://example.com:99999/s.xml", "invalid_url"),
        ("pictures", "unknown_value"),
    }
    assert "secret" not in ran.said
    assert server.paths() == ["/robots.txt", "/named.xml", "/extra.xml"]


# The finer points, in this process


async def test_a_list_of_more_than_a_thousand_is_cut_and_told(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    for number in range(3):
        serve(server, f"/{number}.xml", f"/{number}")
    addresses = [f"{server.origin}/{number % 3}.xml?{number // 3}" for number in range(1_002)]
    crawled = await crawl(tmp_path, sitemapUrls=addresses, maxSitemaps="3")
    (note,) = crawled.report["adjustments"]
    assert (note["field"], note["value"], note["used"]) == ("sitemapUrls", 1_002, 1_000)
    cut = crawled.skips(stage="input")
    assert [(skip["address"], skip["reason"]) for skip in cut] == [
        (addresses[1_000], "too_many_entries"),
        (addresses[1_001], "too_many_entries"),
    ]
    assert len(crawled.site["sitemapsFromInput"]) == 1_000
    assert crawled.report["skipsByReason"]["max_sitemaps"] == 997


@pytest.mark.parametrize(
    "listed",
    ["{0},{1}", "{0}\n{1}\r\n", ' ["{0}", "{1}"]', "{0},,\n , {1},", ["{0}", "{1}", ""]],
    ids=["commas", "lines", "JSON", "untidy", "a list"],
)
async def test_lists_as_text_lines_or_json(site: SiteFactory, tmp_path: Path, listed: Any) -> None:
    servers = [site(), site("127.0.0.2")]
    origins = [server.origin for server in servers]
    given = [part.format(*origins) for part in listed] if isinstance(listed, list) else listed.format(*origins)
    for server in servers:
        serve(server, "/sitemap.xml", "/1")
    crawled = await crawl(tmp_path, sites=given)
    assert sorted(crawled.urls) == sorted(f"{origin}/1" for origin in origins)
    assert crawled.skipped == []


@pytest.mark.parametrize(
    ("value", "read"),
    [("true", True), ("TRUE", True), ("1", True), ("false", False), ("0", False), (True, True), (0, False)],
)
async def test_booleans(site: SiteFactory, tmp_path: Path, value: Any, read: bool) -> None:
    server = site()
    serve(server, "/sitemap.xml", "/1")
    crawled = await crawl(tmp_path, sites=server.origin, tryCommonPaths=value)
    assert crawled.report["settings"]["tryCommonPaths"] is read
    assert len(crawled.rows) == read


@pytest.mark.parametrize("value", ["2", "yes", "on", 2, "truefalse", ["true"]])
async def test_what_is_no_boolean_is_a_wrong_type(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InputProblems, match="true or false is needed"):
        await crawl(tmp_path, sites="example.com", tryCommonPaths=value)


@pytest.mark.parametrize(
    "given",
    [
        {"sites": 17},
        {"sites": {"url": "https://example.com"}},
        {"maxUrls": 1.5},
        {"maxUrls": True},
        {"maxUrls": [1]},
        {"changedSince": 2026},
        {"changedSince": "2026-02-30"},
        {"mode": ["extract"]},
        {"stateKey": "a" * 41},
        {"includeUrlPatterns": ["re:[a"]},
        {"includeUrlPatterns": ["*", "re:(?P<x"]},
    ],
    ids=str,
)
async def test_a_value_of_the_wrong_type_or_kind_is_a_problem(tmp_path: Path, given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(InputProblems) as caught:
        await crawl(tmp_path, **({"sites": "example.com"} | given))
    assert name in {problem.field for problem in caught.value.notes.problems}
    report = json.loads((tmp_path / "storage" / "records" / "REPORT.json").read_text())
    assert report["result"] == "input_problem"
    assert name in report["message"]


async def test_sites_and_sitemap_urls_as_the_spec_tells_them_apart(site: SiteFactory, tmp_path: Path) -> None:
    server, only_here = site(), site("127.0.0.2")
    serve_robots(server, f"Sitemap: {server.origin}/named.xml")
    serve_robots(only_here, f"Sitemap: {only_here.origin}/named.xml")
    for each in (server, only_here):
        for path in ("/named.xml", "/a.XML", "/b.xml.GZ", "/c.txt", "/feed", "/sitemap.xml"):
            each.routes[path] = Reply(body=urlset(f"{each.origin}/page-of{path}"), headers=XML)
    direct = [f"{server.origin}/a.XML", f"{server.origin}/b.xml.GZ?x=1", f"{server.origin}/c.txt#top"]
    server.routes["/b.xml.GZ?x=1"] = server.routes["/b.xml.GZ"]
    given = [f"{server.origin}/some/path.html?q=.xml", *direct, f"{server.origin}/b.xml.GZ?x=1"]
    crawled = await crawl(
        tmp_path, sites=given, sitemapUrls=[f"{server.origin}/feed", f"{only_here.origin}/feed"], tryCommonPaths=True
    )
    entries = {entry["entry"]: entry for entry in crawled.report["sites"]}
    assert list(entries) == [
        server.origin + "/",
        f"{server.origin}/a.XML",
        f"{server.origin}/b.xml.GZ?x=1",
        f"{server.origin}/c.txt",
        only_here.origin + "/",
    ]
    assert {entry["site"] for entry in entries.values()} == {server.origin, only_here.origin}
    host = entries[server.origin + "/"]
    assert [file["url"] for file in host["sitemaps"]] == [f"{server.origin}/named.xml", f"{server.origin}/feed"]
    assert host["sitemapsFromRobotsTxt"] == [f"{server.origin}/named.xml"]
    alone = entries[only_here.origin + "/"]
    assert [file["url"] for file in alone["sitemaps"]] == [f"{only_here.origin}/feed"]
    assert alone["sitemapsFromRobotsTxt"] == alone["commonPathsTried"] == []
    assert only_here.paths() == ["/robots.txt", "/feed"]
    assert set(crawled.urls) == {
        *(f"{server.origin}/page-of{path}" for path in ("/named.xml", "/feed", "/a.XML", "/b.xml.GZ", "/c.txt")),
        f"{only_here.origin}/page-of/feed",
    }


async def test_a_scheme_is_added_where_none_is_given(tmp_path: Path) -> None:
    settings = {"SITEMAP_RESOLVER": "tests.spider.server.lookup", "SITEMAP_RETRY_DELAY_FACTOR": 0}
    crawled = await crawl(tmp_path, settings, sites="example.com, Example.COM:8443/a, //b.example.com")
    assert [entry["entry"] for entry in crawled.report["sites"]] == [
        "https://example.com/",
        "https://example.com:8443/",
        "https://b.example.com/",
    ]
