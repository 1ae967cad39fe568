"""What travels: batches of page URLs as columns, and the rows they become.

A sitemap lists up to 50,000 pages, so a page is never an object of its own on the way: a `UrlBatch` holds up to 1,000 of
them as parallel columns, the stages filter columns, and only the last step (a feed, the dataset) makes a row of each.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import accumulate, compress, repeat, takewhile
from typing import Any, TypeAlias, overload

from sitemap_actor.core.reading import SiteReading
from sitemap_actor.core.reasons import ChangeType, SkipReason
from sitemap_actor.core.report import Row, SitemapReport

EXTRACT_COLUMNS = ("url", "lastmod", "changefreq", "priority", "sourceSitemap", "site", "fetchedAt")
MONITOR_COLUMNS = (*EXTRACT_COLUMNS, "changeType", "previousLastmod", "firstSeenAt")

BATCH_SIZE = 1_000


class Event(StrEnum):
    """What a saved row is charged as (spec section 4)."""

    URL = "url"
    CHANGE = "change"


_CHANGES = frozenset({ChangeType.NEW, ChangeType.REMOVED, ChangeType.MODIFIED})


def event_of(row: Row) -> Event:
    """The event that `row` is charged as: a change for new, removed and modified rows, else a URL."""
    return Event.CHANGE if row.get("changeType") in _CHANGES else Event.URL


@dataclass(slots=True)
class UrlBatch:
    """Pages of one sitemap `file` of the site that `reading` reads, as columns of equal length.

    `base_url` is the file's final address. `urls` is the text to print; `keys` the canonical forms (the same list object
    where they do not differ); `instants` the lastmods as POSIX seconds, None where absent or unreadable. `extras` holds
    the extension fields of each page, None where none were asked for. With `remember`, a refused page stays in the batch
    and its place in `silent` holds why (monitor mode remembers it without a row); otherwise it leaves the batch.
    """

    reading: SiteReading
    file: SitemapReport
    base_url: str
    fetched_at: str
    urls: list[str]
    lastmods: list[str | None]
    changefreqs: list[str | None]
    priorities: list[str | None]
    extras: list[dict[str, Any] | None] | None
    instants: list[float | None]
    keys: list[str] = field(default_factory=list)
    remember: bool = False
    silent: list[SkipReason | str | None] | None = None
    unreadable: list[str] = field(default_factory=list)
    """Entries whose text could not be decoded; they are listed, and invalid, but stand in no column."""

    def __len__(self) -> int:
        return len(self.urls)

    def note(self, count: str, by: int) -> None:
        """Add to a count of the run (a field of `Counts`), and to the file's share of it."""
        counts = self.reading.run.counts
        setattr(counts, count, getattr(counts, count) + by)
        self.file.tally[count] += by

    def refuse(self, indices: Iterable[int], reason: SkipReason | str) -> None:
        """Take the pages at `indices` out, or mark them as remembered silently for `reason`."""
        if not self.remember:
            self.drop(indices)
            return
        if self.silent is None:
            self.silent = [None] * len(self.urls)
        for index in indices:
            self.silent[index] = self.silent[index] or reason

    def drop(self, indices: Iterable[int]) -> None:
        """Take the pages at `indices` out of every column."""
        keep = [True] * len(self.urls)
        for index in indices:
            keep[index] = False
        self.keep(keep)

    def keep(self, mask: Sequence[bool]) -> None:
        """Keep the pages whose place in `mask` is true."""
        same_keys = self.keys is self.urls
        self.urls = list(compress(self.urls, mask))
        self.keys = self.urls if same_keys else list(compress(self.keys, mask))
        self.lastmods = list(compress(self.lastmods, mask))
        self.changefreqs = list(compress(self.changefreqs, mask))
        self.priorities = list(compress(self.priorities, mask))
        self.instants = list(compress(self.instants, mask))
        if self.extras is not None:
            self.extras = list(compress(self.extras, mask))
        if self.silent is not None:
            self.silent = list(compress(self.silent, mask))

    def cut(self, size: int) -> None:
        """Keep the first `size` pages only."""
        if size < len(self.urls):
            self.keep([True] * size + [False] * (len(self.urls) - size))

    def part(self, start: int, stop: int) -> "UrlBatch":
        """The pages from `start` up to `stop` as a batch of their own."""
        part = replace(self, silent=self.silent and list(self.silent))
        part.keep([start <= place < stop for place in range(len(self.urls))])
        return part

    def rows(self) -> Iterator[Row]:
        """The pages as rows, extract mode's fields first and then the extensions asked for."""
        extras = self.extras if self.extras is not None else repeat(None)
        site, source, fetched_at = self.reading.site.key, self.file.url, self.fetched_at
        for url, lastmod, changefreq, priority, extra in zip(
            self.urls, self.lastmods, self.changefreqs, self.priorities, extras, strict=False
        ):
            row: Row = {
                "url": url,
                "lastmod": lastmod,
                "changefreq": changefreq,
                "priority": priority,
                "sourceSitemap": source,
                "site": site,
                "fetchedAt": fetched_at,
            }
            if extra:
                row.update(extra)
            yield row


