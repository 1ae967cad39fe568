"""faults.md G and H as whole crawls: what comes over the wire, what becomes of rows, files, SKIPPED and the totals.

`crawl` asserts in every test that the totals add up; `only` asserts that nothing but published URLs came out.
"""

import gzip
from pathlib import Path
from typing import Any

import pytest

from tests.spider.conftest import SiteFactory
from tests.spider.helpers import QUICK, XML, Crawled, crawl, publish, serve, serve_index, serve_robots, told, urlset
from tests.spider.server import CLOSE, RESET, Reply, Script, Site, head

GZ = {"Content-Type": "application/gzip"}
PAGES = ("/1", "/2")


def pages(server: Site, *paths: str) -> list[str]:
    return [server.origin + path for path in paths or PAGES]


def body(server: Site, *paths: str) -> bytes:
    return urlset(*pages(server, *paths)).encode()


async def read_one(server: Site, tmp_path: Path, path: str, answer: Any, **given: Any) -> tuple[Crawled, Any]:
    """Crawl a site whose robots.txt names one sitemap; return the crawl and that file's entry in REPORT."""
    publish(server, {path: answer})
    crawled = await crawl(tmp_path, QUICK, sites=server.origin, tryCommonPaths="false", **given)
    assert {row["sourceSitemap"] for row in crawled.rows} <= {server.origin + path}
    return crawled, crawled.file(server.origin + path)


async def test_G01_a_gz_name_with_plain_xml_inside(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    crawled, file = await read_one(server, tmp_path, "/s.xml.gz", Reply(body=body(server), headers=GZ))
    assert crawled.urls == pages(server)
    assert (file["status"], file["kind"], file["faults"]) == ("ok", "urlset", {"gzip_mismatch": 1})


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "GZIP"])
async def test_G02_the_http_coding_is_undone_once_and_the_file_looked_at_apart(
    site: SiteFactory, tmp_path: Path, coding: str
) -> None:
    server = site()
    once = gzip.compress(body(server))
    publish(
        server,
        {
            "/coded.xml.gz": Reply(body=once, headers=GZ | {"Content-Encoding": coding}),
            "/both.xml.gz": Reply(body=gzip.compress(once), headers=GZ | {"Content-Encoding": coding}),
            "/plain.xml": Reply(body=once, headers=XML | {"Content-Encoding": coding}),
        },
    )
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == pages(server)
    assert crawled.report["counts"]["duplicates"] == 4
    for path in ("/coded.xml.gz", "/both.xml.gz", "/plain.xml"):
        file = crawled.file(server.origin + path)
        assert (file["status"], file["listed"]) == ("ok", 2)
        assert (file["bytes"], file["unpackedBytes"]) == (len(server.routes[path].body), len(body(server)))
        assert "gzip_mismatch" not in file["faults"]


