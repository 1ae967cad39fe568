"""Monitor mode as an Actor: two events, the named store, and exactly once over kills and over runs."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.actor.fake_platform import DATASET, KVS, FakePlatform
from tests.actor.helpers import PRICES, Ended, Starter, assert_no_secret, environment, serve
from tests.actor.test_input import local_input, record, rows
from tests.spider.helpers import assert_adds_up, serve_index
from tests.spider.server import Site


def next_run(fake: FakePlatform, number: int, limit: float = 50.0) -> None:
    """A new run of the same account: its own default stores, the named ones stay."""
    fake.statuses[fake.run_id] = "SUCCEEDED"
    fake.run_id = f"run{number:014d}"
    fake.statuses[fake.run_id] = "RUNNING"
    given = fake.records["INPUT"]
    fake.stores["datasets", DATASET].items = []
    fake.stores["key-value-stores", KVS].records = {"INPUT": given}
    fake.charges.clear()
    fake._keys.clear()
    fake.begin_run(PRICES, limit)


def the_site(site: Site, *, day: int) -> dict[str, str]:
    """Day 1: 600 pages in two files. Day 2: 5 gone, 7 new, 11 with a later lastmod. Returns what day 2 changed."""
    old = [f"{site.url}p{number:04d}" for number in range(600)]
    dates = dict.fromkeys(old, "2026-01-01")
    changes: dict[str, str] = {}
    if day == 2:
        for url in old[:5]:
            del dates[url]
            changes[url] = "removed"
        for url in old[100:111]:
            dates[url] = "2026-02-02"
            changes[url] = "modified"
        for number in range(7):
            dates[f"{site.url}n{number}"] = "2026-02-03"
            changes[f"{site.url}n{number}"] = "new"
    urls = list(dates)
    for name, part in (("/a.xml", urls[:300]), ("/b.xml", urls[300:])):
        entries = "".join(f"<url><loc>{url}</loc><lastmod>{dates[url]}</lastmod></url>" for url in part)
        serve(site, name, [])
        site.routes[name].body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'  # type: ignore[union-attr]
    serve_index(site, "/sitemap.xml", "/a.xml", "/b.xml")
    return changes


def found(fake: FakePlatform) -> dict[str, str]:
    assert len({row["url"] for row in fake.items}) == len(fake.items)
    return {row["url"]: row["changeType"] for row in fake.items}


async def at_home(starter: Starter, folder: Path, fake: FakePlatform, kill: Any = None) -> Ended:
    fake.kill_at, fake._counted = kill, 0
    ended = await starter.at_home(folder, fake)
    fake.kill_at, fake.pid = None, None
    return ended


async def test_two_runs_at_home(fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter) -> None:
    the_site(site, day=1)
    fake.set_input({"mode": "monitor", "sites": [site.url]})
    next_run(fake, 1)
    ended = await at_home(starter, tmp_path, fake)
    assert ended.code == 0, ended.log
    assert set(found(fake).values()) == {"baseline"}
    assert fake.charged == {"url": 600}
    changes = the_site(site, day=2)
    next_run(fake, 2)
    ended = await at_home(starter, tmp_path, fake)
    assert ended.code == 0, ended.log
    assert found(fake) == changes
    assert fake.charged == {"change": 23}
    report = fake.record("REPORT")
    assert_adds_up(report)
    assert report["charged"] == {"url": 0, "change": 23}
    assert (
        fake.record("SUMMARY")["totals"] | {"new": 7, "removed": 5, "modified": 11} == fake.record("SUMMARY")["totals"]
    )
    assert "CHANGES.atom" in fake.records
    next_run(fake, 3)
    await at_home(starter, tmp_path, fake)
    assert fake.items == []
    assert not fake.charges
    assert {one.name for one in fake.stores.values()} == {None, "sitemap-monitor-default-state"}
    assert_no_secret(fake, ended.log)


@pytest.mark.parametrize("paid", [0, 3, 22])
async def test_what_the_limit_does_not_pay_for_comes_with_the_next_run(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter, paid: int
) -> None:
    the_site(site, day=1)
    fake.set_input({"mode": "monitor", "sites": [site.url]})
    next_run(fake, 1)
    await at_home(starter, tmp_path, fake)
    changes = the_site(site, day=2)
    next_run(fake, 2, limit=0.002 * paid + 0.001)
    ended = await at_home(starter, tmp_path, fake)
    assert ended.code == 0, ended.log
    first = found(fake)
    assert len(first) == paid == fake.charged["change"]
    assert fake.record("REPORT")["stopReason"] == "spending_limit"
    next_run(fake, 3)
    ended = await at_home(starter, tmp_path, fake)
    assert ended.code == 0, ended.log
    assert not first.keys() & found(fake).keys()
    assert first | found(fake) == changes


async def test_a_second_run_on_the_same_state_asks_for_nothing(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter
) -> None:
    the_site(site, day=1)
    fake.set_input({"mode": "monitor", "sites": [site.url]})
    next_run(fake, 1)
    life = await starter.live(tmp_path, fake)
    while not any(one.name and any("lease" in key for key in one.records) for one in fake.stores.values()):
        await asyncio.sleep(0.01)
    fake.kill()
    await life.end()
    fake.pid = None
    fake.statuses[fake.run_id] = "RUNNING"  # as far as the platform knows
    holder = fake.run_id
    next_run(fake, 2)
    fake.statuses[holder] = "RUNNING"
    seen = len(site.requests)
    ended = await at_home(starter, tmp_path, fake)
    assert ended.code == 0, ended.log
    report = fake.record("REPORT")
    assert (report["result"], report["stopReason"]) == ("stopped_early", "state_in_use")
    assert len(site.requests) == seen
    assert not fake.charges
    fake.statuses[holder] = "ABORTED"
    next_run(fake, 3)
    fake.statuses[holder] = "ABORTED"
    await at_home(starter, tmp_path, fake)
    assert len(found(fake)) == 600


async def test_a_run_killed_for_good_is_made_up_for_by_the_next_run(tmp_path: Path, starter: Starter) -> None:
    """The second run dies after its rows are saved, and is never started again: the third neither repeats nor loses any."""
    with Site() as site:
        async with FakePlatform() as fake:
            the_site(site, day=1)
            fake.set_input({"mode": "monitor", "sites": [site.url]})
            next_run(fake, 1)
            await at_home(starter, tmp_path, fake)
            changes = the_site(site, day=2)
            next_run(fake, 2)
            fake.fail("POST", r"/charge$", "kill_before")
            ended = await at_home(starter, tmp_path, fake)
            assert ended.code == -9
            assert found(fake) == changes
            kept = list(fake.items)
            next_run(fake, 3)
            # The other run's dataset is there under its own id; here both runs have the default one, so it is put back.
            fake.stores["datasets", "other"] = type(fake.stores["datasets", DATASET])("datasets", "other", items=kept)
            for store in fake.stores.values():
                for key, (body, kind) in list(store.records.items()):
                    store.records[key] = (body.replace(DATASET.encode(), b"other"), kind)
            ended = await at_home(starter, tmp_path, fake)
            assert ended.code == 0, ended.log
            assert found(fake) == {}
            assert not fake.charges


async def test_monitor_mode_on_local_storage(site: Site, tmp_path: Path, starter: Starter) -> None:
    the_site(site, day=1)
    local_input(tmp_path, {"mode": "monitor", "sites": [site.url]})
    ended = await starter.run(tmp_path, environment())
    assert ended.code == 0, ended.log
    assert len(rows(tmp_path)) == 600
    changes = the_site(site, day=2)
    ended = await starter.run(tmp_path, environment())
    assert ended.code == 0, ended.log
    assert {row["url"]: row["changeType"] for row in rows(tmp_path)} == changes
    assert record(tmp_path, "REPORT")["charged"] is None
