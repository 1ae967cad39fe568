"""faults.md S and C, and of X and L what only a whole crawl shows: indexes, limits, hosts, totals, plain words."""

import json
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from sitemap_actor.core.report import Row
from sitemap_actor.core.rows import Event
from tests.spider.conftest import SiteFactory
from tests.spider.helpers import (
    INDEX,
    QUICK,
    URLSET,
    XML,
    crawl,
    publish,
    serve,
    serve_index,
    serve_robots,
    told,
    urlset,
)
from tests.spider.server import HANG, Reply, Script

HTML = {"Content-Type": "text/html; charset=utf-8"}


# S. Structure


async def test_S01_an_index_that_lists_itself_under_other_spellings(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    upper = server.origin.replace("http:", "HTTP:")
    serve_robots(server, f"Sitemap: {server.origin}/index.xml")
    serve_index(
        server,
        "/index.xml",
        "/index.xml",
        f"{server.origin}/index.xml#top",
        f"{upper}/index.xml",
        "/alias.xml",
        "/a.xml",
    )
    server.routes["/alias.xml"] = Reply(301, headers={"Location": "/index.xml"})
    serve(server, "/a.xml", "/1")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/1"]
    assert crawled.report["counts"]["duplicates"] == 0
    assert server.paths().count("/a.xml") == 1
    alias = crawled.file(server.origin + "/alias.xml")
    assert (alias["status"], alias["listed"], alias["children"]) == ("ok", 0, 0)
    assert f"{server.origin}/index.xml" in alias["detail"]
    assert crawled.site["status"] == "ok"
    assert crawled.skipped == []


async def test_S01_a_file_read_as_a_redirects_target_is_not_asked_for_again(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve(server, "/real.xml", "/1", "/2")
    serve(server, "/other.xml", "/3")
    named = ("/moved.xml", "/other.xml", "/again.xml", "/third.xml", "/real.xml")
    serve_robots(server, *(f"Sitemap: {server.origin}{path}" for path in named))
    for path in ("/moved.xml", "/again.xml", "/third.xml"):
        server.routes[path] = Reply(301, headers={"Location": "/real.xml"})
    crawled = await crawl(tmp_path, sites=server.origin)
    assert sorted(crawled.urls) == [f"{server.origin}/{number}" for number in (1, 2, 3)]
    assert crawled.report["counts"]["duplicates"] == 0
    assert crawled.report["counts"]["listed"] == 3
    assert {crawled.file(server.origin + path)["status"] for path in named} == {"ok"}
    assert crawled.site["status"] == "ok"


async def test_S01_a_redirect_to_a_file_that_failed_is_read(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    server.routes["/real.xml"] = [Reply(404), Reply(body=urlset(f"{server.origin}/1"), headers=XML)]
    serve_robots(server, f"Sitemap: {server.origin}/real.xml", f"Sitemap: {server.origin}/moved.xml")
    server.routes["/moved.xml"] = Reply(301, headers={"Location": "/real.xml"})
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/1"]
    assert crawled.rows[0]["sourceSitemap"] == f"{server.origin}/moved.xml"


async def test_S03_robots_txt_that_names_itself(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    upper = server.origin.replace("http:", "HTTP:")
    serve_robots(
        server, f"Sitemap: {server.origin}/robots.txt", "Sitemap:", f"Sitemap: {upper}/robots.txt#x", "Sitemap: /a.xml"
    )
    serve(server, "/a.xml", "/1")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert server.paths() == ["/robots.txt", "/a.xml"]
    assert crawled.urls == [f"{server.origin}/1"]
    assert crawled.site["sitemapsFromRobotsTxt"] == [f"{server.origin}/a.xml"]
    assert crawled.site["status"] == "ok"


async def test_S04_three_levels_of_indexes_and_what_lies_deeper(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/0.xml")
    for level in range(6):
        serve_index(server, f"/{level}.xml", f"/{level + 1}.xml", f"/leaf{level + 1}.xml")
        serve(server, f"/leaf{level + 1}.xml", f"/page{level + 1}")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/page{level}" for level in (1, 2, 3)]
    assert [skip["address"] for skip in crawled.skips(reason="max_depth")] == [
        f"{server.origin}/4.xml",
        f"{server.origin}/leaf4.xml",
    ]
    assert crawled.site["status"] == "truncated"
    assert "/4.xml" not in server.paths()


async def test_S04_an_endless_chain_of_indexes_ends_at_the_limit(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/chain/0")

    def chain(seen: object) -> Reply:
        number = int(seen.target.rpartition("/")[2])  # type: ignore[attr-defined]
        return Reply(body=INDEX.format(f"<sitemap><loc>{server.origin}/chain/{number + 1}</loc></sitemap>"))

    server.fallback = chain  # type: ignore[assignment]
    crawled = await crawl(tmp_path, sites=server.origin, maxSitemapDepth="10")
    assert server.paths() == ["/robots.txt", *(f"/chain/{number}" for number in range(11))]
    assert crawled.skips(reason="max_depth")[0]["address"] == f"{server.origin}/chain/11"
    assert crawled.report["result"] == "finished"


async def test_S06_a_sitemap_inside_a_urlset_is_followed_and_no_row(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    mixed = f"<sitemap><loc>{server.origin}/child.xml</loc></sitemap><url><loc>{server.origin}/1</loc></url>"
    server.routes["/sitemap.xml"] = Reply(body=URLSET.format(mixed), headers=XML)
    serve(server, "/child.xml", "/2")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert sorted(crawled.urls) == [f"{server.origin}/1", f"{server.origin}/2"]
    file = crawled.file(server.origin + "/sitemap.xml")
    assert (file["children"], file["listed"], file["faults"]["mixed_index_urlset"]) == (1, 1, 1)


async def test_S07_an_index_entry_without_loc(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    server.routes["/sitemap.xml"] = Reply(
        body=INDEX.format(f"<sitemap> {server.origin}/s.xml </sitemap><sitemap>and so on</sitemap>"), headers=XML
    )
    serve(server, "/s.xml", "/1")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/1"]
    assert crawled.file(server.origin + "/sitemap.xml")["faults"]["empty_loc"] == 2


async def test_S08_a_sitemap_file_listed_as_a_page_is_a_row_and_not_followed(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve(server, "/sitemap.xml", "/other-sitemap.xml", "/1")
    serve(server, "/other-sitemap.xml", "/2")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/other-sitemap.xml", f"{server.origin}/1"]
    assert "/other-sitemap.xml" not in server.paths()


async def test_S09_children_with_a_query_string(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/index.php?type=841132")
    server.routes["/index.php?type=841132"] = Reply(
        body=INDEX.format(f"<sitemap><loc>{server.origin}/products.xml?from=1&amp;to=2</loc></sitemap>"), headers=XML
    )
    server.routes["/products.xml?from=1&to=2"] = Reply(body=urlset(f"{server.origin}/1"), headers=XML)
    crawled = await crawl(tmp_path, sites=server.origin)
    assert server.paths() == ["/robots.txt", "/index.php?type=841132", "/products.xml?from=1&to=2"]
    assert crawled.rows[0]["sourceSitemap"] == f"{server.origin}/products.xml?from=1&to=2"


async def test_S10_xml_served_as_html(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    publish(server, {"/s.xml": Reply(body=urlset(f"{server.origin}/1"), headers=HTML)})
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/1"]
    assert crawled.file(server.origin + "/s.xml")["faults"] == {"wrong_content_type": 1}


async def test_S11_more_entries_and_more_bytes_than_the_protocol_allows(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    many = "".join(f"<url><loc>{server.origin}/{number}</loc></url>" for number in range(50_001))
    publish(
        server,
        {
            "/many.xml": Reply(body=URLSET.format(many), headers=XML),
            "/big.xml": Reply(body=URLSET.format(f"<url><loc>{server.origin}/big</loc></url>" + " " * 52_428_800)),
        },
    )
    crawled = await crawl(tmp_path, sites=server.origin, maxUrls="500000")
    assert len(crawled.rows) == 50_001
    assert f"{server.origin}/big" not in crawled.urls
    assert crawled.file(server.origin + "/many.xml")["faults"] == {"over_50000_entries": 1}
    big = crawled.file(server.origin + "/big.xml")
    assert (big["status"], big["reason"], big["listed"], big["faults"]["over_50_mb"]) == ("failed", "too_large", 0, 1)


async def test_S12_a_huge_index_streams_and_names_what_it_left_unread(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/index.xml")
    serve_index(server, "/index.xml", *(f"/{number}.xml" for number in range(50_000)))
    server.fallback = lambda seen: Reply(body=urlset(f"{server.origin}/of{seen.target}"), headers=XML)
    crawled = await crawl(tmp_path, sites=server.origin, maxSitemaps="12")
    assert crawled.urls == [f"{server.origin}/of/{number}.xml" for number in range(11)]
    assert server.most_at_once == 1
    assert crawled.report["result"] == "finished"
    assert crawled.site["status"] == "truncated"
    assert crawled.site["unreadFiles"] == 50_000 - 11 - 1_000
    assert crawled.report["skipsByReason"] == {"max_sitemaps": 49_989}
    assert crawled.report["message"] == "Saved 11 URLs of 1 site. 49,989 sitemap files past maxSitemaps were not read."
    unread = [file for file in crawled.site["sitemaps"] if file["status"] == "skipped"]
    assert [file["url"] for file in unread] == [f"{server.origin}/{number}.xml" for number in range(11, 1_011)]
    records = sorted(path.name for path in crawled.records.glob("SKIPPED*"))
    assert records == ["SKIPPED-2.json", "SKIPPED-3.json", "SKIPPED-4.json", "SKIPPED-5.json", "SKIPPED.json"]


async def test_S13_one_host_that_never_answers_blocks_no_other(site: SiteFactory, tmp_path: Path) -> None:
    dead, *others = site(), site("127.0.0.2"), site("127.0.0.3")
    dead.routes["/robots.txt"] = Script(HANG)
    for other in others:
        serve(other, "/sitemap.xml", "/1")
    crawled = await crawl(
        tmp_path, QUICK, sites=",".join(each.origin for each in (dead, *others)), requestTimeoutSecs="5"
    )
    assert sorted(crawled.urls) == [f"{other.origin}/1" for other in others]
    assert dead.paths() == ["/robots.txt"] * 2
    first = next(entry for entry in crawled.report["sites"] if entry["site"] == dead.origin)
    assert first["status"] == "skipped"
    assert {(skip["stage"], skip["reason"]) for skip in crawled.skips(site=dead.origin)} == {
        ("robots.txt", "timeout"),
        ("site", "timeout"),
    }


async def test_S14_a_sitemap_on_another_host_that_lists_pages_of_the_site(site: SiteFactory, tmp_path: Path) -> None:
    server, cdn, sister = site(), site("127.0.0.2"), site("127.0.0.3")
    serve_robots(server, "User-agent: *", "Disallow: /no", f"Sitemap: {cdn.origin}/sitemap.xml")
    serve_robots(cdn, "User-agent: *", "Disallow: /yes")  # the CDN's rules say nothing about the site's pages
    serve(cdn, "/sitemap.xml", f"{server.origin}/yes", f"{server.origin}/no", f"{sister.origin}/other", "/asset")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/yes", f"{sister.origin}/other", f"{cdn.origin}/asset"]
    assert {row["site"] for row in crawled.rows} == {server.origin}
    assert cdn.paths() == ["/robots.txt", "/sitemap.xml"]
    assert sister.paths() == ["/robots.txt"]
    assert crawled.file(cdn.origin + "/sitemap.xml")["faults"]["other_host"] == 3
    assert crawled.skips(stage="url")[0]["address"] == f"{server.origin}/no"


async def test_S15_pages_outside_the_sitemaps_directory_are_rows(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    publish(server, {"/a/sitemap.xml": Reply(body=urlset(f"{server.origin}/b/1", f"{server.origin}/a/2"), headers=XML)})
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/b/1", f"{server.origin}/a/2"]
    assert crawled.file(server.origin + "/a/sitemap.xml")["faults"] == {"outside_path": 1}


async def test_S17_empty_urlset_and_index_are_ok_and_said(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    publish(
        server,
        {"/a.xml": Reply(body=URLSET.format(""), headers=XML), "/b.xml": Reply(body=INDEX.format(""), headers=XML)},
    )
    crawled = await crawl(tmp_path, sites=server.origin)
    assert [(file["status"], file["kind"], file["listed"]) for file in crawled.site["sitemaps"]] == [
        ("ok", "urlset", 0),
        ("ok", "index", 0),
    ]
    assert crawled.site["status"] == "ok"
    assert server.paths() == ["/robots.txt", "/a.xml", "/b.xml"]  # they were read, so nothing is guessed
    assert crawled.report["message"] == "Saved no URL of 1 site: no sitemap lists a page."
    assert crawled.skipped == []


# X. What the reader's verdict means for a site


async def test_X27_html_means_none_here_for_a_guess_and_failure_for_a_named_file(
    site: SiteFactory, tmp_path: Path
) -> None:
    page = '<!DOCTYPE html><html><body><a href="http://127.0.0.1/a">x</a><loc>http://127.0.0.1/b</loc></body></html>'
    spa, named = site(), site("127.0.0.2")
    spa.fallback = Reply(body=page, headers=HTML)
    publish(named, {"/sitemap-main.xml": Reply(body=page, headers=HTML)})
    crawled = await crawl(tmp_path, sites=f"{spa.origin},{named.origin}")
    assert crawled.rows == []
    one, two = crawled.report["sites"]
    assert (one["status"], one["sitemaps"], len(one["commonPathsTried"])) == ("failed", [], 6)
    assert crawled.skips(site=spa.origin)[0]["reason"] == "no_sitemap_found"
    assert crawled.report["hosts"][0]["robotsTxt"] == "none"  # the page in place of robots.txt holds no rules
    assert two["status"] == "failed"
    assert told(crawled, named.origin + "/sitemap-main.xml") == ("failed", "unsupported_format")


async def test_X29_empty_bodies_are_not_healthy_sitemaps(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    publish(
        server,
        {"/zero.xml": Reply(body=b""), "/blank.xml": Reply(body=b" \n\t "), "/204.xml": Reply(204)}
        | {"/bom.xml": Reply(body=b"\xef\xbb\xbf\n")},
    )
    crawled = await crawl(tmp_path, sites=server.origin, tryCommonPaths="false")
    assert {file["status"] for file in crawled.site["sitemaps"]} == {"failed"}
    assert {file["reason"] for file in crawled.site["sitemaps"]} == {"empty"}
    assert crawled.site["status"] == "failed"


async def test_X30_an_error_document_is_no_sitemap(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    error = "<?xml version='1.0'?><error>The sitemap will be rebuilt in 5 minutes</error>"
    publish(server, {"/a.xml": Reply(200, error, XML), "/b.xml": Reply(404, error, XML)})
    crawled = await crawl(tmp_path, sites=server.origin, tryCommonPaths="false")
    assert told(crawled, server.origin + "/a.xml") == ("failed", "unsupported_format")
    assert told(crawled, server.origin + "/b.xml") == ("failed", "http_error")


async def test_X31_a_dtd_is_refused_also_late_and_packed_and_nothing_is_fetched_for_it(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site()
    url = f"<url><loc>{server.origin}/1</loc></url>"
    external = f'<!DOCTYPE urlset [<!ENTITY x SYSTEM "{server.origin}/etc/passwd">]>'
    harmless = "<!DOCTYPE urlset>"
    padding = "<!-- " + "x" * 5_000 + " -->"
    publish(
        server,
        {
            "/external.xml": Reply(body=external + URLSET.format(url.replace("/1", "/&x;"))),
            "/harmless.xml": Reply(body=harmless + URLSET.format(url)),
            "/late.xml": Reply(body="<?xml version='1.0'?>" + padding + harmless + URLSET.format(url)),
        },
    )
    crawled = await crawl(tmp_path, sites=server.origin, tryCommonPaths="false")
    assert crawled.rows == []
    assert {(file["status"], file["reason"]) for file in crawled.site["sitemaps"]} == {("failed", "unsafe_xml")}
    assert server.paths() == ["/robots.txt", "/external.xml", "/harmless.xml", "/late.xml"]


async def test_X32_no_stylesheet_is_fetched(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    sheet = f'<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="{server.origin}/main.xsl"?>'
    publish(server, {"/a.xml": Reply(body=sheet + URLSET.format(f"<url><loc>{server.origin}/1</loc></url>"))})
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/1"]
    assert server.paths() == ["/robots.txt", "/a.xml"]


async def test_X10_X11_X26_broken_xml_gives_no_invented_row_and_the_next_file_is_read(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site()
    good = f"<url><loc>{server.origin}/{{}}</loc></url>"
    breaks = {
        "/amp.xml": f"<url><loc>{server.origin}/?a=1&b=2</loc></url>",
        "/entity.xml": f"<url><loc>{server.origin}/1&Acirc;&ordm;-x</loc></url>",
        "/tag.xml": f"<url><loc>{server.origin}/x</loc><priority>0.7priority></url>",
        "/open.xml": f"<url><loc>{server.origin}/y</loc>",
    }
    publish(
        server,
        {
            path: Reply(body=URLSET.format(good.format(path[1:]) + broken + good.format("after")), headers=XML)
            for path, broken in breaks.items()
        }
        | {"/fine.xml": Reply(body=urlset(f"{server.origin}/fine"), headers=XML)},
    )
    crawled = await crawl(tmp_path, sites=server.origin)
    wanted = {f"{server.origin}{path}" for path in breaks} | {f"{server.origin}/fine"}
    assert wanted <= set(crawled.urls)
    assert set(crawled.urls) <= wanted | {f"{server.origin}/x", f"{server.origin}/y", f"{server.origin}/after"}
    for path in breaks:
        file = crawled.file(server.origin + path)
        assert (file["status"], file["reason"]) == ("partial", "malformed")
        assert "line" in file["detail"]
    assert len(crawled.skips(reason="malformed")) == len(breaks)
    assert crawled.site["status"] == "partial"


# L. URLs end to end


async def test_L04_relative_urls_are_resolved_against_the_final_address(site: SiteFactory, tmp_path: Path) -> None:
    server, final = site(), site("127.0.0.2")
    publish(server, {"/moved/s.xml": Reply(302, headers={"Location": f"{final.origin}/new/s.xml"})})
    final.routes["/new/s.xml"] = Reply(
        body=urlset("/a", f"//127.0.0.2:{final.port}/b", "example.com/c", "d.html", "?e"), headers=XML
    )
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{final.origin}/a", f"{final.origin}/b"]
    assert crawled.file(server.origin + "/moved/s.xml")["faults"]["relative_loc"] == 2
    invalid = crawled.skips(stage="url", reason="invalid_url")
    assert [skip["address"] for skip in invalid] == ["example.com/c", "d.html", "?e"]
    assert crawled.report["counts"]["invalid"] == 3


async def test_L06_names_and_paths_beyond_ascii_keep_their_text(
    site: SiteFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = site()
    names = {"xn--bcher-kva.example": ["127.0.0.1"], "xn--fa-hia.example": ["127.0.0.1"]}
    monkeypatch.setenv("SITEMAP_TEST_HOSTS", json.dumps(names))
    home = f"http://bücher.example:{server.port}"
    sharp = f"http://faß.example:{server.port}"
    serve_robots(server, "User-agent: *", "Disallow: /geheim%20", "Disallow: /ö", f"Sitemap: {sharp}/s ä.xml")
    listed = [f"{home}/ä?ö=ü", f"{home}/a b", f"{home}/geheim x", f"{home}/%C3%B6ffnen", f"{sharp}/1"]
    server.routes["/s%20%C3%A4.xml"] = Reply(body=urlset(*listed), headers=XML)
    crawled = await crawl(tmp_path, {"SITEMAP_RESOLVER": "tests.spider.server.lookup"}, sites=home)
    assert crawled.urls == [f"{home}/ä?ö=ü", f"{home}/a b", f"{sharp}/1"]
    assert crawled.report["counts"]["disallowed"] == 2
    assert [(seen.host, seen.target) for seen in server.requests] == [
        (f"xn--bcher-kva.example:{server.port}", "/robots.txt"),
        (f"xn--fa-hia.example:{server.port}", "/robots.txt"),
        (f"xn--fa-hia.example:{server.port}", "/s%20%C3%A4.xml"),
    ]
    file = crawled.file(f"{sharp}/s ä.xml")
    assert (file["status"], file["finalUrl"]) == ("ok", None)
    assert crawled.rows[0]["site"] == f"http://xn--bcher-kva.example:{server.port}"


async def test_L10_L12_L14_L03_what_is_no_row_is_listed_and_the_file_goes_on(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    long = f"{server.origin}/" + "x" * 5_000
    too_long = f"{server.origin}/" + "x" * 8_200
    listed = [
        "https://u:p@example.com/a",
        "javascript:alert(1)",
        "mailto:a@example.com",
        "ftp://example.com/a",
        "android-app://com.example/a",
        f"{server.origin}/a\u200bb",
        f"{server.origin}/a&#10;b",
        "http://exa mple.com/",
        "http://example.com:99999/",
        long,
        too_long,
        "",
        f"{server.origin}/last",
    ]
    publish(server, {"/s.xml": Reply(body=urlset(*listed), headers=XML)})
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [long, f"{server.origin}/last"]
    reasons = [skip["reason"] for skip in crawled.skips(stage="url")]
    assert reasons == [
        "userinfo",
        "unsupported_scheme",
        "unsupported_scheme",
        "unsupported_scheme",
        "unsupported_scheme",
        "invalid_character",
        "invalid_character",
        "invalid_url",
        "invalid_url",
        "invalid_url",
    ]
    assert crawled.report["counts"]["invalid"] == 10
    assert "u:p" not in (crawled.records / "SKIPPED.json").read_text()
    file = crawled.file(server.origin + "/s.xml")
    assert (file["status"], file["faults"]["empty_loc"], file["faults"]["long_url"]) == ("ok", 1, 1)


async def test_L09_letter_case_of_paths_is_kept(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    publish(server, {"/SiteMap_A.xml": Reply(body=urlset(f"{server.origin}/A", f"{server.origin}/a"), headers=XML)})
    crawled = await crawl(tmp_path, sites=server.origin)
    assert server.paths() == ["/robots.txt", "/SiteMap_A.xml"]
    assert crawled.urls == [f"{server.origin}/A", f"{server.origin}/a"]


# C. Running


class Purse:
    """A sink that pays for a hundred rows, as the platform's spending limit would."""

    rows: ClassVar[list[Row]] = []

    async def open(self) -> None:
        self.rows.clear()

    async def deliver(self, rows: Sequence[Row]) -> int:
        paid = rows[: 100 - len(self.rows)]
        self.rows.extend(paid)
        return len(paid)

    def take_refused(self) -> list[tuple[Row, str]]:
        return []

    def saved_before(self, site: str, key: str) -> bool:
        return False

    def saved_before_count(self) -> int:
        return 0

    def charged(self) -> dict[Event, int]:
        return {Event.URL: len(self.rows)}

    async def close(self) -> None:
        pass


async def test_C01_at_the_spending_limit_rows_and_charges_agree_to_the_row(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, *(f"Sitemap: {server.origin}/{name}.xml" for name in "ab"))
    serve(server, "/a.xml", *(f"/a{number}" for number in range(250)))
    server.routes["/b.xml"] = Script(HANG)
    crawled = await crawl(tmp_path, {"SITEMAP_SINK": "tests.spider.test_faults_structure.Purse"}, sites=server.origin)
    assert [row["url"] for row in Purse.rows] == [f"{server.origin}/a{number}" for number in range(100)]
    report = crawled.report
    assert (report["result"], report["stopReason"]) == ("stopped_early", "spending_limit")
    assert report["charged"] == {"url": 100}
    counts = report["counts"]
    assert (counts["saved"], counts["notSaved"], counts["notSavedAtSpendingLimit"]) == (100, 150, 150)
    assert "150 URLs were ready but not saved" in report["message"]
    assert told(crawled, server.origin + "/b.xml")[1] == "not_reached"


@pytest.mark.parametrize("count", [0, 1, 2, 3, 999, 1_000, 1_001, 2_000])
async def test_C02_no_entry_is_lost_at_any_count(site: SiteFactory, tmp_path: Path, count: int) -> None:
    server = site()
    paths = [f"/{number}" for number in range(count)]
    serve(server, "/sitemap.xml", *paths)
    crawled = await crawl(tmp_path, sites=server.origin, maxUrls="5000")
    assert crawled.urls == [server.origin + path for path in paths]
    assert crawled.report["counts"]["listed"] == crawled.report["counts"]["saved"] == count


async def test_C03_each_site_says_why_nothing_came(site: SiteFactory, tmp_path: Path) -> None:
    nothing, refused, barred, broken, filtered = (site(f"127.0.0.{number}") for number in range(1, 6))
    refused.routes["/robots.txt"] = Reply(403)
    serve_robots(barred, "User-agent: *", "Disallow: /")
    publish(broken, {"/s.xml": Reply(500)})
    serve(filtered, "/sitemap.xml", "/1", lastmod="2001-01-01")
    every = (nothing, refused, barred, broken, filtered)
    crawled = await crawl(
        tmp_path, QUICK, sites=",".join(each.origin for each in every), changedSince="2026-01-01", tryCommonPaths="true"
    )
    assert crawled.rows == []
    assert crawled.report["result"] == "finished"
    said = {entry["site"]: (entry["status"], entry["message"]) for entry in crawled.report["sites"]}
    assert said[nothing.origin] == (
        "failed",
        "No sitemap found: there is no robots.txt to name one, and no common path has one.",
    )
    assert said[refused.origin] == ("skipped", "Skipped: this client was refused (HTTP 403).")
    assert said[barred.origin] == ("skipped", "Skipped: robots.txt disallows the whole site (group *).")
    assert said[broken.origin][0] == "failed"
    assert "HTTP 500" in said[broken.origin][1]
    assert said[filtered.origin][0] == "ok"
    assert "Saved no URL of 5 sites" in crawled.report["message"]


async def test_C03_a_site_read_whole_says_where_its_pages_went(site: SiteFactory, tmp_path: Path) -> None:
    server, closed = site(), site("127.0.0.2")
    closed.routes["/robots.txt"] = Reply(403)
    publish(server, {"/s.xml": Reply(body=urlset(f"{closed.origin}/1", f"{closed.origin}/2", "mailto:a"), headers=XML)})
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.site["status"] == "ok"
    assert crawled.report["message"] == (
        "Saved no URL of 1 site. 2 URLs are on hosts closed to this run. 1 URL is invalid."
    )


async def test_C04_memory_grows_by_a_fingerprint_for_a_kept_page_and_by_nothing_for_another(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site()
    entries = "<url><loc>{}</loc><lastmod>2020-01-01</lastmod></url>"
    for number in range(12):
        pages = "".join(entries.format(f"{server.origin}/{number}/{page}/" + "x" * 60) for page in range(3_000))
        server.routes[f"/{number}.xml"] = Reply(body=URLSET.format(pages), headers=XML)

    async def peak(files: int, **given: str) -> int:
        serve_robots(server, *(f"Sitemap: {server.origin}/{number}.xml" for number in range(files)))
        tracemalloc.start()
        try:
            crawled = await crawl(tmp_path, {"FEEDS": {}}, sites=server.origin, maxUrls="500000", **given)
            assert crawled.report["counts"]["listed"] == 3_000 * files
            del crawled
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    await peak(4)  # imports and caches; two files are on their way at a time
    assert await peak(12) - await peak(4) < 24_000 * 120
    assert await peak(12, changedSince="2026-01-01") - await peak(4, changedSince="2026-01-01") < 24_000 * 20


async def test_C05_nobody_but_the_target_hosts_is_asked(
    site: SiteFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def lookup(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    server = site()
    home = f"http://www.example.com:{server.port}"
    server.routes["/sitemap.xml"] = Reply(body=urlset(f"{home}/1"), headers=XML)
    crawled = await crawl(tmp_path, {"SITEMAP_RESOLVER": lookup}, sites=home)
    assert crawled.urls == [f"{home}/1"]
    assert set(asked) == {"www.example.com"}


@pytest.mark.parametrize(
    "warning", ["<br />\n<b>Warning</b>: x in y.php on line 3<br />\n", "<div>x</div>", "<p>a</p>\n"]
)
async def test_X03_a_servers_warning_in_front_of_a_large_file_costs_none_of_it(
    site: SiteFactory, tmp_path: Path, warning: str
) -> None:
    server = site()
    pages = [f"{server.origin}/{number}/" + "x" * 60 for number in range(20_000)]
    publish(server, {"/s.xml": Reply(body=warning + urlset(*pages), headers=HTML)})
    crawled = await crawl(tmp_path, sites=server.origin, maxUrls="500000")
    assert crawled.urls == pages
    file = crawled.file(server.origin + "/s.xml")
    assert (file["status"], file["faults"]["leading_junk"]) == ("ok", 1)


@pytest.mark.parametrize(
    "start",
    ["<!DOCTYPE html>\n<html>", "<html>", "<?xml version='1.0'?>\n<!DOCTYPE html><html>", "<script>x</script><html>"],
)
async def test_X27_a_large_page_is_left_after_64_kib(site: SiteFactory, tmp_path: Path, start: str) -> None:
    server = site()
    page = start + "<body>" + "<p>words and more words</p>" * 100_000
    publish(server, {"/s.xml": Reply(body=page, headers=HTML)})
    crawled = await crawl(tmp_path, sites=server.origin, tryCommonPaths="false")
    file = crawled.file(server.origin + "/s.xml")
    assert (file["status"], file["reason"]) == ("failed", "unsupported_format")
    assert file["unpackedBytes"] < 400_000
