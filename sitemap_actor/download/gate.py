"""The gate: where requests leave, one at a time per host, with the host's gap counted from the end of the last one.

Strategy: every host has a queue of waiters (futures) and at most one open turn. Whenever something changes, a turn
ends, a waiter comes or goes, a timer fires, the host is looked at afresh: it lets the next waiter through, or sets one
timer for the moment at which it may. Waiters whose own moment (`not_before`, a retry) has not come hold up nobody.
Scrapy's slots do not do this: they count the gap from the start of a request and lose track of it at delay 0.

Times are seconds of the running loop's clock, which on asyncio's own loops is `time.monotonic()`.
"""

import asyncio
import copy
import heapq
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

Gap = Callable[[str], float]
"""The seconds to keep between two requests to a host (asked whenever one may leave, so it may change meanwhile)."""

_Waiter = asyncio.Future[None]


class Gate:
    """Lets requests to each host through in single file.

    `gap(host)` gives the seconds to leave between the end of one request and the start of the next. A host is
    `scheme://host[:port]` as `core.urls.host_key` spells it. One gate serves one event loop.
    """

    def __init__(self, gap: Gap) -> None:
        self._gap = gap
        self._hosts: dict[str, _Host] = {}
        self._closed: Exception | None = None

    @asynccontextmanager
    async def turn(self, host: str, not_before: float = 0.0) -> AsyncIterator[None]:
        """Wait for the host's next turn, and hold it while the block runs (until the last byte is in).

        `not_before` (loop time) keeps this one request back; others may pass it meanwhile. Raises a copy of the error
        that the host or the gate was closed with, at once, also where the wait had begun or the block was running.
        """
        self._refuse_if_closed(host)
        queue = self._queue(host)
        await queue.wait(not_before)
        patience: asyncio.Timeout | None = None
        try:
            self._refuse_if_closed(host)  # closed after the turn was given, before this task came to run
            async with asyncio.timeout(None) as patience:
                queue.running = patience
                yield
        except TimeoutError:
            if patience is not None and patience.expired() and self._closed is not None:
                raise copy.copy(self._closed) from None
            raise
        finally:
            queue.leave()

    def hold_host(self, host: str, until: float) -> None:
        """Let no request to the host through before `until` (loop time): a server that said Retry-After."""
        queue = self._queue(host)
        queue.open_at = max(queue.open_at, until)

    def close_host(self, host: str, error: Exception) -> None:
        """Refuse every waiter of the host and every later comer with a copy of `error`; an open turn may finish."""
        self._queue(host).close(error)

    def close(self, error: Exception) -> None:
        """Refuse everyone, everywhere, with a copy of `error`; turns that are open are broken off the same way."""
        self._closed = error
        for queue in self._hosts.values():
            queue.close(error)
            queue.break_off()

    def waiting(self, host: str) -> int:
        """Count the requests that wait for their turn at the host."""
        queue = self._hosts.get(host)
        return queue.waiting if queue else 0

    def _queue(self, host: str) -> "_Host":
        queue = self._hosts.get(host)
        if queue is None:
            queue = self._hosts[host] = _Host(host, self._gap)
        return queue

    def _refuse_if_closed(self, host: str) -> None:
        queue = self._hosts.get(host)
        error = self._closed or (queue.closed if queue else None)
        if error is not None:
            raise copy.copy(error)


class _Host:
    """One host's queue, and whether a turn is open."""

    def __init__(self, name: str, gap: Gap) -> None:
        self.closed: Exception | None = None
        self.open_at = 0.0
        self.running: asyncio.Timeout | None = None
        self._name = name
        self._gap = gap
        self._busy = False
        self._ended: float | None = None
        self._prompt: deque[_Waiter] = deque()
        self._later: list[tuple[float, int, _Waiter]] = []
        self._arrivals = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> int:
        queued = [*self._prompt, *(entry[2] for entry in self._later)]
        return sum(not waiter.done() for waiter in queued)

    async def wait(self, not_before: float) -> None:
        """Return once the turn is ours; the caller must call `leave` after it."""
        loop = asyncio.get_running_loop()
        waiter: _Waiter = loop.create_future()
        if not_before > loop.time():
            self._arrivals += 1
            heapq.heappush(self._later, (not_before, self._arrivals, waiter))
        else:
            self._prompt.append(waiter)
        self._look()
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._busy = False  # the turn was given to a task that no longer wants it: no request went out
            self._look()
            raise

    def leave(self) -> None:
        """End the turn: the gap counts from now."""
        self.running = None
        self._busy = False
        self._ended = asyncio.get_running_loop().time()
        self._look()

    def close(self, error: Exception) -> None:
        self.closed = error
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        queued = [*self._prompt, *(entry[2] for entry in self._later)]
        self._prompt.clear()
        self._later.clear()
        for waiter in queued:
            if not waiter.done():
                waiter.set_exception(copy.copy(error))

    def break_off(self) -> None:
        if self.running is not None:
            self.running.reschedule(0.0)  # a moment long past: the turn's task is interrupted in the next round
            self.running = None

    def _look(self) -> None:
        """Let the next waiter through if one may go, else wake up when one may."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._busy:
            return
        self._forget_the_gone()
        if not self._prompt and not self._later:
            return
        loop = asyncio.get_running_loop()
        now = loop.time()
        opens = self.open_at
        if self._ended is not None:
            opens = max(opens, self._ended + self._gap(self._name))
        if not self._prompt:
            opens = max(opens, self._later[0][0])
        if opens > now:
            self._timer = loop.call_at(opens, self._look)
            return
        # A retry whose moment has come goes first: it finishes a file that was begun.
        due = bool(self._later) and self._later[0][0] <= now
        waiter = heapq.heappop(self._later)[2] if due else self._prompt.popleft()
        self._busy = True
        waiter.set_result(None)

    def _forget_the_gone(self) -> None:
        while self._prompt and self._prompt[0].done():
            self._prompt.popleft()
        while self._later and self._later[0][2].done():
            heapq.heappop(self._later)
