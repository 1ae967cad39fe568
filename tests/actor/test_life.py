"""What the platform does to a run: abort, time-out, migration, restart, and what the user sees meanwhile."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from tests.actor.fake_platform import DATASET, FakePlatform
from tests.actor.helpers import (
    PRICES,
    Starter,
    assert_no_secret,
    assert_report,
    assert_whole,
    environment,
    pages,
    serve,
)
from tests.actor.test_input import local_input, record
from tests.spider.helpers import serve_index
from tests.spider.server import Hold, Reply, Site


def many_files(site: Site, count: int, each: int) -> list[str]:
    """`count` files of `each` pages behind an index; returns all pages."""
    for number in range(count):
        serve(site, f"/part-{number}.xml", pages(site, each, number * each))
    serve_index(site, "/sitemap.xml", *(f"/part-{number}.xml" for number in range(count)))
    return pages(site, count * each)


async def until(condition: object, timeout: float = 30) -> None:
    assert callable(condition)
    async with asyncio.timeout(timeout):
        while not condition():
            await asyncio.sleep(0.01)


# --- abort


async def test_an_abort_under_a_long_crawl_delay_ends_within_5_seconds_with_everything_saved(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter
) -> None:
    many_files(site, 10, 50)
    site.routes["/robots.txt"] = Reply(body="User-agent: *\nCrawl-delay: 60\n")
    serve(site, "/first.xml", pages(site, 50, 9_000))
    fake.begin_run(PRICES, 5.0)
    fake.set_input({"sites": [site.url], "sitemapUrls": [f"{site.url}first.xml"], "maxUrls": 500_000})
    with Site("127.0.0.2") as other:
        serve(other, "/sitemap.xml", pages(other, 30))
        fake.set_input({"sites": [site.url, other.url], "maxUrls": 500_000})
        life = await starter.live(tmp_path, fake)
        await until(lambda: any(seen.target == "/sitemap.xml" for seen in other.requests) and site.requests)
        await asyncio.sleep(0.2)
        begun = time.monotonic()
        await fake.emit("aborting")
        ended = await life.end()
    assert time.monotonic() - begun < 5
    assert ended.code == 0, ended.log
    report = assert_report(fake)
    assert (report["result"], report["stopReason"]) == ("stopped_early", "aborted")
    assert len(fake.items) == 30 == fake.charged["url"]
    assert fake.last_message.startswith("The run was aborted.")
    assert site.paths() == ["/robots.txt"]


async def test_an_abort_while_a_file_is_on_its_way_breaks_it_off(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter
) -> None:
    hold = Hold()
    site.routes["/sitemap.xml"] = Reply(chunks=[b"<urlset>", hold, b"</urlset>"], headers={"Content-Type": "text/xml"})
    fake.set_input({"sites": [site.url]})
    life = await starter.live(tmp_path, fake)
    await until(hold.reached.is_set)
    begun = time.monotonic()
    await fake.emit("aborting")
    ended = await life.end()
    hold.release()
    assert time.monotonic() - begun < 5
    assert ended.code == 0, ended.log
    assert assert_report(fake)["stopReason"] == "aborted"


async def test_the_platforms_abort_at_the_spending_limit_is_told_as_that(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter
) -> None:
    serve(site, "/a.xml", pages(site, 10))
    hold = Hold()
    site.routes["/b.xml"] = Reply(chunks=[b"<urlset>", hold, b"</urlset>"], headers={"Content-Type": "text/xml"})
    fake.begin_run(PRICES, 0.002)
    fake.set_input({"sitemapUrls": [f"{site.url}a.xml", f"{site.url}b.xml"]})
    life = await starter.live(tmp_path, fake)
    await until(lambda: fake.charged["url"] == 10)
    await fake.emit("aborting")
    ended = await life.end()
    hold.release()
    assert ended.code == 0
    assert assert_report(fake)["stopReason"] == "spending_limit"


@pytest.mark.parametrize("one", [signal.SIGINT, signal.SIGTERM])
async def test_ctrl_c_ends_a_local_run_with_its_records(
    site: Site, tmp_path: Path, starter: Starter, one: signal.Signals
) -> None:
    hold = Hold()
    site.routes["/sitemap.xml"] = Reply(chunks=[b"<urlset>", hold, b"</urlset>"], headers={"Content-Type": "text/xml"})
    local_input(tmp_path, {"sites": [site.url]})
    life = await starter.start(tmp_path, environment())
    await until(hold.reached.is_set)
    os.kill(life.pid, one)
    ended = await life.end()
    hold.release()
    assert ended.code == 0, ended.log
    assert record(tmp_path, "REPORT")["stopReason"] == "aborted"


# --- time-out


async def test_a_run_stops_by_itself_15_seconds_before_its_time_out(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter
) -> None:
    hold = Hold()
    site.routes["/sitemap.xml"] = Reply(chunks=[b"<urlset>", hold, b"</urlset>"], headers={"Content-Type": "text/xml"})
    with Site("127.0.0.2") as other:
        serve(other, "/sitemap.xml", pages(other, 30))
        fake.begin_run(PRICES, 5.0, timeout_secs=22)
        fake.set_input({"sites": [site.url, other.url]})
        ended = await starter.at_home(tmp_path, fake)
    hold.release()
    assert ended.code == 0, ended.log
    left = fake.timeout_at.timestamp() - time.time()
    assert 8 < left < 15.5
    assert assert_report(fake)["stopReason"] == "run_timeout"
    assert len(fake.items) == 30 == fake.charged["url"]


# --- migration


async def test_a_moved_run_goes_on_and_reads_no_file_again_that_it_was_done_with(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter
) -> None:
    urls = many_files(site, 6, 100)
    hold = Hold()
    held = site.routes["/part-3.xml"]
    assert isinstance(held, Reply)
    site.routes["/part-3.xml"] = [Reply(chunks=[b"<urlset>", hold, b"</urlset>"], headers=held.headers), held]
    fake.begin_run(PRICES, 5.0)
    fake.set_input({"sites": [site.url], "maxUrls": 500_000})
    life = await starter.live(tmp_path, fake)
    await until(hold.reached.is_set)
    await fake.emit("migrating", {"timeRemainingSecs": 30})
    ended = await life.end()
    assert ended.code == -signal.SIGKILL  # by the platform, after the reboot it was asked for
    assert fake.reboots == 1
    assert len(fake.items) == 300 == fake.charged["url"]
    assert not any(terminal for _, terminal in fake.messages)
    hold.release()
    first = site.paths()
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 0, ended.log
    again = site.paths()[len(first) :]
    assert again == ["/robots.txt", "/part-3.xml", "/part-4.xml", "/part-5.xml"]
    assert_whole(fake, urls)
    report = assert_report(fake)
    counts = report["counts"]
    assert (counts["listed"], counts["saved"], counts["savedBefore"]) == (600, 300, 300)
    assert counts["sitemapsFetched"] == 7
    assert report["charged"] == {"url": 600, "change": 0}
    (entry,) = report["sites"]
    assert (entry["status"], entry["saved"]) == ("ok", 600)
    assert [file["status"] for file in entry["sitemaps"]] == ["ok"] * 7
    assert fake.last_message == "Saved 600 URLs of 1 site."
    assert_no_secret(fake, ended.log)


async def test_what_was_filtered_or_double_in_a_file_is_still_told_after_the_move(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter
) -> None:
    site.routes["/robots.txt"] = Reply(body="User-agent: *\nDisallow: /page-000003\n")
    serve(site, "/a.xml", [*pages(site, 10), *pages(site, 5), "nonsense"])
    hold = Hold()
    serve(site, "/b.xml", pages(site, 5, 50))
    second = site.routes["/b.xml"]
    site.routes["/b.xml"] = [Reply(chunks=[b"<urlset>", hold, b"</urlset>"]), second]  # type: ignore[list-item]
    fake.begin_run(PRICES, 5.0)
    fake.set_input({"sitemapUrls": [f"{site.url}a.xml", f"{site.url}b.xml"]})
    life = await starter.live(tmp_path, fake)
    await until(hold.reached.is_set)
    await until(lambda: len(fake.items) == 9)  # asking for the second file does not wait for the first one's rows
    await fake.emit("migrating", {})
    await life.end()
    hold.release()
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 0, ended.log
    assert site.paths().count("/a.xml") == 1
    counts = assert_report(fake)["counts"]
    assert (counts["listed"], counts["savedBefore"], counts["saved"]) == (21, 9, 5)
    assert (counts["duplicates"], counts["disallowed"], counts["invalid"]) == (4, 2, 1)


async def test_a_moved_run_does_not_leave_by_itself(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter
) -> None:
    many_files(site, 3, 10)
    hold = Hold()
    site.routes["/part-1.xml"] = Reply(chunks=[b"<urlset>", hold, b"</urlset>"], headers={"Content-Type": "text/xml"})
    fake.set_input({"sites": [site.url]})
    fake.fail("POST", r"/reboot$", status=500, times=1)  # the client asks again
    life = await starter.live(tmp_path, fake)
    await until(hold.reached.is_set)
    await fake.emit("migrating", {})
    await until(lambda: len(fake.paths("POST", r"/reboot$")) >= 2)
    ended = await life.end()
    hold.release()
    assert ended.code == -signal.SIGKILL
    assert site.paths()[-1] == "/part-1.xml"


# --- what the user sees


async def test_the_status_message_changes_while_it_works_and_ends_with_a_plain_sentence(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter
) -> None:
    many_files(site, 2, 10)
    hold = Hold()
    held = site.routes["/part-1.xml"]
    assert isinstance(held, Reply)
    assert isinstance(held.body, str)
    site.routes["/part-1.xml"] = Reply(chunks=[hold, held.body.encode()], headers={"Content-Type": "text/xml"})
    fake.set_input({"sites": [site.url]})
    life = await starter.live(tmp_path, fake)
    await until(lambda: len({message for message, _ in fake.messages}) >= 2)
    hold.release()
    await life.end()
    texts = [message for message, _ in fake.messages]
    assert f"Reading 127.0.0.1:{site.port}: 10 URLs saved, 0 of 1 site done." in texts
    assert fake.last_message == "Saved 20 URLs of 1 site."
    assert [terminal for _, terminal in fake.messages].count(True) == 1


async def test_the_dataset_holds_billable_rows_only(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter
) -> None:
    serve(site, "/sitemap.xml", [*pages(site, 3), "nonsense"])
    fake.begin_run(PRICES, 5.0)
    fake.set_input({"sites": [site.url]})
    await starter.at_home(tmp_path, fake)
    assert [kind for kind, _ in fake.stores if kind == "datasets"] == ["datasets"]
    assert len(fake.stores["datasets", DATASET].items) == 3 == fake.charged["url"]
