"""Delivery: what is left of a batch is saved, and charged where that applies. The only place that knows money.

Without a sink the rows leave by Scrapy's feeds, so a batch is counted and passed on. With one, batches are buffered and
delivered up to 4,000 rows at a time, or after 2 s: a delivery is charged and noted down by a call each, and a call costs as
much CPU as a few hundred rows. A row counts as saved when the sink says so. `maxUrls` counts what is buffered too, so it is
never exceeded. Where the sink saves fewer rows than it was given, the spending limit is reached: nothing is saved after that.
"""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice, repeat
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.utils.misc import build_from_crawler, load_object

from sitemap_actor.core.errors import DeliveryError
from sitemap_actor.core.ports import Sink
from sitemap_actor.core.reasons import ChangeType
from sitemap_actor.core.report import StopReason
from sitemap_actor.core.rows import BATCH_SIZE, Batch, ChangeBatch, Rows, UrlBatch, first_parts
from sitemap_actor.core.urls import canonical
from sitemap_actor.run import Run, run_of

logger = logging.getLogger(__name__)

MAX_WAIT_SECS = 2.0
DELIVERY_ROWS = 4 * BATCH_SIZE
MAX_BUFFERED_ROWS = 2 * DELIVERY_ROWS
MAX_REFUSED_SAMPLES = 100
_CHANGES = frozenset({ChangeType.NEW, ChangeType.REMOVED, ChangeType.MODIFIED})

_query = re.compile(r"[?#]")
_segments = re.compile(r"^https?://[^/?#\n]*(/[^/?#\n]*)?", re.IGNORECASE | re.MULTILINE).findall


