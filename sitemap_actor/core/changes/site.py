"""One site while a monitor run reads it: its remembered facts and pages, and what the run stages."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sitemap_actor.core.changes.compare import Comparison
from sitemap_actor.core.changes.facts import Circumstances, FileSeen, Numbers, SiteFacts
from sitemap_actor.core.changes.kinds import Terms
from sitemap_actor.core.changes.settling import Plan, Source, settle
from sitemap_actor.core.changes.snapshot import Block, Snapshot, orders


@dataclass(frozen=True, slots=True)
class Listing:
    """Entries of one sitemap as columns of equal length. `sitemap` is its canonical URL; `urls` the texts to print, the same
    list object as `keys` where they do not differ; `extras` JSON texts; `why` says of a page why it is remembered silently.
    """

    sitemap: str
    source: Source
    keys: Sequence[str]
    urls: Sequence[str]
    lastmods: Sequence[str | None]
    instants: Sequence[float | None]
    changefreqs: Sequence[str | None]
    priorities: Sequence[str | None]
    extras: Sequence[str | None] | None = None
    why: Sequence[str | None] | None = None

    def first(self, size: int) -> "Listing":
        """The first `size` entries."""
        keys = self.keys[:size]
        return Listing(
            self.sitemap,
            self.source,
            keys,
            keys if self.urls is self.keys else self.urls[:size],
            self.lastmods[:size],
            self.instants[:size],
            self.changefreqs[:size],
            self.priorities[:size],
            self.extras[:size] if self.extras is not None else None,
            self.why[:size] if self.why is not None else None,
        )


@dataclass(frozen=True, slots=True)
class Staged:
    """What became of a listing: entries that repeat a page listed before, and entries past the limit on pages."""

    repeats: int
    over: int


class SiteState:
    """`now`: the run's time, POSIX seconds. `cap`: the most distinct pages to read."""

    def __init__(self, path: Path, facts: SiteFacts, *, now: float, cap: int | None = None) -> None:
        self.facts = facts
        self.numbers = Numbers(facts)
        self.snapshot = Snapshot(path)
        self.sources: dict[int, Source] = {}
        self.entries: dict[str, int] = {}
        """Entries staged of each sitemap, repeats included."""
        self.cut: set[str] = set()
        """Sitemaps of which pages past the limit were left out."""
        self.capped = False
        self._now = now
        self._cap = cap
        self.plan: Plan | None = None

    def load(self, blocks: Iterable[Block]) -> None:
        """Take in the remembered pages."""
        self.snapshot.load(blocks)

    def stage(self, listing: Listing) -> Staged:
        """Enter what a sitemap lists, up to the limit on distinct pages."""
        numbers = self.snapshot.find(listing.keys)
        size = given = len(numbers)
        if self._cap is not None and self.snapshot.listed_count + size > self._cap:
            size = self._fitting(numbers)
            if size < given:
                self.capped = True
                self.cut.add(listing.sitemap)
                listing, numbers = listing.first(size), numbers[:size]
        number = self.numbers.of(listing.sitemap)
        self.sources[number] = listing.source
        self.entries[listing.sitemap] = self.entries.get(listing.sitemap, 0) + size
        columns = self._columns(listing)
        repeats = self.snapshot.stage(number, numbers, columns, listing.why)
        return Staged(repeats, given - size)

    def _columns(self, listing: Listing) -> list[Sequence[object]]:
        size = len(listing.keys)
        none = [None] * size
        urls: Sequence[str | None] = none
        if listing.urls is not listing.keys:
            urls = [url if url != key else None for url, key in zip(listing.urls, listing.keys, strict=True)]
        ords = orders(listing.lastmods, listing.instants, self._now)
        return [urls, listing.lastmods, ords, listing.changefreqs, listing.priorities, listing.extras or none]

    def _fitting(self, numbers: Sequence[int]) -> int:
        """How many of the pages, from the front, fit under the limit."""
        left = (self._cap or 0) - self.snapshot.listed_count
        fresh: set[int] = set()
        for place, number in enumerate(numbers):
            if number not in fresh and self.snapshot.unlisted_among([number]):
                if len(fresh) == left:
                    return place
                fresh.add(number)
        return len(numbers)

    def compare(
        self,
        seen: Sequence[FileSeen],
        circumstances: Circumstances,
        terms: Terms,
        *,
        site_key: str,
        quota: int,
        include_existing: bool,
    ) -> Plan:
        """Judge what was read; the plan says which rows to save (at most `quota` changes)."""
        comparison = Comparison(
            self.snapshot, self.facts, seen, circumstances=circumstances, terms=terms, numbers=self.numbers
        )
        comparison.run()
        self.plan = Plan(comparison, site_key, self.sources, quota, include_existing)
        return self.plan

    def settle(self, saved: int, fingerprint: str) -> SiteFacts:
        """Move the state on by the first `saved` rows of the plan."""
        if self.plan is None:
            raise ValueError("nothing was compared")
        return settle(self.plan, saved, fingerprint, capped=self.capped)

    def is_as_loaded(self) -> bool:
        """Whether, after `settle`, the pages to remember are those that were loaded."""
        return self.snapshot.known > 0 and self.snapshot.is_as_loaded()

    def blocks(self) -> Iterator[Block]:
        """The pages to remember, after `settle`."""
        return self.snapshot.blocks()

    def close(self) -> None:
        """Let go of the file."""
        self.snapshot.close()
