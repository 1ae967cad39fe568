<<<<<<< HEAD
"""Monitor mode as an Actor: two events, the named store, and exactly once over kills and over runs."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from tests.actor.fake_platform import DATASET, KVS, FakePlatform
from tests.actor.helpers import PRICES, Ended, Starter, assert_no_secret, environment, serve
from tests.actor.test_input import local_input, record, rows
from tests.spider.helpers import assert_adds_up, serve_index
from tests.spider.server import Site

KILLS = 24
CALLS = 60
SEED = 7


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


def moments() -> list[tuple[int, str]]:
    dice = random.Random(SEED)
    return [(dice.randint(8, CALLS), dice.choice(["before", "after"])) for _ in range(KILLS)]


async def test_kills_at_any_moment_lose_nothing_and_double_nothing(tmp_path: Path, starter: Starter) -> None:
    """The second run is killed, started again under its own id, and then followed by a third run."""
    room = asyncio.Semaphore(4)
    failures: list[str] = []
    killed = 0

    async def one(number: int, moment: tuple[int, str]) -> None:
        nonlocal killed
        folder = tmp_path / str(number)
        async with room, FakePlatform() as fake:
            with Site() as site:
                the_site(site, day=1)
                fake.set_input({"mode": "monitor", "sites": [site.url]})
                next_run(fake, 1)
                await at_home(starter, folder, fake)
                assert len(found(fake)) == 600
                changes = the_site(site, day=2)
                next_run(fake, 2)
                ended = await at_home(starter, folder, fake, moment)
                if ended.code == -9:
                    killed += 1
                    ended = await at_home(starter, folder, fake)
                assert ended.code == 0, ended.log
                assert found(fake) == changes
                assert fake.charged == {"change": 23}
                assert fake.record("REPORT")["charged"] == {"url": 0, "change": 23}
                next_run(fake, 3)
                await at_home(starter, folder, fake)
                assert found(fake) == {}
                assert not fake.charges

    async def told(number: int, moment: tuple[int, str]) -> None:
        try:
            await one(number, moment)
        except AssertionError as error:
            failures.append(f"case {number} {moment}: {error}"[:3_000])

    async with asyncio.TaskGroup() as group:
        for number, moment in enumerate(moments()):
            group.create_task(told(number, moment))
    assert not failures, f"{len(failures)} of {KILLS}:\n" + "\n".join(failures[:5])
    assert killed >= KILLS // 2


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
=======
"""Monitor mode at home: rows, charges and state over several runs, whatever kills or cuts them."""

import asyncio
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.actor.fake_platform import Fault
from tests.actor.helpers import PRICES, Ended, Starter, assert_report, serve
from tests.actor.monitor_platform import Platform, remembered
from tests.actor.test_kill import Moment, arm
from tests.spider.helpers import serve_index
from tests.spider.server import Reply, Site

CASES = 240
KILLS = 200
AT_ONCE = 4
CALLS = 30
REQUESTS = 5
PAGES = 1_500


def first_day(site: Site) -> list[str]:
    """Three files of 500 pages behind an index."""
    urls = [f"{site.url}p{number:05d}" for number in range(PAGES)]
    for number in range(3):
        serve(site, f"/part-{number}.xml", urls[number * 500 : number * 500 + 500], lastmod="2026-01-01")
    serve_index(site, "/sitemap.xml", *(f"/part-{number}.xml" for number in range(3)))
    site.routes["/robots.txt"] = Reply(404)
    return urls


def second_day(site: Site) -> dict[str, str]:
    """Pages come and go, one file is new, one page moves; returns the changes that a run should tell."""
    urls = [f"{site.url}p{number:05d}" for number in range(PAGES)]
    more = [f"{site.url}new{number:05d}" for number in range(1_150)]
    serve(site, "/part-0.xml", [*urls[:450], *more[:50]], lastmod="2026-01-01")
    serve(site, "/part-1.xml", [*urls[500:1000], urls[1200]], lastmod="2026-01-01")
    kept = [url for url in urls[1000:1480] if url != urls[1200]]
    serve(site, "/part-2.xml", kept, lastmod="2026-01-01")
    body = (
        bytes(site.routes["/part-2.xml"].body, "utf-8").decode()
        if isinstance(site.routes["/part-2.xml"].body, str)
        else ""
    )
    for number in range(1000, 1100):
        body = body.replace(
            f"{urls[number]}</loc><lastmod>2026-01-01", f"{urls[number]}</loc><lastmod>2026-{2 + number % 9:02}-02"
        )
    site.routes["/part-2.xml"].body = body
    serve(site, "/part-3.xml", more[50:1150], lastmod="2026-01-01")
    serve_index(site, "/sitemap.xml", *(f"/part-{number}.xml" for number in range(4)))
    changes = dict.fromkeys(urls[450:500] + urls[1480:1500], "removed")
    changes |= dict.fromkeys(urls[1000:1100], "modified")
    changes |= dict.fromkeys(more[:50], "new")
    changes |= dict.fromkeys(more[50:], "baseline")  # more than a tenth of the pages known
    return changes


async def life(starter: Starter, folder: Path, fake: Platform) -> Ended:
    fake.kill_at = None
    ended = await starter.at_home(folder, fake)
    assert ended.code == 0, ended.log
    return ended


def order(site: Site, **more: Any) -> dict[str, Any]:
    return {"mode": "monitor", "sites": [site.url], **more}


def rows_of(fake: Platform, first: int) -> list[tuple[str, str]]:
    """(URL, change type) of the rows in the datasets of the runs from number `first` on."""
    return [
        (row["url"], row["changeType"])
        for number in range(first, fake.number + 1)
        for row in fake.stores["datasets", f"dataset{number}"].items
    ]


async def two_days(starter: Starter, folder: Path, site: Site, fake: Platform, **more: Any) -> dict[str, str]:
    """The first day's run, and the second day is up."""
    first_day(site)
    fake.next_run(PRICES, 50.0)
    fake.set_input(order(site, **more))
    await life(starter, folder, fake)
    assert len(fake.items) == PAGES
    return second_day(site)