class DeliverPipeline:
    """Saves rows up to `maxUrls` and the spending limit."""

    def __init__(self, run: Run, sink: Sink | None) -> None:
        self._run = run
        self._sink = sink
        self._left = run.job.row_cap
        self._buffer: list[Batch] = []
        self._buffered = 0
        self._full = False
        self._refused: list[dict[str, str]] = []
        self._lock = asyncio.Lock()
        self._room = asyncio.Event()
        self._flusher: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the sink that the settings name; none where the rows leave by feeds."""
        path = crawler.settings["SITEMAP_SINK"]
        run = run_of(crawler)
        pipeline = cls(run, build_from_crawler(load_object(path), crawler) if path else None)
        run.flush = pipeline.flush
        return pipeline

    async def open_spider(self) -> None:
        """Let the sink find out what an earlier life of this run saved."""
        if self._sink is not None:
            await self._sink.open()
            self._run.rows_before = self._sink.saved_before_count()
            if self._run.rows_before:
                self._run.saved_before = self._sink.saved_before
            if self._left is not None:
                self._left = max(0, self._left - self._run.rows_before)

    async def process_item(self, batch: Batch) -> Batch:
        """Count and pass on, or buffer for the sink."""
        self._drop_saved_before(batch)
        if isinstance(batch, UrlBatch):
            self._cut_at_cap(batch)
        if not len(batch):
            raise DropItem("no row of this batch is left")
        if self._sink is None:
            self._note_saved(batch)
        else:
            await self._put(batch)
        return batch

    async def flush(self) -> None:
        """Save everything that waits."""
        while self._buffer:
            await self._deliver_some()

    async def close_spider(self) -> None:
        """Save what waits, then let go of the sink."""
        await self._run.before_close()
        if self._flusher is not None:
            self._flusher.cancel()
        if self._sink is None:
            return
        try:
            await self.flush()
        finally:
            self._count_unseen(self._sink.saved_before_count())
            charged = self._sink.charged()
            self._run.report.charged = (
                {str(event): count for event, count in charged.items()} if charged is not None else None
            )
            await self._sink.close()

    # --- limits

    def _drop_saved_before(self, batch: Batch) -> None:
        """Rows that an earlier life of this run saved are neither saved nor charged again."""
        sink = self._sink
        if sink is None or not sink.saved_before_count():
            return
        site = batch.reading.site.key
        if isinstance(batch, ChangeBatch):
            batch.changes = [row for row in batch.changes if not sink.saved_before(site, canonical(row["url"]))]
            return
        again = [index for index, key in enumerate(batch.keys) if sink.saved_before(site, key)]
        if again:
            batch.note("saved_before", len(again))
            batch.reading.report.saved += len(again)
            batch.drop(again)

    def _count_unseen(self, saved_before: int) -> None:
        """Rows of an earlier life that this one did not come across (their files were not read again, or the run ended
        first) were listed then; with them the totals hold for the run as a whole.
        """
        counts = self._run.report.counts
        unseen = saved_before - counts.saved_before
        counts.saved_before += unseen
        if not self._run.job.conduct.remembers:
            counts.listed += unseen

    def _cut_at_cap(self, batch: UrlBatch) -> None:
        """Reserve room under `maxUrls`; at the first row without room the run ends."""
        if self._full or self._run.ending:
            batch.note("not_saved", len(batch))
            if self._full:
                self._run.report.counts.not_saved_at_spending_limit += len(batch)
            batch.cut(0)
            return
        if self._left is None:
            return
        over = len(batch) - self._left
        if over >= 0:
            self._run.stop(StopReason.MAX_URLS)
        if over > 0:
            batch.note("not_saved", over)
            batch.cut(self._left)
        self._left -= len(batch)

    # --- the buffer

    async def _put(self, batch: Batch) -> None:
        """Buffer the batch's rows; wait only while the buffer is full."""
        size = len(batch)
        if size <= BATCH_SIZE:
            self._buffer.append(batch)
        else:
            self._buffer += [batch.part(start, start + BATCH_SIZE) for start in range(0, size, BATCH_SIZE)]
        self._buffered += size
        self._run.rows_given += size
        if self._buffered >= DELIVERY_ROWS:
            await self._deliver_some()
        elif self._flusher is None or self._flusher.done():
            self._flusher = asyncio.create_task(self._flush_later())
        while self._buffered >= MAX_BUFFERED_ROWS:
            await self._deliver_some()

    async def _flush_later(self) -> None:
        await asyncio.sleep(MAX_WAIT_SECS)
        try:
            await self.flush()
        except Exception as error:
            logger.exception("Saving rows failed")
            self._run.fail(f"rows could not be saved: {type(error).__name__}")

    async def _deliver_some(self) -> None:
        """Give the sink one delivery's worth of rows."""
        async with self._lock:
            if self._full:
                self._leave_out(self._take(len(self._buffer)))
            if not self._buffer:
                return
            assert self._sink is not None  # noqa: S101 - only a sink has a buffer
            rows = Rows(self._buffer[: first_parts(self._buffer, DELIVERY_ROWS)])
            failure: DeliveryError | None = None
            try:
                saved = await self._sink.deliver(rows)
            except DeliveryError as error:
                saved, failure = error.saved, error
            self._take(len(rows.parts))
            settled, left = rows.first(saved)
            for part in self._without_refused(rows, settled):
                self._note_saved(part)
            if failure is not None:
                self._give_up(left, failure)
            elif left:
                self._full = True
                self._leave_out(left)
                self._run.stop(StopReason.SPENDING_LIMIT)
            elif not self._sink.has_room():
                self._note_spent(rows.parts[-1])
            self._run.rows_settled += saved

    def _note_spent(self, last: Batch) -> None:
        """Exactly as much as the limit pays for is saved. The file that is being read may go on to its end: it may hold
        nothing more. Nothing else is asked for, and what waits to be asked for ends the run now.
        """
        run = self._run
        run.spent = True
        own = isinstance(last, UrlBatch) and last.file.url in last.reading.open_files
        if any(reading.waiting or reading.in_flight > (own and reading is last.reading) for reading in run.readings):
            run.stop(StopReason.SPENDING_LIMIT)

    def _take(self, count: int) -> list[Batch]:
        """Take batches out of the buffer."""
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        self._buffered -= sum(map(len, taken))
        return taken

    def _leave_out(self, parts: Sequence[Batch]) -> None:
        """Count rows that the spending limit does not pay for."""
        self._note_not_saved(parts)
        self._run.report.counts.not_saved_at_spending_limit += sum(map(len, parts))

    def _give_up(self, parts: Sequence[Batch], error: DeliveryError) -> None:
        """The place that rows go to gave out: what is left is counted as not saved, and the run fails."""
        logger.error("Rows could not be saved: %s", error)
        self._note_not_saved([*parts, *self._take(len(self._buffer))])
        self._run.fail(f"rows could not be saved or charged ({error})")

    def _without_refused(self, rows: Rows, parts: list[Batch]) -> list[Batch]:
        """What was saved; the rows that the place refused to hold are told in REPORT, and fail no run."""
        assert self._sink is not None  # noqa: S101 - only a sink has a buffer
        refused = {id(row): why for row, why in self._sink.take_refused()}
        if not refused:
            return parts
        samples, waiting = [], iter(rows)
        for number, part in enumerate(parts):
            own = list(islice(waiting, len(part)))
            out = [place for place, row in enumerate(own) if id(row) in refused]
            samples += [{"url": own[place]["url"], "why": refused[id(own[place])]} for place in out]
            if out:
                parts[number] = self._drop_refused(part, out)
        extra = self._run.report.extra.setdefault("refusedRows", {"count": 0, "samples": []})
        extra["count"] += len(samples)
        extra["samples"] += samples[: MAX_REFUSED_SAMPLES - len(extra["samples"])]
        for sample in samples[:10]:
            logger.error("Not saved: %s is %s", sample["url"], sample["why"])
        return parts

    def _drop_refused(self, part: Batch, out: list[int]) -> Batch:
        """A batch without some of its rows; Scrapy, and who counts for it, keep the whole one."""
        kept = part.part(0, len(part))
        kept.drop(out)
        self._note_not_saved([part.part(place, place + 1) for place in out])
        return kept

    def _note_not_saved(self, parts: Sequence[Batch]) -> None:
        for part in parts:
            if isinstance(part, UrlBatch):
                part.note("not_saved", len(part))
            else:
                self._run.report.counts.not_saved += len(part)

    # --- what was saved

    def _note_saved(self, batch: Batch) -> None:
        """Count a whole batch as saved."""
        batch.reading.report.saved += len(batch)
        if isinstance(batch, ChangeBatch):
            self._note_changes(batch)
            return
        batch.note("saved", len(batch))
        batch.reading.report.add_sections(_sections(batch.urls))
        self._run.report.days.update([int(instant // 86_400) for instant in batch.instants if instant is not None])

    def _note_changes(self, batch: ChangeBatch) -> None:
        """Count rows that may be of several kinds."""
        report = self._run.report
        batch.reading.report.add_sections(_sections([row["url"] for row in batch.changes]))
        kinds = Counter(row.get("changeType") for row in batch.changes)
        removed = kinds.get(ChangeType.REMOVED, 0)
        report.counts.removed += removed
        report.counts.saved += len(batch) - removed
        for kind, count in kinds.items():
            if kind is not None:
                report.saved_by_type[kind] += count
        report.changes += [row for row in batch.changes if row.get("changeType") in _CHANGES]


def _sections(urls: Sequence[str]) -> Counter[str]:
    """How many of the URLs have which first path segment, `/` where there is none."""
    origin = urls[0][: urls[0].find("/", len("https://")) + 1] if urls else ""
    if not origin or _query.search(origin) or not all(map(str.startswith, urls, repeat(origin))):
        return Counter(segment or "/" for segment in _segments("\n".join(urls)))
    start = len(origin)
    found = Counter([url[start:].partition("/")[0] for url in urls])
    sections: Counter[str] = Counter()
    for name, count in found.items():
        sections["/" + _query.split(name, 1)[0]] += count
    return sections
