"""robots.txt as a crawl meets it (faults.md R20 to R29, spec 5): every answer, redirect and group in truth tables.

A table is one crawl: each row is a host of its own (a port of 127.0.0.1), with a sitemap that only an open host gives.
"""

import gzip
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.spider.conftest import SiteFactory
from tests.spider.helpers import QUICK, XML, Crawled, crawl, publish, serve, serve_robots, told, urlset
from tests.spider.server import CLOSE, RESET, Certificate, Reply, Script, Site, head

TEXT = {"Content-Type": "text/plain"}
HTML = {"Content-Type": "text/html"}
CLOSED_TO_ALL = "User-agent: *\nDisallow: /\n"
OPEN_TO_ALL = "User-agent: *\nAllow: /\n"
NO_PRIVATE = "User-agent: *\nDisallow: /private\n"
HOME = (
    "<!DOCTYPE html><html><head><title>Shop</title></head><body><a href='/login'>Log in</a> Disallow: /</body></html>"
)
LOGIN = "<html><head><title>Log in</title></head><body><form><input type='password' name='p'></form></body></html>"
CAPTCHA = "<html><head><title>Just a moment...</title></head><body><form id='challenge-form'></form></body></html>"

RULES, NONE, UNREADABLE = "rules", "none", "unreadable"
Row = tuple[Any, str, str | None]


