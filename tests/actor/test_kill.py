"""kill -9 at any moment (issue 4.3): in the end every row is in the dataset once, charged once, and REPORT holds."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.actor.fake_platform import FakePlatform
from tests.actor.helpers import PRICES, Starter, assert_report, serve
from tests.spider.helpers import serve_index
from tests.spider.server import Reply, Seen, Site

CASES = 240
KILLS = 200
"""At least so many lives are killed: some of the moments come after the end, and some cases have two."""
AT_ONCE = 4
SEED = 20261130
CALLS = 34
"""About how many calls of the API a whole life of the scenario makes; moments past the end are lives that end by themselves."""
REQUESTS = 6

Side = Literal["before", "after"]


@dataclass(frozen=True)
class Moment:
    """When a life is killed: at a call of the API (before or after its effect), at a request to the site, or at a time."""

    kind: Literal["call", "request", "time"]
    at: float
    side: Side = "before"

    def __str__(self) -> str:
        return f"{self.kind} {self.at:g} {self.side}"


def moments() -> list[list[Moment]]:
    """A list of moments for each case: one kill, in a fifth of the cases two."""
    dice = random.Random(SEED)

    def one() -> Moment:
        kind = dice.choices(["call", "request", "time"], [7, 1, 2])[0]
        if kind == "call":
            return Moment("call", dice.randint(1, CALLS), dice.choice(["before", "after"]))
        if kind == "request":
            return Moment("request", dice.randint(1, REQUESTS))
        return Moment("time", round(dice.uniform(0.05, 0.8), 3))

    return [[one() for _ in range(2 if dice.random() < 0.2 else 1)] for _ in range(CASES)]


def scenario(site: Site) -> list[str]:
    """Four files of 2,100 pages behind an index, each with pages of the one before and a page that robots.txt forbids. That is
    three deliveries.
    """
    urls = [f"{site.url}p{number:05d}" for number in range(8_400)]
    for number in range(4):
        own = urls[number * 2_100 : number * 2_100 + 2_100]
        again = urls[max(0, number * 2_100 - 20) : number * 2_100]
        serve(site, f"/part-{number}.xml", [*own, *again, f"{site.url}no/{number}"])
    serve_index(site, "/sitemap.xml", *(f"/part-{number}.xml" for number in range(4)))
    site.routes["/robots.txt"] = Reply(body="User-agent: *\nDisallow: /no/\n")
    return urls


def arm(fake: FakePlatform, site: Site, moment: Moment) -> Callable[[], Any] | None:
    """Set the trap for the next life; returns what has to be called once it lives."""
    fake.kill_at, fake._counted = None, 0
    if moment.kind == "call":
        fake.kill_at = (int(moment.at), moment.side)
    elif moment.kind == "time":
        return lambda: asyncio.get_running_loop().call_later(moment.at, fake.kill)
    else:
        left = [int(moment.at)]
        plain = dict(site.routes)

        def trapped(seen: Seen) -> Any:
            left[0] -= 1
            if left[0] == 0:
                fake.kill()
            return plain[seen.path]

        for path in plain:
            site.routes[path] = trapped
    return None


async def killed_and_finished(
    starter: Starter, folder: Path, kills: list[Moment], limit: float = 50.0, **run: Any
) -> int:
    """Lives with a kill in each, then one that may end; checks that all is as if nothing had happened. Returns how many lives
    were really killed: a moment may come after the end.
    """
    with Site() as site:
        urls = scenario(site)
        routes = dict(site.routes)
        async with FakePlatform() as fake:
            fake.begin_run(PRICES, limit, {"apify-actor-start": 1})
            fake.set_input({"sites": [site.url], "maxUrls": 500_000} | run)
            ended, killed = None, 0
            for moment in kills:
                site.routes.update(routes)
                begin = arm(fake, site, moment)
                life = await starter.live(folder, fake)
                if begin is not None:
                    begin()
                ended = await life.end()
                fake.pid = None
                if ended.code != -9:
                    break
                killed += 1
            else:
                site.routes.update(routes)
                fake.kill_at = None
                ended = await starter.at_home(folder, fake)
            assert ended is not None
            assert ended.code == 0, ended.log
            check(fake, urls, limit)
            return killed


def check(fake: FakePlatform, urls: list[str], limit: float) -> None:
    """Every row once, charged once, and the totals hold."""
    saved = [row["url"] for row in fake.items]
    paid = round((limit - PRICES["apify-actor-start"]) / PRICES["url"])
    assert len(saved) == len(set(saved)) == min(len(urls), paid)
    assert set(saved) <= set(urls)
    assert fake.charged["url"] == len(saved), fake.charges
    assert len({key for _, _, key in fake.charges}) == len(fake.charges)
    report = assert_report(fake)
    assert report["charged"] == {"url": len(saved), "change": 0}
    assert report["result"] == ("finished" if paid >= len(urls) else "stopped_early")


async def test_200_kills_at_moments_chosen_by_a_seed(tmp_path: Path, starter: Starter) -> None:
    room = asyncio.Semaphore(AT_ONCE)
    failures: list[str] = []
    killed = 0

    async def one(number: int, kills: list[Moment]) -> None:
        nonlocal killed
        async with room:
            try:
                count = await killed_and_finished(starter, tmp_path / str(number), kills)
                killed += count
            except AssertionError as error:
                failures.append(f"case {number} ({', '.join(map(str, kills))}): {error}"[:2_000])

    async with asyncio.TaskGroup() as group:
        for number, kills in enumerate(moments()):
            group.create_task(one(number, kills))
    assert not failures, f"{len(failures)} of {CASES}:\n" + "\n".join(failures[:5])
    assert killed >= KILLS


BOUNDARIES = [
    ("before a push", "POST", r"/items$", "kill_before"),
    ("after a push, before its charge", "POST", r"/items$", "kill_after"),
    ("before a charge", "POST", r"/charge$", "kill_before"),
    ("after a charge, before the ledger", "POST", r"/charge$", "kill_after"),
    ("before the ledger", "PUT", r"/records/RUN-STATE$", "kill_before"),
    ("after the ledger", "PUT", r"/records/RUN-STATE$", "kill_after"),
    ("after the list of files", "PUT", r"/records/RUN-FILES$", "kill_after"),
    ("before REPORT", "PUT", r"/records/REPORT$", "kill_before"),
    ("between REPORT and SKIPPED", "PUT", r"/records/REPORT$", "kill_after"),
    ("after SKIPPED", "PUT", r"/records/SKIPPED$", "kill_after"),
]


@pytest.mark.parametrize("limit", [50.0, 1.00005], ids=["no limit met", "limit in the midst"])
@pytest.mark.parametrize("skip", [0, 1], ids=["the first", "the second"])
@pytest.mark.parametrize(("method", "path", "action"), [b[1:] for b in BOUNDARIES], ids=[b[0] for b in BOUNDARIES])
async def test_a_kill_at_a_boundary(
    tmp_path: Path, starter: Starter, method: str, path: str, action: Any, skip: int, limit: float
) -> None:
    if path.endswith(("REPORT$", "SKIPPED$", "FILES$")):
        skip = 0
    with Site() as site:
        urls = scenario(site)
        async with FakePlatform() as fake:
            fake.begin_run(PRICES, limit, {"apify-actor-start": 1})
            fake.set_input({"sites": [site.url], "maxUrls": 500_000})
            fake.fail(method, path, action, skip=skip)
            ended = await starter.at_home(tmp_path, fake)
            assert ended.code == -9, ended.log
            ended = await starter.at_home(tmp_path, fake)
            assert ended.code == 0, ended.log
            check(fake, urls, limit)


async def test_a_run_killed_in_every_life_still_gets_there(tmp_path: Path, starter: Starter) -> None:
    """Each life dies after one of its first pushes: the run needs no life that is whole, only progress in each."""
    await killed_and_finished(starter, tmp_path, [Moment("call", number, "after") for number in (9, 10, 11, 12, 9, 10)])


async def test_old_counts_in_the_environment_do_not_matter(
    tmp_path: Path, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a move the environment may still hold the counts of the first start."""
    plain = FakePlatform.env
    monkeypatch.setattr(FakePlatform, "env", lambda self: plain(self, stale_counts={"apify-actor-start": 1}))
    await killed_and_finished(starter, tmp_path, [Moment("call", 12, "after")], limit=1.00005)


async def test_max_urls_counts_over_both_lives(tmp_path: Path, starter: Starter) -> None:
    with Site() as site:
        scenario(site)
        async with FakePlatform() as fake:
            fake.begin_run(PRICES, 50.0)
            fake.set_input({"sites": [site.url], "maxUrls": 5_000})
            fake.fail("POST", r"/charge$", "kill_after")
            await starter.at_home(tmp_path, fake)
            ended = await starter.at_home(tmp_path, fake)
            assert ended.code == 0, ended.log
            assert len({row["url"] for row in fake.items}) == len(fake.items) == 5_000 == fake.charged["url"]
            assert assert_report(fake)["stopReason"] == "max_urls"
