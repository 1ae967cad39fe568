"""Pages on another host than their sitemap's, on days on which nobody can say what that host's robots.txt allows."""

from pathlib import Path

import pytest

from tests.spider.conftest import SiteFactory
from tests.spider.helpers import URLSET, XML, Crawled, serve_robots
from tests.spider.server import Reply, Site
from tests.spider.test_monitor_scenarios import changes, index_text, monitor, put_tagged, robots, text

DOWN = [
    Reply(503),
    Reply(403),
    Reply(301),
    Reply(body=b"User-agent: *\n", headers={"Content-Length": "999"}, keep_alive=False),
]


def _list(server: Site, elsewhere: Site, **pages: str | None) -> None:
    """The site's own page `/own`, and the other host's `pages` with their lastmods."""
    own = text(server, {"/own": None})
    server.routes["/a.xml"] = Reply(
        body=own.replace("</urlset>", _entries(elsewhere, pages) + "</urlset>"), headers=XML
    )


def _entries(elsewhere: Site, pages: dict[str, str | None]) -> str:
    return "".join(
        f"<url><loc>{elsewhere.origin}/{name}</loc>{f'<lastmod>{date}</lastmod>' if date else ''}</url>"
        for name, date in pages.items()
    )


@pytest.mark.parametrize("down", DOWN, ids=["error", "forbidden", "redirect to nowhere", "short"])
async def test_what_changed_on_a_host_that_could_not_be_judged_is_told_by_the_next_run(
    site: SiteFactory, tmp_path: Path, down: Reply
) -> None:
    server, elsewhere = site(), site()
    robots(server, "/a.xml")
    serve_robots(elsewhere)
    _list(server, elsewhere, same="2026-01-01", moves="2026-01-01", goes="2026-01-01", bare=None)
    assert set(changes(await monitor(tmp_path, server)).values()) == {"baseline"}

    elsewhere.routes["/robots.txt"] = down
    _list(server, elsewhere, same="2026-01-01", moves="2026-02-02", comes="2026-02-02", goes="2026-01-01", bare=None)
    second = await monitor(tmp_path, server, includeExisting="true")
    assert changes(second) == {"own": "existing"}
    assert second.report["counts"]["skipped"] == 5
    assert (await monitor(tmp_path, server)).rows == []

    serve_robots(elsewhere)
    _list(server, elsewhere, same="2026-01-01", moves="2026-02-02", comes="2026-02-02", bare=None)
    fourth = await monitor(tmp_path, server)
    assert changes(fourth) == {"moves": "modified", "comes": "new", "goes": "removed"}
    assert (await monitor(tmp_path, server)).rows == []


async def test_pages_of_a_host_that_the_first_run_could_not_judge_are_no_news_later(
    site: SiteFactory, tmp_path: Path
) -> None:
    server, elsewhere = site(), site()
    robots(server, "/a.xml")
    elsewhere.routes["/robots.txt"] = Reply(500)
    _list(server, elsewhere, one=None, two=None)
    assert changes(await monitor(tmp_path, server)) == {"own": "baseline"}
    assert (await monitor(tmp_path, server)).rows == []
    serve_robots(elsewhere)
    assert changes(await monitor(tmp_path, server)) == {"one": "baseline", "two": "baseline"}


async def test_an_unchanged_file_still_tells_what_waited(site: SiteFactory, tmp_path: Path) -> None:
    server, elsewhere = site(), site()
    robots(server, "/index.xml")
    serve_robots(elsewhere)
    put_tagged(server, "/index.xml", index_text(server, "/a.xml"))

    def day(pages: dict[str, str | None]) -> None:
        put_tagged(server, "/a.xml", text(elsewhere, pages))

    day({"/x": "2026-01-01", "/y": None})
    await monitor(tmp_path, server)
    elsewhere.routes["/robots.txt"] = Reply(503)
    day({"/x": "2026-02-01", "/y": None, "/z": None})
    assert (await monitor(tmp_path, server)).rows == []
    assert (await monitor(tmp_path, server)).rows == []
    serve_robots(elsewhere)
    assert changes(await monitor(tmp_path, server)) == {"x": "modified", "z": "new"}
    last = await monitor(tmp_path, server)
    assert last.rows == []
    assert last.report["counts"]["notModified"] == 2


async def test_a_deploy_stamp_on_a_day_that_nobody_could_judge_is_no_change_later(
    site: SiteFactory, tmp_path: Path
) -> None:
    server, elsewhere = site(), site()
    robots(server, "/a.xml")
    serve_robots(elsewhere)
    names = [f"p{number}" for number in range(12)]
    _list(server, elsewhere, **dict.fromkeys(names, "2026-01-01"))
    await monitor(tmp_path, server)
    elsewhere.routes["/robots.txt"] = Reply(503)
    _list(server, elsewhere, **dict.fromkeys(names, "2026-02-01"))
    assert (await monitor(tmp_path, server)).rows == []
    serve_robots(elsewhere)
    assert (await monitor(tmp_path, server)).rows == []
    _list(server, elsewhere, **dict.fromkeys(names, "2026-02-01") | {"p1": "2026-03-01"})
    assert changes(await monitor(tmp_path, server)) == {"p1": "modified"}


async def test_a_page_that_a_pattern_excludes_costs_no_robots_txt(site: SiteFactory, tmp_path: Path) -> None:
    server, elsewhere = site(), site()
    robots(server, "/a.xml")
    _list(server, elsewhere, one=None)
    crawled: Crawled = await monitor(tmp_path, server, excludeUrlPatterns=f"{elsewhere.origin}/*")
    assert changes(crawled) == {"own": "baseline"}
    assert elsewhere.requests == []


async def test_pages_past_the_25_hosts_are_neither_lost_nor_news(site: SiteFactory, tmp_path: Path) -> None:
    """Which hosts are the first 25 depends on the order of the entries."""
    server, elsewhere = site(), site()
    robots(server, "/a.xml")
    serve_robots(elsewhere)
    nobody = "".join(f"<url><loc>http://127.0.1.{number}:9/x</loc></url>" for number in range(1, 26))

    def day(before: str, after: str, pages: dict[str, str | None]) -> None:
        body = URLSET.format(before + _entries(elsewhere, pages) + after)
        server.routes["/a.xml"] = Reply(body=body, headers=XML)

    day("", nobody, {"x": "2026-01-01", "gone": None})
    assert changes(await monitor(tmp_path, server)) == {"x": "baseline", "gone": "baseline"}
    day(nobody, "", {"x": "2026-02-01", "y": None, "gone": None})
    crowded = await monitor(tmp_path, server)
    assert crowded.rows == []
    assert crowded.report["counts"]["skipped"] == 28
    day("", nobody, {"x": "2026-02-01", "y": None})
    assert changes(await monitor(tmp_path, server)) == {"x": "modified", "y": "new", "gone": "removed"}