def answers(other: Site) -> dict[str, Row]:
    """What comes for /robots.txt -> what REPORT says of the host, and why it is closed (None: it is open)."""
    short = Script(head(length=500, content_type="text/plain"), OPEN_TO_ALL.encode(), CLOSE)
    return {
        "rules": (Reply(body=NO_PRIVATE), RULES, None),
        "empty": (Reply(body=""), RULES, None),
        "204": (Reply(204), RULES, None),
        "gzip coding": (
            Reply(body=gzip.compress(NO_PRIVATE.encode()), headers=TEXT | {"Content-Encoding": "gzip"}),
            RULES,
            None,
        ),
        "rules as html type": (Reply(body=NO_PRIVATE, headers=HTML), RULES, None),
        "html page": (Reply(body=HOME, headers=HTML), NONE, None),
        "html page as text": (Reply(body=HOME, headers=TEXT), NONE, None),
        **{
            f"{status} open": (Reply(status, OPEN_TO_ALL), NONE, None) for status in (400, 402, 404, 405, 410, 418, 451)
        },
        "404 closed": (Reply(404, CLOSED_TO_ALL), NONE, None),
        "404 html": (Reply(404, HOME, HTML), NONE, None),
        **{f"{status} closed": (Reply(status, CLOSED_TO_ALL), UNREADABLE, "access_denied") for status in (401, 403)},
        **{f"{status} open": (Reply(status, OPEN_TO_ALL), UNREADABLE, "access_denied") for status in (401, 403)},
        "429 open": (Reply(429, OPEN_TO_ALL, {"Retry-After": "1"}), UNREADABLE, "rate_limited"),
        "429 closed": (Reply(429, CLOSED_TO_ALL), UNREADABLE, "rate_limited"),
        **{
            f"{status} open": (Reply(status, OPEN_TO_ALL), UNREADABLE, "robots_txt_server_error")
            for status in (500, 501, 502, 503, 504, 599, 600, 999)
        },
        "login page": (Reply(body=LOGIN, headers=HTML), UNREADABLE, "login_page"),
        "captcha": (Reply(body=CAPTCHA, headers=HTML), UNREADABLE, "captcha"),
        "captcha 503": (Reply(503, CAPTCHA, HTML), UNREADABLE, "captcha"),
        "captcha 403": (Reply(403, CAPTCHA, HTML), UNREADABLE, "captcha"),
        "NULs": (Reply(body=b"User-agent: *\0\nAllow: /\n"), UNREADABLE, "robots_txt_server_error"),
        "UTF-16 without a mark": (Reply(body=OPEN_TO_ALL.encode("utf-16-le")), UNREADABLE, "robots_txt_server_error"),
        "br coding": (Reply(body=b"\x0b", headers={"Content-Encoding": "br"}), UNREADABLE, "robots_txt_server_error"),
        "short": (short, UNREADABLE, "network_error"),
        "reset": (Script(RESET), UNREADABLE, "network_error"),
        "closed": (Script(CLOSE), UNREADABLE, "network_error"),
        "no HTTP": (Script(b"hello\r\n\r\n", CLOSE), UNREADABLE, "network_error"),
        "304": (Reply(304), UNREADABLE, "robots_txt_redirect"),
        "302 without address": (Reply(302), UNREADABLE, "robots_txt_redirect"),
        "300 with address": (Reply(300, headers={"Location": "/robots2.txt"}), UNREADABLE, "robots_txt_redirect"),
        "to another file here": (Reply(301, headers={"Location": "/robots-prod.txt"}), RULES, None),
        "to another file here, relative": (Reply(308, headers={"Location": "robots-prod.txt"}), RULES, None),
        "to nothing here": (Reply(302, headers={"Location": "/gone.txt"}), NONE, None),
        "to a robots.txt elsewhere": (Reply(301, headers={"Location": f"{other.origin}/robots.txt"}), RULES, None),
        "to a robots.txt elsewhere, with query": (
            Reply(301, headers={"Location": f"{other.origin}/robots.txt?site=1"}),
            RULES,
            None,
        ),
        "elsewhere": (Reply(301, headers={"Location": f"{other.origin}/"}), UNREADABLE, "robots_txt_redirect"),
        "elsewhere, deeper": (
            Reply(301, headers={"Location": f"{other.origin}/de/robots.txt"}),
            UNREADABLE,
            "robots_txt_redirect",
        ),
        "to a login": (Reply(302, headers={"Location": "/login?next=/robots.txt"}), UNREADABLE, "login_page"),
        "to a login elsewhere": (Reply(302, headers={"Location": f"{other.origin}/sso"}), UNREADABLE, "login_page"),
        "to another scheme": (Reply(302, headers={"Location": "ftp://127.0.0.1/"}), UNREADABLE, "robots_txt_redirect"),
        "with a password": (
            Reply(302, headers={"Location": "http://u:p@127.0.0.1/robots.txt"}),
            UNREADABLE,
            "robots_txt_redirect",
        ),
        "loop": (Reply(302, headers={"Location": "/robots.txt"}), UNREADABLE, "too_many_redirects"),
        "five hops": (Reply(302, headers={"Location": "/hop2"}), RULES, None),
        "six hops": (Reply(302, headers={"Location": "/hop1"}), UNREADABLE, "too_many_redirects"),
        "to a server error": (Reply(302, headers={"Location": "/500"}), UNREADABLE, "robots_txt_server_error"),
        "to a refusal": (Reply(302, headers={"Location": "/403"}), UNREADABLE, "access_denied"),
    }


def host_of_row(site: SiteFactory, answer: Any) -> Site:
    server = site()
    server.routes |= {
        "/robots.txt": answer,
        "/robots-prod.txt": Reply(body=NO_PRIVATE),
        "/500": Reply(500),
        "/403": Reply(403),
        "/hop5": Reply(302, headers={"Location": "/hop6"}),
        "/hop6": Reply(body=NO_PRIVATE),
        **{f"/hop{number}": Reply(302, headers={"Location": f"/hop{number + 1}"}) for number in range(1, 5)},
    }
    serve(server, "/sitemap.xml", "/1")
    return server


