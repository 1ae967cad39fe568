"""One site's records in the state store, written in steps that survive a crash at any point.

Writing: the shards of a new generation, then the head that names them (the flip), then all other shards go, with those that an
earlier crash left. Until the flip the old generation stands untouched. What cannot be read (damaged, cut short, foreign, newer)
is copied aside under a key of its own before the head's key is written again; the shards it names are neither overwritten,
because generations only count up, nor deleted.
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field

from sitemap_actor.core.changes import codec
from sitemap_actor.core.changes.codec import Head, StateInvalidError
from sitemap_actor.core.changes.facts import SiteFacts
from sitemap_actor.core.changes.site import SiteState
from sitemap_actor.core.changes.snapshot import Block
from sitemap_actor.core.ports import Aside, StateStore, in_place


@dataclass(slots=True)
class Prepared:
    """A generation whose shards are written, and whose head is not."""

    head: bytes
    shards: list[tuple[str, str]]
    floor: int


@dataclass(slots=True)
class Vault:
    """The records of the site with that `entry`; two sites never share a key."""

    store: StateStore
    entry: str
    aside: Aside = in_place
    """Does what takes long for a large site."""
    invalid: str | None = None
    """Why the state that was found could not be read, if it could not."""
    _old: list[tuple[str, str]] = field(default_factory=list)

    @property
    def mark(self) -> str:
        """What all keys of the site begin with."""
        return "site-" + hashlib.sha256(self.entry.encode()).hexdigest()[:32]

    @property
    def head_key(self) -> str:
        """The key of the head record."""
        return f"{self.mark}-head"

    def _shard_key(self, generation: int, number: int) -> str:
        return f"{self.mark}-g{generation:08}-{number:05}"

    async def open(self, make: Callable[[SiteFacts], SiteState], *, journal_base: int | None) -> SiteState:
        """The site as it is remembered; a new one where nothing is. `make` gives the empty state of a run for its facts.

        `journal_base`: the generation that a journal found there goes on from, None where there is none. With 0, shards
        without a head are what a crash of the first run left; otherwise the head is lost.
        """
        body = await self.store.read(self.head_key)
        try:
            if body is None:
                return await self._first(make, journal_base)
            head = codec.read_head(body, self.entry)
            return await self._load(head, make)
        except StateInvalidError as error:
            self.invalid = str(error)
        if body is not None:
            await self.store.write(f"{self.mark}-aside-{codec.digest_of(body)[:16]}", body)
        last = await self._last_generation()
        return make(SiteFacts(self.entry, last, quiet=True, floor=last))

    async def _first(self, make: Callable[[SiteFacts], SiteState], journal_base: int | None) -> SiteState:
        lost = bool(journal_base) or (journal_base is None and await self._last_generation() > 0)
        if lost:
            raise StateInvalidError("its head record is missing")
        return make(SiteFacts(self.entry))

    async def _load(self, head: Head, make: Callable[[SiteFacts], SiteState]) -> SiteState:
        state = make(head.site)
        try:
            async for block in self._blocks(head):
                await self.aside(state.load, [block])
        except BaseException:
            state.close()
            raise
        self._old = head.shards
        return state

    async def _blocks(self, head: Head) -> AsyncIterator[Block]:
        for key, digest in head.shards:
            body = await self.store.read(key)
            if body is None:
                raise StateInvalidError("a shard is missing")
            for block in codec.read_shard(body, "pages", self.entry, digest):
                yield block

    async def _last_generation(self) -> int:
        """The highest generation that any shard is of; 0 where there is none."""
        return max((self._generation(key) for key in await self.store.keys(f"{self.mark}-g")), default=0)

    def _generation(self, key: str) -> int:
        return int(key.removeprefix(f"{self.mark}-g")[:8])

    async def sweep(self, floor: int) -> None:
        """Delete the shards that the state which counts does not name: crashed runs left them. `floor`: as in its facts."""
        named = {key for key, _digest in self._old}
        for key in await self.store.keys(f"{self.mark}-g"):
            if self._generation(key) > floor and key not in named:
                await self.store.delete(key)

    async def clear(self) -> None:
        """Delete the shards that a first run left without ever writing a head."""
        if await self.store.read(self.head_key) is None:
            for key in await self.store.keys(f"{self.mark}-g"):
                await self.store.delete(key)

    async def prepare(self, facts: SiteFacts, blocks: Iterable[Block] | None) -> Prepared:
        """Write the shards of the generation that `facts` names; without `blocks` those that were loaded stay."""
        if blocks is None:
            return Prepared(codec.write_head(Head(facts, self._old)), self._old, facts.floor)
        shards: list[tuple[str, str]] = []
        bodies = codec.write_shards(blocks, "pages", self.entry)
        while (body := await self.aside(next, bodies, None)) is not None:
            key = self._shard_key(facts.generation, len(shards))
            await self.store.write(key, body)
            shards.append((key, codec.digest_of(body)))
        return Prepared(codec.write_head(Head(facts, shards)), shards, facts.floor)

    async def flip(self, prepared: Prepared) -> None:
        """Make the prepared generation the one that counts, and let the one before go."""
        await self.store.write(self.head_key, prepared.head)
        if prepared.shards is not self._old:
            self._old = prepared.shards
            await self.sweep(prepared.floor)
