"""Monitor mode when the run dies, the store gives out, or the spending limit is reached: rows come exactly once all the same."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest
from scrapy.crawler import Crawler

from sitemap_actor.core.report import Row
from sitemap_actor.core.urls import canonical
from sitemap_actor.jobs.files import FileStateStore
from sitemap_actor.run import run_of
from tests.spider.conftest import SiteFactory
from tests.spider.helpers import QUICK, Crawled, crawl, serve_robots
from tests.spider.server import Site
from tests.spider.test_monitor_scenarios import numbered, put


class DyingStore(FileStateStore):
    """A store on files that tells of datasets like the platform's, and that gives out after so many operations."""

    operations = 0
    last: int | None = None
    run = "run-0"
    place: str | None = "dataset"
    ended = True

    def _count(self) -> None:
        DyingStore.operations += 1
        if DyingStore.last is not None and DyingStore.operations > DyingStore.last:
            raise OSError("the store is gone")

    async def read(self, key: str) -> bytes | None:
        self._count()
        return await super().read(key)

    async def write(self, key: str, body: bytes) -> None:
        self._count()
        await super().write(key, body)

    async def delete(self, key: str) -> None:
        self._count()
        await super().delete(key)

    async def keys(self, prefix: str) -> list[str]:
        self._count()
        return await super().keys(prefix)

    def identity(self) -> tuple[str, str | None]:
        return DyingStore.run, f"{DyingStore.place}-{DyingStore.run}" if DyingStore.place else None

    async def has_ended(self, run_id: str) -> bool | None:
        return DyingStore.ended

    async def rows_of(self, place: str, offset: int, limit: int) -> list[dict[str, Any]] | None:
        return [row for at, row in Dataset.rows if at == place][offset : offset + limit]


