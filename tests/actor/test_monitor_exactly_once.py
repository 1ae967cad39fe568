"""Monitor mode at home: rows, charges and state over several runs, whatever kills or cuts them."""

import asyncio
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
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
"""At least so many lives are killed: some of the moments come after the end."""
AT_ONCE = 4
CALLS = 50
REQUESTS = 5
PAGES = 1_500
ADDED = 4_300
"""Pages of the file that is new on the second day, told as its baseline: enough for more than one delivery."""


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
    more = [f"{site.url}new{number:05d}" for number in range(50 + ADDED)]
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
    serve(site, "/part-3.xml", more[50:], lastmod="2026-01-01")
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
            assert fake.charged == {"url": ADDED, "change": 220}
            report = assert_report(fake)
            assert report["charged"] == {"url": ADDED, "change": 220}
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


@dataclass(frozen=True)
class Kill:
    """When a run is killed, and whether the same run goes on or a new one begins."""

    moment: Moment
    same_run: bool

    def __str__(self) -> str:
        return f"{self.moment}, {'the same run goes on' if self.same_run else 'a new run begins'}"


def kills() -> list[Kill]:
    dice = random.Random(20261201)
    cases = []
    for _ in range(CASES):
        kind = dice.choices(["call", "request", "time"], [8, 1, 1])[0]
        if kind == "call":
            moment = Moment("call", dice.randint(1, CALLS), dice.choice(["before", "after"]))
        elif kind == "request":
            moment = Moment("request", dice.randint(1, REQUESTS))
        else:
            moment = Moment("time", round(dice.uniform(0.05, 0.4), 3))
        cases.append(Kill(moment, dice.random() < 0.5))
    return cases


class SecondDays:
    """A site and a platform after the first day, as often as wanted."""

    def __init__(self, site: Site, fake: Platform, changes: dict[str, str]) -> None:
        self.site, self.fake, self.changes = site, fake, changes
        self._routes, self._snapshot = dict(site.routes), fake.snapshot()

    def again(self) -> None:
        self.site.routes.update(self._routes)
        self.fake.restore(self._snapshot)
        self.fake.next_run(PRICES, 50.0)
        self.fake.set_input(order(self.site))

    def undo_traps(self) -> None:
        self.site.routes.update(self._routes)


async def killed_second_day(starter: Starter, folder: Path, days: SecondDays, kill: Kill, wanted: Any) -> bool:
    """The second day's run is killed, and goes on as the same run or as a new one. Returns whether it was really killed."""
    site, fake = days.site, days.fake
    days.again()
    second = fake.number
    begin: Callable[[], Any] | None = arm(fake, site, kill.moment)
    first = await starter.live(folder, fake)
    if begin is not None:
        begin()
    ended = await first.end()
    days.undo_traps()
    killed = ended.code == -9
    if killed:
        if not kill.same_run:
            fake.next_run(PRICES, 50.0)
            fake.set_input(order(site))
        await life(starter, folder, fake)
    rows = rows_of(fake, second)
    assert len(rows) == len(set(rows)), "a row stands twice"
    assert dict(rows) == days.changes
    charged = fake.all_charged()
    assert charged["change"] <= 220
    assert charged["url"] <= PAGES + ADDED
    if kill.same_run or not killed:
        assert (charged["change"], charged["url"]) == (220, PAGES + ADDED)
    pages, facts = without_address(remembered(fake.state(), site.url), site)
    if kill.same_run or not killed:
        assert facts["runs"] == wanted[1]["runs"]
    # A run that was killed after its state was written, and another one after it, are two.
    assert [pages, facts | {"runs": wanted[1]["runs"]}] == wanted
    assert not [key for key in fake.state() if "journal" in key or "lease" in key]
    return killed


async def test_200_kills_of_a_monitor_run(tmp_path: Path, starter: Starter) -> None:
    wanted = await undisturbed(starter, tmp_path / "undisturbed")
    cases = list(enumerate(kills()))
    failures: list[str] = []
    killed: list[bool] = []

    async def some(folder: Path) -> None:
        with Site() as site:
            async with Platform() as fake:
                days = SecondDays(site, fake, await two_days(starter, folder, site, fake))
                while cases:
                    number, kill = cases.pop()
                    try:
                        killed.append(await killed_second_day(starter, folder / str(number), days, kill, wanted))
                    except AssertionError as error:
                        failures.append(f"case {number} ({kill}): {error}"[:1_500])

    async with asyncio.TaskGroup() as group:
        for number in range(AT_ONCE):
            group.create_task(some(tmp_path / f"worker{number}"))
    assert not failures, "\n".join(failures)
    assert killed.count(True) >= KILLS


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
            assert len(fake.items) == ADDED + 220