async def test_R20_R21_R22_R19_every_answer_to_robots_txt(site: SiteFactory, tmp_path: Path) -> None:
    other = site("127.0.0.2")
    other.routes |= {"/robots.txt": Reply(body=NO_PRIVATE), "/robots.txt?site=1": Reply(body=NO_PRIVATE)}
    table = answers(other)
    servers = {name: host_of_row(site, answer) for name, (answer, _, _) in table.items()}
    crawled = await crawl(tmp_path, QUICK, sites=[server.origin for server in servers.values()])

    hosts = {host["host"]: (host["robotsTxt"], host["skippedFor"]) for host in crawled.report["hosts"]}
    got = {name: hosts[server.origin] for name, server in servers.items()}
    assert got == {name: (robots_txt, reason) for name, (_, robots_txt, reason) in table.items()}
    opened = {name for name, (_, _, reason) in table.items() if reason is None}
    assert {name for name, server in servers.items() if "/sitemap.xml" in server.paths()} == opened
    assert set(crawled.urls) == {f"{servers[name].origin}/1" for name in opened}
    statuses = {entry["site"]: entry["status"] for entry in crawled.report["sites"]}
    for name, (_, _, reason) in table.items():
        origin = servers[name].origin
        if reason is None:
            assert statuses[origin] == "ok", name
            assert crawled.skips(site=origin) == [], name
        else:
            assert statuses[origin] == "skipped", name
            stages = {(skip["stage"], skip["reason"]) for skip in crawled.skips(site=origin)}
            assert stages == {("robots.txt", reason), ("site", reason)}, name
    assert crawled.report["counts"]["robotsTxtRead"] == len(opened)
    assert set(other.paths()) == {"/robots.txt", "/robots.txt?site=1"}
    assert crawled.report["result"] == "finished"


async def test_R21_retries_of_robots_txt_are_one_each(site: SiteFactory, tmp_path: Path) -> None:
    down, up = site(), site("127.0.0.2")
    down.routes["/robots.txt"] = Reply(503, OPEN_TO_ALL)
    up.routes["/robots.txt"] = [Reply(503), Reply(body=NO_PRIVATE)]
    serve(up, "/sitemap.xml", "/1")
    crawled = await crawl(tmp_path, QUICK, sites=f"{down.origin},{up.origin}")
    assert down.paths() == ["/robots.txt"] * 2
    assert up.paths() == ["/robots.txt", "/robots.txt", "/sitemap.xml"]
    assert crawled.urls == [f"{up.origin}/1"]


async def test_R21_a_certificate_that_is_not_trusted_closes_the_host(
    site: SiteFactory, certificate: Certificate, tmp_path: Path
) -> None:
    server = site(certificate=certificate)
    serve(server, "/sitemap.xml", "/1")
    crawled = await crawl(tmp_path, QUICK, sites=server.origin)
    assert server.requests == []
    assert {(skip["stage"], skip["reason"]) for skip in crawled.skipped} == {
        ("robots.txt", "tls_error"),
        ("site", "tls_error"),
    }


async def test_R21_a_name_that_does_not_exist_closes_the_host(tmp_path: Path) -> None:
    settings = QUICK | {"SITEMAP_RESOLVER": "tests.spider.server.lookup"}
    crawled = await crawl(tmp_path, settings, sites="www.example.com")
    assert {(skip["stage"], skip["reason"]) for skip in crawled.skipped} == {
        ("robots.txt", "dns_error"),
        ("site", "dns_error"),
    }