async def test_two_days_at_home(tmp_path: Path, starter: Starter) -> None:
    with Site() as site:
        async with Platform() as fake:
            changes = await two_days(starter, tmp_path, site, fake)
            assert fake.charged == {"url": PAGES}
            fake.next_run(PRICES, 50.0)
            fake.set_input(order(site))
            await life(starter, tmp_path, fake)
            assert dict(rows_of(fake, fake.number)) == changes
            assert fake.charged == {"url": 1_100, "change": 220}
            report = assert_report(fake)
            assert report["charged"] == {"url": 1_100, "change": 220}
            assert fake.record("SUMMARY")["sites"][0]["flags"] == ["newSitemapBaseline"]
            keys = list(fake.state())
            assert not [key for key in keys if "journal" in key or "lease" in key]
            fake.next_run(PRICES, 50.0)
            fake.set_input(order(site))
            await life(starter, tmp_path, fake)
            assert fake.items == []
            assert fake.charged == {}


async def undisturbed(starter: Starter, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The state after both days without any trouble, with the site's address taken out."""
    with Site() as site:
        async with Platform() as fake:
            await two_days(starter, folder, site, fake)
            fake.next_run(PRICES, 50.0)
            fake.set_input(order(site))
            await life(starter, folder, fake)
            return without_address(remembered(fake.state(), site.url), site)


def without_address(state: Any, site: Site) -> Any:
    return json.loads(json.dumps(state).replace(site.url, "SITE/"))


def moments() -> list[tuple[Moment, bool]]:
    """When each case is killed, and whether the same run goes on or a new one begins."""
    dice = random.Random(20261201)
    cases = []
    for _ in range(CASES):
        kind = dice.choices(["call", "request", "time"], [8, 1, 1])[0]
        if kind == "call":
            moment = Moment("call", dice.randint(1, CALLS), dice.choice(["before", "after"]))
        elif kind == "request":
            moment = Moment("request", dice.randint(1, REQUESTS))
        else:
            moment = Moment("time", round(dice.uniform(0.05, 1.5), 3))
        cases.append((moment, dice.random() < 0.5))
    return cases


async def killed_second_day(starter: Starter, folder: Path, moment: Moment, same_run: bool, wanted: Any) -> bool:
    """The second day's run is killed, and goes on as the same run or as a new one. Returns whether it was really killed."""
    with Site() as site:
        async with Platform() as fake:
            changes = await two_days(starter, folder, site, fake)
            fake.next_run(PRICES, 50.0)
            fake.set_input(order(site))
            second = fake.number
            routes = dict(site.routes)
            begin: Callable[[], Any] | None = arm(fake, site, moment)
            first = await starter.live(folder, fake)
            if begin is not None:
                begin()
            ended = await first.end()
            site.routes.update(routes)
            killed = ended.code == -9
            if killed:
                if not same_run:
                    fake.next_run(PRICES, 50.0)
                    fake.set_input(order(site))
                await life(starter, folder, fake)
            rows = rows_of(fake, second)
            assert len(rows) == len(set(rows)), "a row stands twice"
            assert dict(rows) == changes
            charged = fake.all_charged()
            assert charged["change"] <= 220
            assert charged["url"] <= PAGES + 1_100
            if same_run or not killed:
                assert (charged["change"], charged["url"]) == (220, PAGES + 1_100)
            assert without_address(remembered(fake.state(), site.url), site) == wanted
            assert not [key for key in fake.state() if "journal" in key or "lease" in key]
            return killed


async def test_200_kills_of_a_monitor_run(tmp_path: Path, starter: Starter) -> None:
    wanted = await undisturbed(starter, tmp_path / "undisturbed")
    room = asyncio.Semaphore(AT_ONCE)
    failures: list[str] = []
    killed = 0

    async def one(number: int, moment: Moment, same_run: bool) -> None:
        nonlocal killed
        async with room:
            try:
                killed += await killed_second_day(starter, tmp_path / str(number), moment, same_run, wanted)
            except AssertionError as error:
                failures.append(f"case {number} ({moment}, same run {same_run}): {error}"[:1_500])

    async with asyncio.TaskGroup() as group:
        for number, (moment, same_run) in enumerate(moments()):
            group.create_task(one(number, moment, same_run))
    assert not failures, "\n".join(failures)
    assert killed >= KILLS, killed


async def test_the_spending_limit_cuts_three_runs_in_a_row(tmp_path: Path, starter: Starter) -> None:
    with Site() as site:
        async with Platform() as fake:
            changes = await two_days(starter, tmp_path, site, fake)
            second = fake.number + 1
            for paid in (90, 90, 90):
                fake.next_run(PRICES, PRICES["apify-actor-start"] + paid * PRICES["change"] + 0.00001)
                fake.set_input(order(site))
                await life(starter, tmp_path, fake)
                report = assert_report(fake)
            rows = rows_of(fake, second)
            assert len(rows) == len(set(rows))
            assert dict(rows).items() <= changes.items()
            fake.next_run(PRICES, 50.0)
            fake.set_input(order(site))
            await life(starter, tmp_path, fake)
            rows = rows_of(fake, second)
            assert len(rows) == len(set(rows))
            assert dict(rows) == changes
            assert report["stopReason"] == "spending_limit"


async def test_max_changes_cuts_three_runs_in_a_row(tmp_path: Path, starter: Starter) -> None:
    with Site() as site:
        async with Platform() as fake:
            changes = await two_days(starter, tmp_path, site, fake)
            second = fake.number + 1
            for _ in range(3):
                fake.next_run(PRICES, 50.0)
                fake.set_input(order(site, maxChanges=80))
                await life(starter, tmp_path, fake)
                assert_report(fake)
            rows = rows_of(fake, second)
            assert len(rows) == len(set(rows))
            assert dict(rows) == changes


async def test_when_the_other_dataset_is_gone_delivery_is_at_least_once_and_says_so(
    tmp_path: Path, starter: Starter
) -> None:
    with Site() as site:
        async with Platform() as fake:
            changes = await two_days(starter, tmp_path, site, fake)
            fake.next_run(PRICES, 50.0)
            fake.set_input(order(site))
            fake.faults.append(Fault("POST", r"/datasets/.*/items", "kill_after"))
            ended = await (await starter.live(tmp_path, fake)).end()
            assert ended.code == -9
            assert rows_of(fake, fake.number)
            del fake.stores["datasets", fake.dataset]
            fake.next_run(PRICES, 50.0)
            fake.set_input(order(site))
            await life(starter, tmp_path, fake)
            assert dict(rows_of(fake, fake.number)) == changes
            summary = fake.record("SUMMARY")["sites"][0]
            assert "deliveredAtLeastOnce" in summary["flags"]
            assert "may repeat" in fake.record("REPORT")["message"]


async def test_a_second_run_on_the_same_state_stops_before_any_request(tmp_path: Path, starter: Starter) -> None:
    with Site() as site:
        async with Platform() as fake:
            await two_days(starter, tmp_path, site, fake)
            store = next(one for (kind, _id), one in fake.stores.items() if kind == "key-value-stores" and one.name)
            fake.next_run(PRICES, 50.0)
            holder = fake.run_id
            claim = {"run": holder, "renewedAt": time.time(), "holds": True}
            store.records["lease-of-the-other"] = (json.dumps(claim).encode(), "application/octet-stream")
            fake.next_run(PRICES, 50.0)
            fake.statuses[holder] = "RUNNING"
            fake.set_input(order(site))
            asked = len(site.requests)
            await life(starter, tmp_path, fake)
            assert len(site.requests) == asked
            report = fake.record("REPORT")
            assert (report["result"], report["stopReason"]) == ("stopped_early", "state_in_use")
            assert fake.charged == {}
            fake.statuses[holder] = "ABORTED"
            fake.next_run(PRICES, 50.0)
            fake.set_input(order(site))
            await life(starter, tmp_path, fake)
            assert len(fake.items) == 1_320
>>>>>>> monitor