@dataclass(slots=True)
class ChangeBatch:
    """Rows of one site that monitor mode found to save, in their order; the filters leave it alone."""

    reading: SiteReading
    changes: list[Row]

    def __len__(self) -> int:
        return len(self.changes)

    def cut(self, size: int) -> None:
        """Keep the first `size` rows only."""
        del self.changes[size:]

    def drop(self, indices: Iterable[int]) -> None:
        """Take the rows at `indices` out."""
        out = set(indices)
        self.changes = [row for place, row in enumerate(self.changes) if place not in out]

    def part(self, start: int, stop: int) -> "ChangeBatch":
        """The rows from `start` up to `stop` as a batch of their own."""
        return ChangeBatch(self.reading, self.changes[start:stop])

    def rows(self) -> Iterator[Row]:
        """The rows, complete."""
        return iter(self.changes)


Batch: TypeAlias = UrlBatch | ChangeBatch


class Rows(Sequence[Row]):
    """The rows of some batches, in order, on their way to a sink. A row becomes a dict only where one is asked for by its
    place, and is the same one every time; who takes them as they are (`parts`, `events_of`) spares the dicts.
    """

    def __init__(self, parts: Sequence[Batch], *, of: "Rows | None" = None, start: int = 0) -> None:
        """The rows of `parts`; where they are some of the rows `of` others, from the place `start` on, the same dicts."""
        self.parts = parts
        self._of = of
        self._start = start
        self._made: list[Row] | None = None

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows())

    @overload
    def __getitem__(self, key: int) -> Row: ...

    @overload
    def __getitem__(self, key: slice) -> Sequence[Row]: ...

    def __getitem__(self, key: int | slice) -> Row | Sequence[Row]:
        if isinstance(key, slice) and key.indices(len(self)) == (0, len(self), 1):
            return self
        return self._rows()[key]

    def first(self, count: int) -> tuple[list[Batch], list[Batch]]:
        """The first `count` rows, and the rest, as batches."""
        before: list[Batch] = []
        after: list[Batch] = []
        for part in self.parts:
            if count >= len(part):
                before.append(part)
            elif count <= 0:
                after.append(part)
            else:
                before.append(part.part(0, count))
                after.append(part.part(count, len(part)))
            count -= len(part)
        return before, after

    def calls(self, most: int) -> Iterator["Rows"]:
        """The rows in order, up to `most` at a time; a batch stays whole."""
        start, parts = 0, list(self.parts)
        while parts:
            count = first_parts(parts, most)
            call = Rows(parts[:count], of=self, start=start)
            yield call
            start += len(call)
            del parts[:count]

    def _rows(self) -> list[Row]:
        if self._made is None:
            if self._of is None:
                self._made = [row for part in self.parts for row in part.rows()]
            else:
                self._made = list(self._of[self._start : self._start + len(self)])
        return self._made


def first_parts(parts: Sequence[Batch], most: int) -> int:
    """How many of the first `parts` hold up to `most` rows together; the first one in any case."""
    sizes = accumulate(map(len, parts))
    return max(1, sum(1 for _ in takewhile(lambda size: size <= most, sizes)))


def count_events(rows: Sequence[Row]) -> Counter[Event]:
    """How many of the rows are charged as which event."""
    if not isinstance(rows, Rows):
        return Counter(events_of(rows))
    counts: Counter[Event] = Counter()
    for part in rows.parts:
        if isinstance(part, UrlBatch):
            counts[Event.URL] += len(part)
        else:
            counts.update(map(event_of, part.changes))
    return counts


def events_of(rows: Sequence[Row]) -> list[Event]:
    """The events of rows, in order."""
    if not isinstance(rows, Rows):  # most of these hold no change at all
        return list(map(event_of, rows)) if any("changeType" in row for row in rows) else [Event.URL] * len(rows)
    events: list[Event] = []
    for part in rows.parts:
        events += [Event.URL] * len(part) if isinstance(part, UrlBatch) else map(event_of, part.changes)
    return events