async def test_R20_a_page_of_a_host_whose_robots_txt_cannot_be_read_is_not_saved(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site()
    closed = {
        "403": Reply(403, OPEN_TO_ALL),
        "500": Reply(500),
        "captcha": Reply(body=CAPTCHA),
        "redirect": Reply(302, headers={"Location": f"{server.origin}/elsewhere"}),
        "all": Reply(body=CLOSED_TO_ALL + "Allow: /page\n"),
        "slow": Reply(body="User-agent: *\nCrawl-delay: 61\n"),
    }
    others = {name: site("127.0.0.2") for name in closed}
    for name, answer in closed.items():
        others[name].routes["/robots.txt"] = answer
    serve(server, "/sitemap.xml", "/1", *(f"{other.origin}/page" for other in others.values()))
    crawled = await crawl(tmp_path, QUICK, sites=server.origin)
    assert crawled.urls == [f"{server.origin}/1"]
    assert [skip["address"] for skip in crawled.skips(stage="url", reason="host_closed")] == [
        f"{other.origin}/page" for other in others.values()
    ]
    assert crawled.report["counts"]["skipped"] == len(closed)
    assert {other.paths()[0] for other in others.values()} == {"/robots.txt"}


# Groups


GROUPS = {"": None, "open": "Disallow:", "part": "Disallow: /part", "all": "Disallow: /"}


async def test_R13_R29_our_group_everyones_and_apifys_in_all_combinations(site: SiteFactory, tmp_path: Path) -> None:
    servers: dict[tuple[str, str, str], Site] = {}
    for combination in itertools.product(GROUPS, repeat=3):
        server = servers[combination] = site()
        lines: list[str] = []
        for agent, choice in zip(("SitemapUrlExtractor", "apify", "*"), combination, strict=True):
            if GROUPS[choice] is not None:
                lines += [f"User-agent: {agent}", str(GROUPS[choice]), ""]
        serve_robots(server, *lines, f"Sitemap: {server.origin}/s.xml")
        serve(server, "/s.xml", "/part", "/free")
    crawled = await crawl(tmp_path, sites=[server.origin for server in servers.values()])
    saved = set(crawled.urls)
    for (own, apify, everyone), server in servers.items():
        binding = {own or everyone, apify}
        name = f"own={own} apify={apify} *={everyone}"
        if "all" in binding:
            assert server.paths() == ["/robots.txt"], name
            assert [skip["reason"] for skip in crawled.skips(site=server.origin)] == ["site_disallows_all"], name
            continue
        assert server.paths() == ["/robots.txt", "/s.xml"], name
        assert f"{server.origin}/free" in saved, name
        assert (f"{server.origin}/part" in saved) is ("part" not in binding), name
    said = {skip["detail"].partition(":")[0] for skip in crawled.skips(stage="url")}
    assert said == {"group SitemapUrlExtractor", "group apify", "group *"}


@pytest.mark.parametrize("lines", [("Allow: /s.xml", "Allow: /open"), ("Allow: /",), ("Allow: /$",)])
async def test_a_site_that_disallows_all_is_skipped_even_with_allow_lines(
    site: SiteFactory, tmp_path: Path, lines: tuple[str, ...]
) -> None:
    server = site()
    serve_robots(server, "User-agent: *", "Disallow: /", *lines, f"Sitemap: {server.origin}/s.xml")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert server.paths() == ["/robots.txt"]
    (skip,) = crawled.skipped
    assert (skip["stage"], skip["reason"]) == ("site", "site_disallows_all")


async def test_R27_R28_a_disallowed_sitemap_and_page_are_told_with_the_rule(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(
        server,
        "User-agent: *",
        "Disallow: /sitemap",
        "Disallow: /*.pdf$",
        f"Sitemap: {server.origin}/sitemap.xml",
        f"Sitemap: {server.origin}/open.xml",
    )
    serve(server, "/sitemap.xml", "/never")
    serve(server, "/open.xml", "/a.pdf", "/a.pdf?x=1")
    crawled = await crawl(tmp_path, sites=server.origin, maxSitemaps="1")
    assert server.paths() == ["/robots.txt", "/open.xml"]  # what is not asked for takes no place under maxSitemaps
    assert crawled.urls == [f"{server.origin}/a.pdf?x=1"]
    assert [(skip["stage"], skip["address"], skip["detail"]) for skip in crawled.skipped] == [
        ("sitemap", f"{server.origin}/sitemap.xml", "group *: Disallow: /sitemap"),
        ("url", f"{server.origin}/a.pdf", "group *: Disallow: /*.pdf$"),
    ]
    assert crawled.report["counts"]["disallowed"] == 1
    assert crawled.site["status"] == "partial"


# Hosts


async def test_R24_scheme_and_port_make_a_host(site: SiteFactory, certificate: Certificate, tmp_path: Path) -> None:
    plain, secure, port = site(), site(certificate=certificate), site()
    for server, rule in ((plain, "/plain"), (secure, "/secure"), (port, "/port")):
        serve_robots(server, "User-agent: *", f"Disallow: {rule}")
    listed = [f"{each.origin}{path}" for each in (plain, secure, port) for path in ("/plain", "/secure", "/port")]
    serve(plain, "/sitemap.xml", *listed)
    crawled = await crawl(tmp_path, {"SITEMAP_CA_FILE": str(certificate.ca_file)}, sites=plain.origin)
    barred = {f"{plain.origin}/plain", f"{secure.origin}/secure", f"{port.origin}/port"}
    assert crawled.urls == [url for url in listed if url not in barred]
    assert {skip["address"] for skip in crawled.skips(reason="robots_txt_disallowed")} == barred
    assert secure.paths() == port.paths() == ["/robots.txt"]


async def test_R24_a_robots_txt_is_read_once_for_all_sites_and_files_of_its_host(
    site: SiteFactory, tmp_path: Path
) -> None:
    server, other = site(), site("127.0.0.2")
    for each in (server, other):
        serve(each, "/sitemap.xml", f"{server.origin}/a", f"{other.origin}/b")
        serve(each, "/direct.xml", f"{server.origin}/c", f"{other.origin}/d")
    given = [server.origin, f"{server.origin}/direct.xml", other.origin, f"{other.origin}/direct.xml"]
    crawled = await crawl(tmp_path, sites=given)
    assert server.paths().count("/robots.txt") == other.paths().count("/robots.txt") == 1
    assert len(crawled.report["sites"]) == 4
    assert len(crawled.rows) == 4
    assert crawled.report["counts"]["duplicates"] == 4


async def test_R24_robots_redirects_use_up_none_of_the_25_hosts(site: SiteFactory, tmp_path: Path) -> None:
    server, hub = site(), site("127.0.0.9")
    others = [site(f"127.0.0.{number}") for number in range(10, 35)]
    for other in others:
        other.routes["/robots.txt"] = Reply(301, headers={"Location": f"{hub.origin}/robots.txt"})
    serve_robots(hub, "User-agent: *", "Disallow: /no")
    pages = [f"{other.origin}{path}" for other in others for path in ("/no", "/yes")]
    serve(server, "/sitemap.xml", *pages, f"{hub.origin}/yes", f"{server.origin}/1")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [*(f"{other.origin}/yes" for other in others), f"{server.origin}/1"]
    assert crawled.report["counts"]["disallowed"] == 25
    assert [skip["address"] for skip in crawled.skips(reason="max_hosts")] == [f"{hub.origin}/yes"]
    assert set(hub.paths()) == {"/robots.txt"}


async def test_a_page_that_nobody_wants_costs_no_request_and_no_host(site: SiteFactory, tmp_path: Path) -> None:
    server, unwanted, old, wanted = site(), site("127.0.0.2"), site("127.0.0.3"), site("127.0.0.4")
    entries = [(unwanted, "2026-02-01"), (old, "2001-01-01"), (wanted, "2026-02-01")]
    body = "".join(f"<url><loc>{each.origin}/p</loc><lastmod>{date}</lastmod></url>" for each, date in entries)
    server.routes["/sitemap.xml"] = Reply(body=f"<urlset>{body}</urlset>", headers=XML)
    crawled = await crawl(
        tmp_path, sites=server.origin, changedSince="2026-01-01", excludeUrlPatterns=f"{unwanted.origin}/*"
    )
    assert crawled.urls == [f"{wanted.origin}/p"]
    assert unwanted.requests == old.requests == []
    assert wanted.paths() == ["/robots.txt"]


async def test_pages_of_a_host_that_stopped_later_are_still_judged_and_saved(site: SiteFactory, tmp_path: Path) -> None:
    server, other = site(), site("127.0.0.2")
    serve_robots(other, "User-agent: *", "Disallow: /no", f"Sitemap: {other.origin}/closed.xml")
    other.routes["/closed.xml"] = Reply(403)
    serve_robots(server, f"Sitemap: {other.origin}/closed.xml", f"Sitemap: {server.origin}/mine.xml")
    serve(server, "/mine.xml", f"{other.origin}/yes", f"{other.origin}/no", "/1")
    crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.urls == [f"{other.origin}/yes", f"{server.origin}/1"]
    assert told(crawled, f"{other.origin}/closed.xml") == ("failed", "access_denied")
    stopped = {host["host"]: host["stoppedFor"] for host in crawled.report["hosts"]}
    assert stopped == {server.origin: None, other.origin: "access_denied"}


async def test_a_site_whose_host_closed_its_door_to_an_earlier_site_is_skipped(
    site: SiteFactory, tmp_path: Path
) -> None:
    first, *others, last = (site(f"127.0.0.{number}") for number in range(1, 7))
    publish(first, {"/s.xml": Reply(302, headers={"Location": f"{last.origin}/closed.xml"})})
    last.routes["/closed.xml"] = Reply(403)
    for each in others:
        serve(each, "/sitemap.xml", "/1", delay=0.5)  # five sites are read at once; the last one comes after them
    crawled = await crawl(tmp_path, QUICK, sites=[each.origin for each in (first, *others, last)])
    entry = next(entry for entry in crawled.report["sites"] if entry["site"] == last.origin)
    assert (entry["status"], entry["commonPathsTried"]) == ("skipped", [])
    assert "refused" in entry["message"]
    assert last.paths() == ["/robots.txt", "/closed.xml"]
    assert [(skip["stage"], skip["reason"]) for skip in crawled.skips(site=last.origin)] == [("site", "access_denied")]


async def test_a_refusal_behind_a_redirect_stops_the_host_that_refused(site: SiteFactory, tmp_path: Path) -> None:
    server, other = site(), site("127.0.0.2")
    publish(
        server,
        {
            "/a.xml": Reply(302, headers={"Location": f"{other.origin}/a.xml"}),
            "/b.xml": Reply(302, headers={"Location": f"{other.origin}/b.xml"}),
            "/mine.xml": Reply(body=urlset(f"{server.origin}/1"), headers=XML),
        },
    )
    other.routes["/a.xml"] = other.routes["/b.xml"] = Reply(403)
    crawled = await crawl(tmp_path, sites=server.origin)
    asked = other.paths()
    assert asked in (["/robots.txt", "/a.xml"], ["/robots.txt", "/b.xml"])  # both wait for robots.txt, in no order
    assert told(crawled, f"{server.origin}{asked[1]}") == ("failed", "access_denied")
    assert crawled.urls == [f"{server.origin}/1"]


# Crawl-delay and the gap


def gaps(server: Site) -> list[float]:
    """Seconds between the end of each answer and the start of the next request."""
    seen = server.requests
    return [later.started - earlier.ended for earlier, later in itertools.pairwise(seen) if earlier.ended]


OWN, EVERYONE, APIFY = (f"User-agent: {agent}" for agent in ("SitemapUrlExtractor", "*", "apify"))
DELAYS = {
    "everyone's group": (EVERYONE, "Crawl-delay: 0.3"),
    "our group": (EVERYONE, "Crawl-delay: 5", "Disallow:", OWN, "Crawl-delay: 0.3"),
    "apify's, the longer one": (EVERYONE, "Crawl-delay: 0.1", "Disallow:", APIFY, "Crawl-delay: 0.3"),
    "a run of agents": (OWN, "Crawl-delay: 0.3", "User-agent: x", "Disallow: /x"),
}


async def test_R26_the_crawl_delay_is_kept_from_the_end_of_the_last_request(site: SiteFactory, tmp_path: Path) -> None:
    servers = {name: site() for name in DELAYS}
    for name, server in servers.items():
        serve_robots(server, *DELAYS[name], f"Sitemap: {server.origin}/a.xml", f"Sitemap: {server.origin}/b.xml")
        serve(server, "/a.xml", "/1", delay=0.2)  # a slow answer is no part of the pause after it
        serve(server, "/b.xml", "/2")
    crawled = await crawl(tmp_path, sites=[server.origin for server in servers.values()])
    assert len(crawled.rows) == 2 * len(servers)
    for name, server in servers.items():
        assert server.paths() == ["/robots.txt", "/a.xml", "/b.xml"], name
        assert min(gaps(server)) >= 0.29, (name, gaps(server))
        assert server.most_at_once == 1
    assert {host["crawlDelaySecs"] for host in crawled.report["hosts"]} == {0.3}


async def test_without_a_crawl_delay_the_gap_is_a_quarter_of_a_second(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    serve_robots(server, "User-agent: *", "Crawl-delay: 0.01", *(f"Sitemap: {server.origin}/{n}.xml" for n in "abc"))
    for name in "abc":
        serve(server, f"/{name}.xml", f"/{name}")
    crawled = await crawl(tmp_path, {"SITEMAP_MIN_GAP_SECS": None}, sites=server.origin)
    assert len(crawled.rows) == 3
    assert min(gaps(server)) >= 0.24


@pytest.mark.parametrize(
    ("value", "reason"),
    [("61", "crawl_delay_too_long"), ("1e9", "crawl_delay_too_long"), ("abc", None), ("-5", None), ("nan", None)],
)
async def test_R26_crawl_delays_that_are_too_long_or_no_number(
    site: SiteFactory, tmp_path: Path, value: str, reason: str | None
) -> None:
    server = site()
    serve_robots(server, "User-agent: *", f"Crawl-delay: {value}", f"Sitemap: {server.origin}/a.xml")
    serve(server, "/a.xml", "/1")
    crawled: Crawled = await crawl(tmp_path, sites=server.origin)
    assert crawled.report["hosts"][0]["skippedFor"] == reason
    assert len(crawled.rows) == (reason is None)


# Reading


async def test_R25_a_large_robots_txt_is_read_to_500_kib(site: SiteFactory, tmp_path: Path) -> None:
    server, late = site(), site("127.0.0.2")
    comment = "# padding\n"
    before = "User-agent: *\n" + comment * 47_900
    assert 475_000 < len(before) < 512_000
    server.routes["/robots.txt"] = Reply(body=before + "Disallow: /part\n" + comment * 12_000)
    # the cut falls into the value: "Disallow: /" is left of "Disallow: /part", and half a rule is no rule
    late.routes["/robots.txt"] = Reply(body="User-agent: *\n".ljust(512_000 - 11, "\n") + "Disallow: /part\n")
    for each in (server, late):
        serve(each, "/sitemap.xml", "/part", "/free")
    crawled = await crawl(tmp_path, sites=f"{server.origin},{late.origin}")
    assert sorted(crawled.urls) == sorted([f"{server.origin}/free", f"{late.origin}/part", f"{late.origin}/free"])


async def test_R01_R02_R04_marks_encodings_and_line_ends_reach_the_rules(site: SiteFactory, tmp_path: Path) -> None:
    rules = "User-agent: *\nDisallow: /part\nSitemap: {}/s.xml\n"
    spellings: dict[str, Callable[[str], bytes]] = {
        "UTF-8 mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
        "UTF-16": lambda text: b"\xff\xfe" + text.encode("utf-16-le"),
        "Latin-1": lambda text: "# Größe\n".encode("latin-1") + text.encode(),
        "CR": lambda text: text.replace("\n", "\r").encode(),
        "hidden Allow": lambda text: text.replace(
            "Sitemap", "# x\u2028Allow: /part\u0085Allow: /part\nSitemap"
        ).encode(),
    }
    servers = {name: site() for name in spellings}
    for name, server in servers.items():
        server.routes["/robots.txt"] = Reply(body=spellings[name](rules.format(server.origin)))
        serve(server, "/s.xml", "/part", "/free")
    crawled = await crawl(tmp_path, sites=[server.origin for server in servers.values()])
    assert set(crawled.urls) == {f"{server.origin}/free" for server in servers.values()}
    assert crawled.report["counts"]["disallowed"] == len(servers)
