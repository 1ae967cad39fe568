"""Brings every part to its end, a few at a time."""

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from scaleout.ledger import Entry, Ledger, Step
from scaleout.merge import is_good
from scaleout.parts import ScaleOutError
from scaleout.platforms import LostAnswerError, Order, Platform

START_TRIES = 5


def say(text: str) -> None:
    """Write a line to standard output at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@dataclass(frozen=True, slots=True)
class Pace:
    """How many runs there are at once, seconds between looks at a run, and before a lost start is looked for."""

    at_once: int
    poll_secs: float = 5.0
    settle_secs: float = 5.0


def plan_again(ledger: Ledger) -> int:
    """Plan the parts whose run did not come to a good end once more; return how many."""
    again = [entry for entry in ledger.entries if entry.step is Step.ENDED and not is_good(ledger.report(entry))]
    for entry in again:
        entry.step, entry.attempt = Step.PLANNED, entry.attempt + 1
        entry.run = entry.since = entry.outcome = None
    ledger.save()
    return len(again)


class Gathering:
    """The work on one ledger. `given` makes a part's input out of its number and sites."""

    def __init__(
        self, ledger: Ledger, platform: Platform, given: Callable[[int, list[str]], Mapping[str, Any]], pace: Pace
    ) -> None:
        self._ledger = ledger
        self._platform = platform
        self._given = given
        self._pace = pace

    async def finish(self) -> None:
        """Start, wait for and gather every part that has not ended. The first error ends it; runs go on by themselves."""
        # What an earlier process began comes first: it runs already.
        waiting = deque(sorted(self._open(), key=lambda entry: entry.step is Step.PLANNED))

        async def work() -> None:
            while waiting:
                await self._bring_in(waiting.popleft())

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._pace.at_once, len(waiting))):
                    group.create_task(work())
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None

    def _open(self) -> list[Entry]:
        return [entry for entry in self._ledger.entries if entry.step is not Step.ENDED]

    async def _bring_in(self, entry: Entry) -> None:
        if entry.step is not Step.STARTED:
            await self._start(entry)
        assert entry.run is not None  # noqa: S101 - a part that is started has one
        outcome = await self._wait(entry.run)
        report = await self._platform.report(self._order(entry), entry.run)
        self._ledger.keep_report(entry, report)
        entry.step, entry.outcome = Step.ENDED, outcome
        self._ledger.save()
        left = len(self._open())
        message = "it left no REPORT." if report is None else report["message"]
        say(f"Part {entry.number} ({outcome}), {left:,} to go: {message}")

    async def _wait(self, run: str) -> str:
        while True:
            outcome = await self._platform.ended(run)
            if outcome is not None:
                return outcome
            await asyncio.sleep(self._pace.poll_secs)

    async def _start(self, entry: Entry) -> None:
        """Start a part's run, unless it turns out to be there already."""
        for attempt in range(START_TRIES):
            if entry.step is Step.STARTING:
                await asyncio.sleep(self._pace.settle_secs)
                entry.run = await self._platform.find(self._order(entry))
            if entry.run is None:
                entry.step = Step.STARTING
                entry.since = entry.since or _now()
                self._ledger.save()
                try:
                    entry.run = await self._platform.start(self._order(entry))
                except LostAnswerError as error:
                    say(f"Part {entry.number}: no answer to the start ({error}); looking for its run.")
                    await asyncio.sleep(self._pace.settle_secs * attempt)
                    continue
            entry.step = Step.STARTED
            self._ledger.save()
            return
        raise ScaleOutError(f"Part {entry.number} could not be started in {START_TRIES} tries.")

    def _order(self, entry: Entry) -> Order:
        return Order(
            entry.number, self._ledger.label(entry), self._given(entry.number, entry.sites), entry.since or _now()
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
