"""Time-outs that measure the server, not ourselves.

On 1/16 of a core the event loop may be busy with other files for most of a second at a time, and whatever arrived
meanwhile has not been looked at yet. So this clock stands still while the loop is not listening, and a deadline
that has passed gives the loop a few more rounds to notice what is already there before it strikes.
"""

import asyncio

_BEAT = 0.25
"""Seconds between two looks; of a round of the loop that takes longer only this much counts."""

_ROUNDS = 12
"""Rounds of the loop from a socket's readiness to the task that awaits it: a connection being set up passes through
several tasks and futures, a read through two."""


class ListeningClock:
    """Counts the seconds during which the event loop was listening. Runs while at least one user has it started."""

    def __init__(self) -> None:
        self._users = 0
        self._counted = 0.0
        self._last = 0.0
        self._beat: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Keep the clock running (until as many `stop`)."""
        self._users += 1
        if self._users == 1:
            self._last = asyncio.get_running_loop().time()
            self._arm()

    def stop(self) -> None:
        """Take one `start` back."""
        self._users -= 1
        if self._users == 0 and self._beat is not None:
            self._beat.cancel()
            self._beat = None

    def time(self) -> float:
        """Seconds counted so far."""
        return self._counted + min(asyncio.get_running_loop().time() - self._last, _BEAT)

    def _arm(self) -> None:
        self._beat = asyncio.get_running_loop().call_later(_BEAT, self._tick)

    def _tick(self) -> None:
        self._counted = self.time()
        self._last = asyncio.get_running_loop().time()
        self._arm()


class Deadline:
    """Ends an `asyncio.timeout(None)` block after so many seconds of a `ListeningClock`, unless called off before.

    `struck` says that it was this deadline that ended the block.
    """

    def __init__(self, clock: ListeningClock, block: asyncio.Timeout, seconds: float) -> None:
        self._clock = clock
        self._block = block
        self.struck = False
        self._ends = clock.time() + seconds
        self._handle: asyncio.Handle | None = None
        self._look()

    def call_off(self) -> None:
        """Let the block run on without this deadline."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _look(self) -> None:
        left = self._ends - self._clock.time()
        if left > 0:
            self._handle = asyncio.get_running_loop().call_later(left, self._look)
        else:
            self._strike(_ROUNDS)

    def _strike(self, rounds: int) -> None:
        if rounds:
            self._handle = asyncio.get_running_loop().call_soon(self._strike, rounds - 1)
            return
        self._handle = None
        if not self._block.expired():
            self.struck = True
            self._block.reschedule(0.0)  # a moment long past: the block is interrupted in the next round
