"""What rows cost, what the spending limit still pays for, and the charging itself.

A row costs the price of its event and that of the platform's own dataset item event; both count against the limit, as does
whatever was charged before (the start event, an earlier life of the run). A row is charged only once it is saved. Each charge
has an idempotency key of its own: run, event, and how often the event was charged before, so that the same charge repeated,
even by the run's next life, is the same charge to the platform.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import accumulate
from typing import Protocol

import impit
from apify import Actor
from apify_client.errors import ApifyApiError

from sitemap_actor.actor.house import TRIES, House, PlatformError, in_words, is_passing, pause_before
from sitemap_actor.core.rows import Event

logger = logging.getLogger(__name__)

ITEM_EVENT = "apify-default-dataset-item"


class Till(Protocol):
    """Where a sink asks what it may save, and pays."""

    def fitting(self, events: Sequence[Event]) -> int:
        """How many rows, from the front, the limit pays for; `events` has the event of each row."""

    def owe(self, events: Counter[Event]) -> None:
        """Rows were saved: their events are to be charged."""

    async def settle(self) -> None:
        """Charge what is owed. Raises `PlatformError` where the platform does not take it."""

    def charged(self) -> Mapping[Event, int] | None:
        """How often each event was charged in this run; None where the run is not pay-per-event."""


class NoTill:
    """A run that is not pay-per-event: everything fits, nothing is charged."""

    def fitting(self, events: Sequence[Event]) -> int:
        """All of them."""
        return len(events)

    def owe(self, events: Counter[Event]) -> None:
        """Nothing is owed for them."""

    async def settle(self) -> None:
        """Nothing to pay."""

    def charged(self) -> None:
        """Nothing ever is."""


class _PricedTill:
    """The arithmetic. `counts` is what was charged so far, by event name; `limit` in USD, infinite where there is none."""

    def __init__(
        self, prices: Mapping[str, Decimal], unlisted: Decimal, limit: Decimal, counts: Mapping[str, int]
    ) -> None:
        self._prices = prices
        self._unlisted = unlisted
        self._limit = limit
        self._counts: Counter[str] = Counter(counts)
        self._owed: Counter[Event] = Counter()

    def _price(self, event: str) -> Decimal:
        return self._prices.get(event, self._unlisted)

    def _left(self) -> Decimal:
        spent = sum((self._price(event) * count for event, count in self._counts.items()), Decimal())
        return self._limit - spent - sum((self._price(event) * count for event, count in self._owed.items()), Decimal())

    def fitting(self, events: Sequence[Event]) -> int:
        """See `Till`: it ends at the first row, in order, that does not fit, whichever its price."""
        left = self._left()
        costs = {event: self._price(event) + self._price(ITEM_EVENT) for event in Event}
        if left >= max(costs.values()) * len(events):
            return len(events)
        sums = accumulate(costs[event] for event in events)
        return next((place for place, total in enumerate(sums) if total > left), len(events))

    def owe(self, events: Counter[Event]) -> None:
        """See `Till`. The platform charges for the dataset items by itself; here they are only counted."""
        self._counts[ITEM_EVENT] += events.total()
        self._owed += events

    async def settle(self) -> None:
        """See `Till`."""
        for event, count in list(self._owed.items()):
            await self._charge(event, count)
            self._counts[event] += count
            del self._owed[event]

    async def _charge(self, event: Event, count: int) -> None:
        raise NotImplementedError

    def charged(self) -> Mapping[Event, int] | None:
        """See `Till`."""
        return {event: self._counts[event] for event in Event}


class PlatformTill(_PricedTill):
    """At home. The counts come from the run object, never from the environment, which may be older than the last charge."""

    def __init__(self, house: House, prices: Mapping[str, Decimal], limit: Decimal, counts: Mapping[str, int]) -> None:
        super().__init__(prices, Decimal(0), limit, counts)
        self._house = house
        self._told: set[Event] = set()

    def resume(self, rows: Counter[Event]) -> None:
        """An earlier life saved `rows`: what of them is not charged yet is owed."""
        for event in Event:
            self._counts[event] = max(self._counts[event], self._house.ledger.charged.get(event, 0))
        self._owed = Counter(
            {event: count - self._counts[event] for event, count in rows.items() if count > self._counts[event]}
        )
        self._counts[ITEM_EVENT] = max(self._counts[ITEM_EVENT], rows.total())

    async def _charge(self, event: Event, count: int) -> None:
        if event not in self._prices:
            if event not in self._told:
                logger.warning("The event '%s' has no price on this platform, so nothing is charged for it.", event)
            self._told.add(event)
            return
        before = self._counts[event]
        key = f"{self._house.run_id}-{event}-{before}"
        for attempt in range(1, TRIES + 1):
            try:
                await self._house.run.charge(event, count=count, idempotency_key=key)
            except (ApifyApiError, impit.HTTPError) as error:
                if not is_passing(error):
                    raise PlatformError("Charging", in_words(error)) from error
                if await self._is_charged(event, before + count):
                    return
                if attempt == TRIES:
                    raise PlatformError("Charging", in_words(error)) from error
                await pause_before(attempt)
            else:
                return

    async def _is_charged(self, event: Event, total: int) -> bool:
        """Whether a charge without a clear answer was taken; not knowing is no: its key makes a repeat harmless."""
        try:
            return (await self._house.charged_counts(tries=2)).get(event, 0) >= total
        except PlatformError:
            return False


class LocalTill(_PricedTill):
    """Outside the platform: the SDK keeps the charging log (ACTOR_TEST_PAY_PER_EVENT, or prices in the environment)."""

    async def _charge(self, event: Event, count: int) -> None:
        key = f"local-{event}-{self._counts[event]}"
        await Actor.get_charging_manager().charge(event, count=count, idempotency_key=key)


def local_till() -> Till:
    """The till of a local run, with the SDK's prices."""
    manager = Actor.get_charging_manager()
    info = manager.get_pricing_info()
    if not info.is_pay_per_event:
        return NoTill()
    names = {*info.per_event_prices, *Event, ITEM_EVENT}
    counts = {name: manager.get_charged_event_count(name) for name in names}
    # The SDK lets an event without a price cost a dollar outside the platform, so that limits can be tried out.
    return LocalTill(info.per_event_prices, Decimal(1), manager.get_max_total_charge_usd(), counts)


async def platform_till(house: House) -> PlatformTill | NoTill:
    """The till of a run at home."""
    info = Actor.get_charging_manager().get_pricing_info()
    if not info.is_pay_per_event:
        return NoTill()
    return PlatformTill(house, info.per_event_prices, info.max_total_charge_usd, await house.charged_counts())
