"""Days on which robots.txt, an index or a deployment misleads, in histories of several runs."""

from pathlib import Path

import pytest

from tests.spider.conftest import SiteFactory
from tests.spider.helpers import serve_robots
from tests.spider.server import Reply, Site
from tests.spider.test_monitor_scenarios import (
    changes,
    flags,
    index_text,
    monitor,
    put,
    put_tagged,
    robots,
)

NAMELESS = [
    Reply(body="User-agent: *\nDisallow:\n", headers={"Content-Type": "text/plain"}),
    Reply(404),
    Reply(body="<html><title>Maintenance</title></html>", headers={"Content-Type": "text/html"}),
]


@pytest.mark.parametrize("nameless", NAMELESS, ids=["no lines", "not there", "a page"])
async def test_a_robots_txt_that_names_no_sitemap_for_a_day(site: SiteFactory, tmp_path: Path, nameless: Reply) -> None:
    server = site()
    robots(server, "/a.xml", "/b.xml")
    put(server, "/a.xml", "/1", "/2", "/gone")
    put(server, "/b.xml", "/3")
    put(server, "/sitemap.xml", "/1", "/other")
    await monitor(tmp_path, server)

    server.routes["/robots.txt"] = nameless
    second = await monitor(tmp_path, server)
    assert second.rows == []
    assert flags(second) == ["removalsHeld"]

    robots(server, "/a.xml", "/b.xml")
    put(server, "/a.xml", "/1", "/2", "/new")
    found = [changes(await monitor(tmp_path, server)) for _ in range(5)]
    assert found == [{"new": "new"}, {}, {"gone": "removed"}, {}, {}]


async def test_a_robots_txt_that_names_no_sitemap_for_good(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    robots(server, "/a.xml", "/b.xml")
    put(server, "/a.xml", "/1", "/2")
    put(server, "/b.xml", "/3")
    put(server, "/c.xml", "/1", "/other")
    server.routes["/sitemap.xml"] = Reply(body=index_text(server, "/b.xml", "/c.xml"))
    await monitor(tmp_path, server)
    serve_robots(server)
    found = [changes(await monitor(tmp_path, server)) for _ in range(5)]
    assert found == [{}, {}, {"2": "removed", "other": "baseline"}, {}, {}]
    put(server, "/c.xml", "/1", "/other", "/news")
    assert changes(await monitor(tmp_path, server)) == {"news": "new"}


@pytest.mark.parametrize("path", ["/sitemap.xml", "/sitemap_index.xml"])
async def test_a_named_sitemap_at_a_common_path_is_found_without_its_line(
    site: SiteFactory, tmp_path: Path, path: str
) -> None:
    server = site()
    robots(server, path)
    put(server, "/a.xml", "/1", "/2")
    if path != "/sitemap.xml":
        server.routes["/sitemap.xml"] = Reply(301, headers={"Location": path})
    server.routes[path] = Reply(body=index_text(server, "/a.xml"))
    await monitor(tmp_path, server)
    serve_robots(server)
    put(server, "/a.xml", "/1", "/3")
    assert changes(await monitor(tmp_path, server)) == {"2": "removed", "3": "new"}
    robots(server, path)
    assert (await monitor(tmp_path, server)).rows == []
    put(server, "/a.xml", "/3")
    found = [changes(await monitor(tmp_path, server)) for _ in range(4)]
    held = [{}] if path != "/sitemap.xml" else []  # the address that redirects is one recently dropped
    assert found == [*held, {"1": "removed"}, {}, {}, {}][:4]


def two_indexes_of_one_file(server: Site) -> None:
    """Both name /c.xml, which lists page 2."""
    robots(server, "/one.xml", "/two.xml")
    put_tagged(server, "/one.xml", index_text(server, "/a.xml", "/c.xml"))
    put_tagged(server, "/two.xml", index_text(server, "/c.xml"))
    put(server, "/a.xml", "/1")
    put(server, "/c.xml", "/2")


async def test_a_file_that_one_unchanged_index_dropped_while_the_other_failed(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site()
    two_indexes_of_one_file(server)
    await monitor(tmp_path, server)
    put_tagged(server, "/one.xml", index_text(server, "/a.xml"))
    server.routes["/two.xml"] = Reply(503)
    server.requests.clear()
    assert [changes(await monitor(tmp_path, server)) for _ in range(2)] == [{}, {}]
    put_tagged(server, "/two.xml", index_text(server, "/a.xml"))
    assert [changes(await monitor(tmp_path, server)) for _ in range(3)] == [{}, {}, {"2": "removed"}]
    assert "/c.xml" not in {seen.path for seen in server.requests}


async def test_a_file_of_two_unchanged_indexes_is_read_while_either_names_it(site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    two_indexes_of_one_file(server)
    await monitor(tmp_path, server)
    put_tagged(server, "/two.xml", index_text(server, "/a.xml"))
    assert [changes(await monitor(tmp_path, server)) for _ in range(2)] == [{}, {}]
    put(server, "/c.xml", "/2", "/3")
    assert changes(await monitor(tmp_path, server)) == {"3": "new"}
    put_tagged(server, "/one.xml", index_text(server, "/a.xml"))
    assert [changes(await monitor(tmp_path, server)) for _ in range(3)] == [{}, {}, {"2": "removed", "3": "removed"}]
    put_tagged(server, "/two.xml", index_text(server, "/c.xml"))
    assert changes(await monitor(tmp_path, server)) == {"2": "new", "3": "new"}
    assert (await monitor(tmp_path, server)).rows == []