async def test_G03_two_gzip_layers_are_undone_and_a_third_is_a_container(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    twice = gzip.compress(gzip.compress(body(server)))
    publish(server, {"/two.xml.gz": Reply(body=twice), "/three.xml.gz": Reply(body=gzip.compress(twice))})
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == pages(server)
    assert told(crawled, server.origin + "/two.xml.gz") == ("ok", None)
    assert crawled.file(server.origin + "/two.xml.gz")["faults"]["gzip_mismatch"] == 1
    assert told(crawled, server.origin + "/three.xml.gz") == ("failed", "unsupported_format")
    (skip,) = crawled.skipped
    assert (skip["address"], skip["stage"]) == (server.origin + "/three.xml.gz", "sitemap")


async def test_G04_a_tail_behind_a_good_gzip(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    tail = b"<!-- cached by a plugin, https://example.com/not-a-page -->"
    crawled, file = await read_one(server, tmp_path, "/s.xml.gz", Reply(body=gzip.compress(body(server)) + tail))
    assert crawled.urls == pages(server)
    assert (file["status"], file["faults"]["trailing_bytes"]) == ("ok", 1)
    assert crawled.skipped == []


async def test_G05_a_truncated_gzip_is_partial_and_gives_whole_entries_only(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    paths = [f"/page-{number}-{hash(str(number))}" for number in range(2_000)]
    packed = gzip.compress(body(server, *paths))
    crawled, file = await read_one(server, tmp_path, "/s.xml.gz", Reply(body=packed[:-200], headers=GZ), maxUrls="9999")
    assert 0 < len(crawled.rows) < 2_000
    assert crawled.urls == pages(server, *paths)[: len(crawled.rows)]
    assert (file["status"], file["reason"]) == ("partial", "malformed")
    assert crawled.skips(reason="malformed")[0]["address"] == server.origin + "/s.xml.gz"
    assert crawled.site["status"] == "partial"


@pytest.mark.parametrize("cut", [8, 4])
async def test_G05_a_missing_trailer_is_never_whole(site: SiteFactory, tmp_path: Path, cut: int) -> None:
    server = site()
    packed = gzip.compress(body(server))
    broken = packed[:-cut] + (b"\0" * cut if cut == 4 else b"")  # no trailer; a wrong length in it
    crawled, file = await read_one(server, tmp_path, "/s.xml.gz", Reply(body=broken))
    assert crawled.urls == pages(server)
    assert (file["status"], file["reason"]) == ("partial", "malformed")


async def test_G08_the_content_type_decides_nothing(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    packed = gzip.compress(body(server))
    types = ["application/gzip", "application/octet-stream", "application/xml", "text/plain", "image/png", "nonsense"]
    publish(
        server,
        {f"/{number}.xml.gz": Reply(body=packed, headers={"Content-Type": kind}) for number, kind in enumerate(types)}
        | {"/none.xml.gz": Script(head(length=len(packed)), packed)},
    )
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == pages(server)
    assert {file["status"] for file in crawled.site["sitemaps"]} == {"ok"}
    assert crawled.report["counts"]["listed"] == 2 * (len(types) + 1)
    noted = [file["url"] for file in crawled.site["sitemaps"] if "wrong_content_type" in file["faults"]]
    assert noted == [f"{server.origin}/{number}.xml.gz" for number in (3, 4, 5)]


async def test_G09_an_invented_content_encoding(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    plain, packed = body(server), gzip.compress(body(server))
    publish(
        server,
        {
            "/gz-packed.xml": Reply(body=packed, headers=XML | {"Content-Encoding": "gz"}),
            "/gz-plain.xml": Reply(body=plain, headers=XML | {"Content-Encoding": "gz"}),
            "/compress-plain.xml": Reply(body=plain, headers=XML | {"Content-Encoding": "compress"}),
            "/noise.xml": Reply(body=b"\x1f\x9d\x90 noise", headers=XML | {"Content-Encoding": "compress"}),
            "/lines.txt": Reply(body=b"https://example.com/a\n", headers={"Content-Encoding": "sdch"}),
        },
    )
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == pages(server)
    for path in ("/gz-packed.xml", "/gz-plain.xml", "/compress-plain.xml"):
        assert told(crawled, server.origin + path) == ("ok", None)
        assert crawled.file(server.origin + path)["faults"]["gzip_mismatch"] == 1
    for path in ("/noise.xml", "/lines.txt"):
        assert told(crawled, server.origin + path) == ("failed", "unsupported_encoding")


async def test_G10_a_bomb_is_skipped_whole(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    entry = f"<url><loc>{server.origin}/1</loc></url>".encode()
    million = gzip.compress(entry * 20_000, 9)
    bomb = gzip.compress(b"<urlset>") + million * 80  # members of one gzip file: 80 MB unpacked
    crawled, file = await read_one(server, tmp_path, "/s.xml.gz", Reply(body=bomb, headers=GZ))
    assert crawled.rows == []
    assert (file["status"], file["reason"], file["listed"]) == ("failed", "too_large", 0)
    assert file["faults"]["over_50_mb"] == 1
    assert file["unpackedBytes"] <= 52_428_800
    assert crawled.skips(reason="too_large")[0]["address"] == server.origin + "/s.xml.gz"


async def test_G11_a_gzipped_text_sitemap(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    lines = "\n".join(pages(server)).encode()
    crawled, file = await read_one(server, tmp_path, "/urllist.txt.gz", Reply(body=gzip.compress(lines), headers=GZ))
    assert crawled.urls == pages(server)
    assert (file["status"], file["kind"]) == ("ok", "text")
    assert [row["lastmod"] for row in crawled.rows] == [None, None]


@pytest.mark.parametrize("coding", ["br", "zstd", "deflate"])
async def test_G12_a_coding_that_was_not_asked_for(site: SiteFactory, tmp_path: Path, coding: str) -> None:
    server = site()
    answer = Reply(body=b"\x28\xb5\x2f\xfd\x04\x00 https://example.com/a", headers={"Content-Encoding": coding})
    crawled, file = await read_one(server, tmp_path, "/s.txt", answer)
    assert crawled.rows == []
    assert (file["status"], file["reason"]) == ("failed", "unsupported_encoding")
    assert coding in file["detail"]
    assert crawled.site["status"] == "failed"


async def test_G13_archives_are_not_opened(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    tar = b"sitemap.xml".ljust(257, b"\0") + b"ustar\0" + b"00" + b"\0" * 247 + body(server)
    publish(
        server,
        {"/s.zip": Reply(body=b"PK\x03\x04" + body(server)), "/s.tar.gz": Reply(body=gzip.compress(tar), headers=GZ)},
    )
    crawled = await crawl(tmp_path, sites=server.origin, tryCommonPaths="false")
    assert crawled.rows == []
    for path in ("/s.zip", "/s.tar.gz"):
        assert told(crawled, server.origin + path) == ("failed", "unsupported_format")


async def test_G15_content_length_given_twice(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    text = body(server)
    length = f"Content-Length: {len(text)}\r\n".encode()
    crawled, file = await read_one(
        server, tmp_path, "/s.xml", Script(b"HTTP/1.1 200 OK\r\n" + length + length + b"\r\n", text)
    )
    assert crawled.rows == []
    assert (file["status"], file["reason"]) == ("failed", "network_error")
    assert crawled.report["result"] == "finished"


async def test_G16_misdirected_request_and_a_protocol_nobody_speaks(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    preface = b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\0" * 18  # an HTTP/2 SETTINGS frame
    publish(server, {"/421.xml": Reply(421), "/h2.xml": Script(preface, CLOSE), "/fine.xml": Reply(body=body(server))})
    crawled = await crawl(tmp_path, QUICK, sites=server.origin)
    assert told(crawled, server.origin + "/421.xml") == ("failed", "http_error")
    assert told(crawled, server.origin + "/h2.xml") == ("failed", "network_error")
    assert crawled.urls == pages(server)
    assert {host["stoppedFor"] for host in crawled.report["hosts"]} == {None}


# Bodies that end too soon or too late (spec 6; no kind of their own in faults.md)


@pytest.mark.parametrize("end", [CLOSE, RESET], ids=repr)
async def test_a_body_shorter_than_promised_is_partial_after_its_retry(
    site: SiteFactory, tmp_path: Path, end: Any
) -> None:
    server = site()
    text = body(server)
    answer = Script(head(length=len(text) + 50, content_type="text/xml"), text[:-40], end)
    crawled, file = await read_one(server, tmp_path, "/s.xml", answer)
    assert (file["status"], file["reason"]) == ("partial", "network_error")
    assert set(crawled.urls) <= set(pages(server))
    assert server.paths().count("/s.xml") == 2
    assert crawled.skips(stage="sitemap")[0]["reason"] == "network_error"


async def test_a_complete_document_in_a_body_shorter_than_promised_is_not_whole(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site()
    text = body(server)
    crawled, file = await read_one(server, tmp_path, "/s.xml", Script(head(length=len(text) + 9), text, CLOSE))
    assert crawled.urls == pages(server)
    assert (file["status"], file["reason"]) == ("partial", "network_error")


async def test_a_retry_that_brings_the_whole_body_makes_it_whole(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    text = body(server)
    answers = [Script(head(length=len(text)), text[:-30], CLOSE), Reply(body=text)]
    crawled, file = await read_one(server, tmp_path, "/s.xml", answers)
    assert crawled.urls == pages(server)
    assert (file["status"], file["reason"]) == ("ok", None)
    assert crawled.report["counts"]["duplicates"] == 0


async def test_a_body_longer_than_promised_is_read_as_promised(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    text = body(server)
    answer = Script(head(length=len(text)), text + b"<url><loc>http://127.0.0.1/more</loc></url>")
    crawled, file = await read_one(server, tmp_path, "/s.xml", answer)
    assert crawled.urls == pages(server)
    assert file["status"] == "ok"


async def test_a_partial_content_that_nobody_asked_for_is_not_whole(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    crawled, file = await read_one(server, tmp_path, "/s.xml", Reply(206, body(server)))
    assert crawled.urls == pages(server)
    assert (file["status"], file["reason"]) == ("partial", "network_error")


# H. Answers and blocks


CHALLENGE = (
    "<html><head><title>Just a moment...</title></head><body>Checking your browser before accessing.</body></html>"
)


@pytest.mark.parametrize(
    "answer",
    [
        Reply(403, CHALLENGE, {"Content-Type": "text/html"}),
        Reply(503, CHALLENGE, {"Content-Type": "text/html"}),
        Reply(200, CHALLENGE, {"Content-Type": "text/html"}),
        Reply(200, "<html><title>example.com</title>", {"cf-mitigated": "challenge"}),
    ],
    ids=["403", "503", "200", "header"],
)
async def test_H01_a_challenge_stops_the_host_without_another_try(
    site: SiteFactory, tmp_path: Path, answer: Reply
) -> None:
    server, other = site(), site("127.0.0.2")
    publish(server, {"/a.xml": answer, "/b.xml": Reply(body=body(server))})
    publish(other, {"/a.xml": Reply(body=body(other))})
    crawled = await crawl(tmp_path, QUICK, sites=f"{server.origin}\n{other.origin}")
    assert server.paths() == ["/robots.txt", "/a.xml"]
    assert told(crawled, server.origin + "/a.xml") == ("failed", "captcha")
    assert told(crawled, server.origin + "/b.xml") == ("skipped", "host_closed")
    assert crawled.urls == pages(other)
    agents = {seen.headers["user-agent"] for seen in server.requests}
    assert len(agents) == 1


async def test_H04_our_refusal_is_told_as_ours(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    publish(server, {"/a.xml": lambda seen: Reply(403 if "Sitemap" in seen.headers["user-agent"] else 200)})
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.report["result"] == "finished"
    assert "this client was refused" in crawled.site["message"]
    assert "block" not in crawled.report["message"].lower()
    assert server.paths() == ["/robots.txt", "/a.xml"]  # no second try in another guise, no guess


async def test_H05_a_429_on_the_thirtieth_child_stops_that_host_only(site: SiteFactory, tmp_path: Path) -> None:
    server, other = site(), site("127.0.0.2")
    serve_robots(server, f"Sitemap: {server.origin}/index.xml")
    children = [f"/{number}.xml" for number in range(40)]
    serve_index(server, "/index.xml", *children, f"{other.origin}/far.xml")
    for number, path in enumerate(children):
        serve(server, path, f"/page{number}")
    server.routes[children[29]] = Reply(429, headers={"Retry-After": "5"})
    serve(other, "/far.xml", "/far")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert server.paths() == ["/robots.txt", "/index.xml", *children[:30]]
    assert sorted(crawled.urls) == sorted(
        [*(f"{server.origin}/page{number}" for number in range(29)), f"{other.origin}/far"]
    )
    assert told(crawled, server.origin + children[29]) == ("failed", "rate_limited")
    unread = crawled.skips(reason="host_closed")
    assert [skip["address"] for skip in unread] == [server.origin + path for path in children[30:]]
    assert crawled.site["status"] == "partial"


async def test_H06_redirects_of_a_sitemap(site: SiteFactory, tmp_path: Path) -> None:
    server, other = site(), site("127.0.0.2")
    hops = {f"/hop{number}": Reply(302, headers={"Location": f"/hop{number + 1}"}) for number in range(1, 7)}
    publish(
        server,
        {
            "/five.xml": Reply(
                301, headers={"Location": "hop2"}
            ),  # relative; hop2..hop6 are five hops to /hop7 no more
            "/off.xml": Reply(301, headers={"Location": f"{other.origin}/real.xml"}),
            "/no-address.xml": Reply(302),
            "/ftp.xml": Reply(302, headers={"Location": "ftp://example.com/s.xml"}),
            "/secret.xml": Reply(302, headers={"Location": f"http://u:p@127.0.0.1:{server.port}/real.xml"}),
        },
    )
    server.routes.update(hops)
    server.routes["/hop6"] = Reply(body=body(server))
    serve(other, "/real.xml", "/far", f"{server.origin}/near")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert sorted(crawled.urls) == sorted([f"{other.origin}/far", f"{server.origin}/near", *pages(server)])
    assert other.paths() == ["/robots.txt", "/real.xml"]
    five = crawled.file(server.origin + "/five.xml")
    assert (five["status"], five["finalUrl"], five["faults"]["redirected"]) == ("ok", server.origin + "/hop6", 1)
    off = crawled.file(server.origin + "/off.xml")
    assert (off["status"], off["finalUrl"]) == ("ok", other.origin + "/real.xml")
    assert off["faults"]["other_host"] == 1  # of the final address: the page back home
    assert {row["sourceSitemap"] for row in crawled.rows} == {server.origin + "/off.xml", server.origin + "/five.xml"}
    assert told(crawled, server.origin + "/no-address.xml") == ("failed", "http_error")
    for path in ("/ftp.xml", "/secret.xml"):
        assert told(crawled, server.origin + path) == ("failed", "invalid_url")
    assert "u:p" not in (crawled.records / "SKIPPED.json").read_text() + (crawled.records / "REPORT.json").read_text()


async def test_H06_a_sixth_redirect_is_too_many(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    server.routes |= {f"/hop{number}": Reply(302, headers={"Location": f"/hop{number + 1}"}) for number in range(9)}
    crawled, _ = await read_one(server, tmp_path, "/s.xml", Reply(307, headers={"Location": "/hop0"}))
    assert told(crawled, server.origin + "/s.xml") == ("failed", "too_many_redirects")
    assert server.paths() == ["/robots.txt", "/s.xml", *(f"/hop{number}" for number in range(5))]


async def test_H06_a_redirect_to_a_login_page_closes_the_door(site: SiteFactory, tmp_path: Path) -> None:
    server, other = site(), site("127.0.0.2")
    publish(
        server,
        {
            "/a.xml": Reply(302, headers={"Location": f"{other.origin}/login?next=a"}),
            "/b.xml": Reply(body=body(server)),
        },
    )
    crawled = await crawl(tmp_path, sites=server.origin)
    assert server.paths() == ["/robots.txt", "/a.xml"]
    assert other.requests == []
    assert told(crawled, server.origin + "/a.xml") == ("failed", "login_page")
    assert told(crawled, server.origin + "/b.xml") == ("skipped", "host_closed")


async def test_H06_a_redirect_meets_the_robots_txt_of_its_target(site: SiteFactory, tmp_path: Path) -> None:
    server, other = site(), site("127.0.0.2")
    serve_robots(other, "User-agent: *", "Disallow: /barred")
    crawled, file = await read_one(
        server, tmp_path, "/a.xml", Reply(301, headers={"Location": f"{other.origin}/barred.xml"})
    )
    assert other.paths() == ["/robots.txt"]
    assert (file["status"], file["reason"]) == ("failed", "robots_txt_disallowed")
    assert crawled.rows == []


@pytest.mark.parametrize("status", [404, 410])
async def test_H08_a_child_that_is_gone_fails_by_name_and_the_run_succeeds(
    site: SiteFactory, tmp_path: Path, status: int
) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/index.xml")
    serve_index(server, "/index.xml", "/gone.xml", "/here.xml")
    server.routes["/gone.xml"] = Reply(status, body(server, "/never"))
    serve(server, "/here.xml", *PAGES)
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == pages(server)
    gone = crawled.file(server.origin + "/gone.xml")
    assert (gone["status"], gone["reason"], gone["httpStatus"]) == ("failed", "http_error", status)
    assert crawled.report["result"] == "finished"
    assert crawled.site["status"] == "partial"
    (skip,) = crawled.skipped
    assert (skip["reason"], skip["foundIn"]) == ("http_error", server.origin + "/index.xml")
