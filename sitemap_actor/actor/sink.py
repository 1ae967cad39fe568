"""Saving and charging (spec section 4): what fits, in order; first saved, then charged; each exactly once, restarts included.

A delivery goes: ask the till what fits, push that, charge for what was saved, write the ledger. Whatever moment the process
dies at, the next life of the run finds out from the dataset which rows are saved and from the run object what is charged, and
charges the difference once. Deliveries go one after another.
"""

import asyncio
import logging
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Self

from scrapy.crawler import Crawler

from sitemap_actor.actor.dataset import LocalDataset, PlatformDataset, Receipt, RowStore
from sitemap_actor.actor.house import TRIES, House, PlatformError, house, pause_before
from sitemap_actor.actor.till import NoTill, PlatformTill, Till, local_till, platform_till
from sitemap_actor.core.errors import DeliveryError
from sitemap_actor.core.report import Row
from sitemap_actor.core.rows import Event, events_of
from sitemap_actor.core.urls import canonical

logger = logging.getLogger(__name__)


class Before:
    """The rows that earlier lives of the run saved, 8 bytes each.

    Where the run remembers pages per site (`by_site`), a page may be saved once for each site; else once for the whole run.
    """

    def __init__(self, *, by_site: bool) -> None:
        self._by_site = by_site
        self._digests = array("q")
        self.events: Counter[Event] = Counter()

    def __len__(self) -> int:
        return len(self._digests)

    def add(self, rows: Sequence[Row]) -> None:
        """Note saved rows; `seal` comes after the last."""
        self._digests.extend(self._digest(row["site"], canonical(row["url"])) for row in rows)
        self.events.update(events_of(rows))

    def seal(self) -> None:
        """Get ready for questions."""
        self._digests = array("q", sorted(self._digests))

    def has(self, site: str, key: str) -> bool:
        """Whether the page of that canonical URL was saved."""
        digest = self._digest(site, key)
        place = bisect_left(self._digests, digest)
        return place < len(self._digests) and self._digests[place] == digest

    def _digest(self, site: str, key: str) -> int:
        return hash((site, key)) if self._by_site else hash(key)


class _Sink:
    """What is the same at home and elsewhere."""

    def __init__(self, rows: RowStore, *, by_site: bool) -> None:
        self._rows = rows
        self._before = Before(by_site=by_site)
        self._till: Till = NoTill()
        self._lock = asyncio.Lock()
        self._refused: list[tuple[Row, str]] = []

    async def open(self) -> None:
        """See `Sink`."""
        async for page in self._rows.rows_before():
            self._before.add(page)
        self._before.seal()

    async def deliver(self, rows: Sequence[Row]) -> int:
        """See `Sink`."""
        async with self._lock:
            fit = self._till.fitting(events_of(rows))
            broken = await self._save_and_charge(rows[:fit])
            if broken is not None:
                raise broken
            return fit

    async def _save_and_charge(self, rows: Sequence[Row]) -> DeliveryError | None:
        """First save, then charge for what was saved, also where not all of it could be; then write the ledger."""
        receipt, broken = Receipt(), None
        try:
            if rows:
                await self._rows.push(rows, receipt)
        except PlatformError as error:
            broken = DeliveryError(receipt.saved + len(receipt.refused), str(error))
            broken.__cause__ = error
        finally:
            self._till.owe(receipt.events)
            self._refused += receipt.refused
        try:
            await self._till.settle()
        except PlatformError as error:
            broken = broken or DeliveryError(len(rows), str(error))
            broken.__cause__ = broken.__cause__ or error
        await self._note(receipt.saved)
        return broken

    async def _note(self, saved: int) -> None:
        """Write the ledger."""

    def has_room(self) -> bool:
        """See `Sink`."""
        return any(self._till.fitting([event]) for event in Event)

    def take_refused(self) -> list[tuple[Row, str]]:
        """See `Sink`."""
        refused, self._refused = self._refused, []
        return refused

    def saved_before(self, site: str, key: str) -> bool:
        """See `Sink`."""
        return self._before.has(site, key)

    def saved_before_count(self) -> int:
        """See `Sink`."""
        return len(self._before)

    def charged(self) -> Mapping[Event, int] | None:
        """See `Sink`."""
        return self._till.charged()

    async def close(self) -> None:
        """See `Sink`."""


class PlatformSink(_Sink):
    """At home: the run's default dataset, charged through the API."""

    def __init__(
        self, home: House, *, by_site: bool, till_of: Callable[[House], Awaitable[Till]] = platform_till
    ) -> None:
        super().__init__(PlatformDataset(home), by_site=by_site)
        self._house = home
        self._till_of = till_of

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Use the run's house."""
        from sitemap_actor.run import run_of  # noqa: PLC0415 - unit tests of the sink need no crawl

        return cls(house(), by_site=run_of(crawler).job.conduct.remembers)

    async def open(self) -> None:
        """See `Sink`: charge what an earlier life saved and could not charge any more."""
        await super().open()
        await self._wait_for_ledger()
        till = await self._till_of(self._house)
        self._till = till
        self._house.can_pay = self.has_room
        if isinstance(till, PlatformTill):
            till.resume(self._before.events)
            await till.settle()
        self._house.ledger.rows = len(self._before)
        await self._note(0)

    async def _wait_for_ledger(self) -> None:
        """The ledger counts only rows that the dataset confirmed, so a dataset that shows fewer is not up to date yet."""
        for attempt in range(1, TRIES):
            if len(self._before) >= self._house.ledger.rows:
                return
            await pause_before(attempt)
            await super().open()

    async def _note(self, saved: int) -> None:
        ledger = self._house.ledger
        charged = self._till.charged()
        ledger.rows += saved
        ledger.charged = {str(event): count for event, count in charged.items()} if charged is not None else {}
        await self._house.save_state()


class LocalSink(_Sink):
    """Outside the platform: the SDK's dataset on files, and its charging log."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Use the SDK's storages."""
        from sitemap_actor.run import run_of  # noqa: PLC0415 - unit tests of the sink need no crawl

        return cls(LocalDataset(), by_site=run_of(crawler).job.conduct.remembers)

    async def open(self) -> None:
        """See `Sink`."""
        await super().open()
        self._till = local_till()