class Dataset:
    """A sink of which the rows outlive the run, with a limit on rows."""

    rows: ClassVar[list[tuple[str, dict[str, Any]]]] = []
    limit: int | None = None
    before: ClassVar[list[tuple[str, str]]] = []
    full_at: int | None = None
    """Once it holds so many rows, the run dies."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        run_of(crawler)
        return cls()

    async def open(self) -> None:
        here = f"{DyingStore.place}-{DyingStore.run}"
        Dataset.before = [(row["site"], canonical(row["url"])) for place, row in Dataset.rows if place == here]

    async def deliver(self, rows: Sequence[Row]) -> int:
        size = len(rows) if Dataset.limit is None else min(len(rows), max(0, Dataset.limit))
        if Dataset.limit is not None:
            Dataset.limit -= size
        place = f"{DyingStore.place}-{DyingStore.run}"
        left = size if Dataset.full_at is None else Dataset.full_at - len(Dataset.rows)
        if left < size:
            DyingStore.last = 0
            rows = rows[: max(0, left)]
        Dataset.rows += [(place, json.loads(json.dumps(row))) for row in rows[:size]]
        if left < size:
            raise OSError("the run is gone")
        return size

    def has_room(self) -> bool:
        return Dataset.limit is None or Dataset.limit > 0

    def take_refused(self) -> list[tuple[Row, str]]:
        return []

    def saved_before(self, site: str, key: str) -> bool:
        return (site, key) in Dataset.before

    def saved_before_count(self) -> int:
        return len(Dataset.before)

    def charged(self) -> None:
        return None

    async def close(self) -> None: ...


@pytest.fixture(autouse=True)
def _fresh() -> None:
    Dataset.rows, Dataset.limit = [], None
    DyingStore.operations, DyingStore.last, DyingStore.run, DyingStore.ended = 0, None, "run-0", True


_runs = iter(range(1, 10_000))


async def run(
    folder: Path,
    *servers: Site,
    dies_after: int | None = None,
    limit: int | None = None,
    sites: str = "",
    again: bool = False,
) -> Crawled:
    """A new run, or another life of the last one (`again`)."""
    DyingStore.operations, DyingStore.last = 0, dies_after
    DyingStore.run = DyingStore.run if again else f"run-{next(_runs)}"
    Dataset.limit = limit
    settings = {
        "SITEMAP_LEASE_WAIT_SECS": 0,
        "SITEMAP_STATE_STORE": "tests.spider.test_monitor_crashes.DyingStore",
        "SITEMAP_SINK": "tests.spider.test_monitor_crashes.Dataset",
        "FEEDS": {},
        **QUICK,
    }
    return await crawl(folder, settings, mode="monitor", sites=sites or ",".join(server.origin for server in servers))


def delivered() -> Counter[tuple[str, str]]:
    return Counter((row["url"].split("/", 3)[3], row["changeType"]) for _place, row in Dataset.rows)


def day(server: Site, number: int) -> None:
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    match number:
        case 0:
            put(server, "/a.xml", *numbered(6), lastmod="2026-01-01")
        case 1:
            pages = {"p0": "2026-02-01", "p1": "2026-02-01"} | dict.fromkeys(("p2", "p3"), "2026-01-01")
            put(server, "/a.xml", **pages, n0=None, n1=None)


SECOND_DAY = Counter(
    [(name, "modified") for name in ("p0", "p1")]
    + [(name, "removed") for name in ("p4", "p5")]
    + [(name, "new") for name in ("n0", "n1")]
)
FIRST_DAY = Counter((path[1:], "baseline") for path in numbered(6))


@pytest.mark.parametrize("after", range(6, 20))
async def test_a_store_that_gives_out_neither_doubles_nor_loses_rows(
    site: SiteFactory, tmp_path: Path, after: int
) -> None:
    server = site()
    day(server, 0)
    await run(tmp_path, server)
    assert delivered() == FIRST_DAY
    day(server, 1)
    await run(tmp_path, server, dies_after=after)
    again = await run(tmp_path, server)
    assert "stateWasInvalid" not in again.record("SUMMARY")["sites"][0]["flags"]
    assert delivered() == FIRST_DAY + SECOND_DAY
    await run(tmp_path, server)
    assert delivered() == FIRST_DAY + SECOND_DAY


@pytest.mark.parametrize("again", [5, 8])
@pytest.mark.parametrize("after", range(7, 14))
async def test_a_first_run_that_dies(site: SiteFactory, tmp_path: Path, after: int, again: int) -> None:
    server = site()
    day(server, 0)
    await run(tmp_path, server, dies_after=after)
    await run(tmp_path, server, dies_after=again)
    third = await run(tmp_path, server)
    assert "stateWasInvalid" not in third.record("SUMMARY")["sites"][0]["flags"]
    assert delivered() == FIRST_DAY
    day(server, 1)
    await run(tmp_path, server)
    assert delivered() == FIRST_DAY + SECOND_DAY


@pytest.mark.parametrize("limit", [0, 1, 3, 6, 8, 12])
async def test_the_spending_limit_loses_nothing(site: SiteFactory, tmp_path: Path, limit: int) -> None:
    servers = [site(), site("127.0.0.2")]
    for server in servers:
        day(server, 0)
    while (stopped := await run(tmp_path, *servers, limit=5)).report["stopReason"]:
        assert stopped.report["stopReason"] == "spending_limit"
    assert delivered() == FIRST_DAY + FIRST_DAY
    for server in servers:
        day(server, 1)
    await run(tmp_path, *servers, limit=limit)
    assert sum(delivered().values()) == 12 + min(limit, 12)
    await run(tmp_path, *servers)
    assert delivered() == FIRST_DAY + FIRST_DAY + SECOND_DAY + SECOND_DAY
    await run(tmp_path, *servers)
    assert sum(delivered().values()) == 24


@pytest.mark.parametrize("more", [0, 2])
async def test_a_host_and_its_sitemap_in_a_run_that_dies_in_its_second_life(
    site: SiteFactory, tmp_path: Path, more: int
) -> None:
    """Both sites print the same `site` and the same pages; neither is taken for the other when rows are looked up."""
    other, server = site(), site()
    day(server, 0)
    serve_robots(other, f"Sitemap: {other.origin}/t.xml")
    put(other, "/t.xml", *numbered(20, "t"))
    sites = f"{other.origin},{server.origin},{server.origin}/a.xml"
    await run(tmp_path, other)
    Dataset.full_at = 20 + 6 + more  # the second site's journal is written by then
    await run(tmp_path, sites=sites, again=True)
    Dataset.full_at = None
    for _ in range(2):
        await run(tmp_path, sites=sites)
    assert delivered() == FIRST_DAY + FIRST_DAY + Counter((path[1:], "baseline") for path in numbered(20, "t"))
