"""One run at a time on one stateKey (spec section 7).

The store has no compare-and-set, so every contender writes a claim under a key of its own, waits, and reads all claims back;
a claim that holds already wins, else the lowest run id. A claim whose run is known to have ended, or that was not renewed for
5 minutes, counts for nothing and is removed.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sitemap_actor.core.changes.codec import digest_of
from sitemap_actor.core.ports import StateStore

PREFIX = "lease-"
WAIT_SECS = 2.0
RENEW_SECS = 60.0
STALE_SECS = 300.0
SAFE_SECS = 150.0


@dataclass(frozen=True, slots=True)
class Claim:
    """One run's claim. `renewed_at` in POSIX seconds; `holds`: it went through the waiting."""

    run: str
    renewed_at: float
    holds: bool


class Lease:
    """`clock` gives POSIX seconds, `sleep` waits for so many seconds."""

    def __init__(
        self,
        store: StateStore,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
        wait_secs: float = WAIT_SECS,
    ) -> None:
        self._store = store
        self._clock = clock
        self._sleep = sleep
        self._wait_secs = wait_secs
        self._run = store.identity()[0]
        self._key = PREFIX + digest_of(self._run.encode())[:32]
        self.held = False
        self._renewed_at = 0.0

    async def acquire(self) -> str | None:
        """Take the lease; return None, or the id of the run that has it."""
        if other := await self._other(before_claim=True):
            return other
        await self._claim(holds=False)
        await self._sleep(self._wait_secs)
        if other := await self._other(before_claim=False):
            await self._store.delete(self._key)
            return other
        await self._claim(holds=True)
        self.held = True
        return None

    async def renew(self) -> bool:
        """Say that the run is still there; False where another run took the lease over meanwhile."""
        if self.held and await self._store.read(self._key) is None:
            self.held = False
        if self.held:
            await self._claim(holds=True)
        return self.held

    async def is_safe(self) -> bool:
        """Whether the run may write: it has the lease, and looked again if it was long ago (a process that was stopped for a
        while cannot know what happened meanwhile).
        """
        return self.held if self._clock() - self._renewed_at < SAFE_SECS else await self.renew()

    async def release(self) -> None:
        """Let the lease go."""
        if self.held:
            self.held = False
            await self._store.delete(self._key)

    async def _claim(self, *, holds: bool) -> None:
        now = self._clock()
        claim = {"run": self._run, "renewedAt": now, "holds": holds}
        await self._store.write(self._key, json.dumps(claim).encode())
        self._renewed_at = now

    async def _other(self, *, before_claim: bool) -> str | None:
        """The run that has the lease instead of this one; stale claims are removed on the way."""
        winner: str | None = None
        for key in await self._store.keys(PREFIX):
            if key == self._key:
                continue
            claim = _read(await self._store.read(key))
            if claim is None or not await self._is_live(claim):
                await self._store.delete(key)
            elif claim.holds or before_claim or claim.run < self._run:
                winner = claim.run
        return winner

    async def _is_live(self, claim: Claim) -> bool:
        if self._clock() - claim.renewed_at >= STALE_SECS:
            return False
        return not await self._store.has_ended(claim.run)


def _read(body: bytes | None) -> Claim | None:
    """A claim; None where it is none (a record that was being deleted, or is not ours to understand)."""
    try:
        values = json.loads(body or b"")
        return Claim(str(values["run"]), float(values["renewedAt"]), bool(values["holds"]))
    except (ValueError, KeyError, TypeError):
        return None
