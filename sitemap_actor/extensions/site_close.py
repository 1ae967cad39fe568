"""Closes a site in monitor mode: compare, journal, deliver, move the state on (spec section 7, design 6).

One site closes at a time, so the rows on their way are always those of one site, and "the first so many of its rows were
saved" is a number. Where a later run can look up what this one saved (the platform's dataset), the state moves on at once;
elsewhere only after the feeds were closed and stored.
"""

import asyncio
import contextlib
import logging
import shutil
import tempfile
import time
from pathlib import Path
from typing import Self

from scrapy import signals as scrapy_signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.misc import build_from_crawler, load_object

from sitemap_actor import signals
from sitemap_actor.core.changes.kinds import CHANGES
from sitemap_actor.core.changes.lease import RENEW_SECS, Lease
from sitemap_actor.core.changes.memory import MonitorMemory, Session
from sitemap_actor.core.changes.settling import Plan
from sitemap_actor.core.changes.tally import Saved, note_result
from sitemap_actor.core.changes.vault import Prepared
from sitemap_actor.core.ports import StateStore
from sitemap_actor.core.reading import SiteReading
from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.core.report import StopReason
from sitemap_actor.core.rows import ChangeBatch
from sitemap_actor.download.errors import Refusal
from sitemap_actor.exporters.feeds import RowFeedExporter
from sitemap_actor.run import Run, run_of

logger = logging.getLogger(__name__)

LAST_BATCHES_SECS = 5.0
"""How long a run that ends early waits for what is read already to come through."""


class SiteCloseExtension:
    """Owns the memory of a run. It is there where the run remembers."""

    def __init__(self, crawler: Crawler, run: Run, store: StateStore, lease_wait_secs: float) -> None:
        self._crawler = crawler
        self._run = run
        self._folder = Path(tempfile.mkdtemp(prefix="sitemap-monitor-"))
        self._memory = MonitorMemory(run.job, store, self._folder, now=run.report.started_at, aside=asyncio.to_thread)
        self._memory.begin = self._begin
        self._lease = Lease(store, clock=time.time, sleep=asyncio.sleep, wait_secs=lease_wait_secs)
        self._at_once = store.identity()[1] is not None
        self._quota = run.job.max_changes
        self._begun: asyncio.Task[str | None] | None = None
        self._renewing: asyncio.Task[None] | None = None
        self._closing = asyncio.Lock()
        self._progress = asyncio.Event()
        self._tasks: dict[SiteReading, asyncio.Task[None]] = {}
        self._pending: list[tuple[Session, Prepared]] = []
        run.memory = self._memory
        run.before_close = self._finish

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the state store that the settings name."""
        run = run_of(crawler)
        store = build_from_crawler(load_object(crawler.settings["SITEMAP_STATE_STORE"]), crawler)
        extension = cls(crawler, run, store, crawler.settings.getfloat("SITEMAP_LEASE_WAIT_SECS"))
        crawler.signals.connect(extension.site_through, signal=signals.site_through)
        crawler.signals.connect(extension.spider_idle, signal=scrapy_signals.spider_idle)
        crawler.signals.connect(extension.spider_closed, signal=scrapy_signals.spider_closed)
        return extension

    # --- one run at a time

    async def _begin(self) -> None:
        """Take the lease before anything is read. Raises Refusal where another run has it."""
        if self._begun is None:
            self._begun = asyncio.create_task(self._lease.acquire())
            self._run.state_moved.clear()
        holder = await asyncio.shield(self._begun)
        if holder is not None:
            logger.warning("The run %s uses the state %r", holder, self._run.job.state_key)
            self._run.stop(StopReason.STATE_IN_USE)
            raise Refusal(SkipReason.NOT_REACHED, "another run uses this stateKey")
        if self._renewing is None:
            self._renewing = asyncio.create_task(self._renew())

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECS)
            try:
                if await self._lease.renew():
                    continue
            except Exception:
                logger.exception("The lease on the state could not be renewed")
                continue
            self._run.stop(StopReason.STATE_IN_USE)
            return

    # --- one site at a time

    def site_through(self, reading: SiteReading) -> None:
        """A site was read, and its batches are staged: close it."""
        self._progress.set()
        if reading not in self._tasks:
            task = self._tasks[reading] = asyncio.create_task(self._close(reading))
            task.add_done_callback(self._wake)

    def _wake(self, _task: asyncio.Task[None]) -> None:
        """Have the engine look again whether it is idle; by itself it would only 5 s later."""
        slot = getattr(self._crawler.engine, "_slot", None)  # there is no public way
        if slot is not None:
            slot.nextcall.schedule()

    def spider_idle(self) -> None:
        """Stay while a site is being closed."""
        if any(not task.done() for task in self._tasks.values()):
            raise DontCloseSpider

    async def _finish(self) -> None:
        """The run ends early: close what was read so far, as far as it was read."""
        if self._run.stopping is StopReason.STATE_IN_USE:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_BATCHES_SECS):
                while any(not reading.through for reading in self._memory.sessions):
                    self._progress.clear()
                    await self._progress.wait()
        for reading in list(self._memory.sessions):
            if reading not in self._tasks:
                reading.abandon()
                reading.read = reading.through = True
                self.site_through(reading)
        await asyncio.gather(*self._tasks.values())

    async def _close(self, reading: SiteReading) -> None:
        async with self._closing:
            session = self._memory.sessions.get(reading)
            saved_before = self._run.report.counts.saved
            try:
                if session is not None and reading.skipped_for is None:
                    await self._close_session(session)
            except Exception as error:
                logger.exception("Comparing %s with what is remembered failed", reading.site.entry)
                self._run.fail(f"{reading.site.entry} could not be compared: {type(error).__name__}: {error}")
                if session is not None and not reading.report.summary:
                    saved = self._run.report.counts.saved - saved_before
                    self._run.report.counts.deferred += session.state.snapshot.listed_count - saved
            finally:
                if session is not None:
                    session.closing = True
                    session.state.close()
                self._memory.sessions.pop(reading, None)
            if session is not None and not reading.report.summary:
                reading.report.summary = {"flags": sorted(session.flags)}
            if not reading.closed:
                reading.settle()
            logger.info("%s: %s", reading.site.entry, reading.report.message)
            self._crawler.signals.send_catch_log(signals.site_settled, reading=reading)

    async def _close_session(self, session: Session) -> None:
        reading = session.reading
        session.closing = True
        if not await self._lease.renew():
            self._run.stop(StopReason.STATE_IN_USE)
            self._run.report.counts.deferred += session.state.snapshot.listed_count
            return
        if self._run.broken is not None:
            self._run.report.counts.deferred += session.state.snapshot.listed_count
            return
        plan = await session.compare(self._run.job, self._memory.now, self._quota)
        saved_before = self._run.saved_before
        if session.settled_before:
            plan.set_aside(lambda key: True)
        elif saved_before is not None:
            plan.set_aside(lambda key: saved_before(reading.site.key, key))
        counts = self._run.report.counts
        first_run = not session.state.facts.generation  # the journal tells whose the shards without a head are
        if plan.total or first_run:
            await session.write_journal(plan, self._run.rows_before + counts.saved + counts.removed)
        saved = await self._deliver(session, plan)
        self._quota -= min(saved.rows, sum(plan.planned[kind] for kind in CHANGES))
        reading.settle()
        note_result(session, plan, saved, self._run.report)
        if not await self._lease.is_safe():
            return
        if session.settled_before:
            return
        prepared = await session.prepare(min(saved.rows, plan.total), self._memory.fingerprint)
        if self._at_once:
            await session.flip(prepared)
        else:
            self._pending.append((session, prepared))

    async def _deliver(self, session: Session, plan: Plan) -> Saved:
        """Send the planned rows through the pipelines and wait until they are saved; return how many were."""
        run, engine = self._run, self._crawler.engine
        assert engine is not None  # noqa: S101 - a crawl has one
        counts, changes = run.report.counts, len(run.report.changes)
        saved_before, given, settled = counts.saved, run.rows_given, run.rows_settled
        sent = 0
        batches = plan.rows()
        while (rows := await asyncio.to_thread(next, batches, None)) is not None:
            if run.stopping is StopReason.SPENDING_LIMIT or run.broken is not None:
                break
            sent += len(rows)
            await engine.scraper.start_itemproc_async(ChangeBatch(session.reading, rows), response=None)
        await run.flush()
        unsent = plan.total + plan.existing - sent
        if unsent and run.stopping is StopReason.SPENDING_LIMIT:
            counts.not_saved_at_spending_limit += unsent
        through_sink = run.rows_given > given
        rows_saved = run.rows_settled - settled if through_sink else sent
        return Saved(rows_saved, counts.saved - saved_before, run.report.changes[changes:])

    # --- the end

    async def spider_closed(self) -> None:
        """Move the states on that had to wait for the feeds, and let the lease go."""
        try:
            if self._renewing is not None:
                self._renewing.cancel()
            await self._flip_pending()
            await self._lease.release()
        except Exception as error:
            logger.exception("The state could not be written")
            self._run.broken = self._run.broken or f"what is remembered could not be written: {error}"
        finally:
            self._run.state_moved.set()
            self._memory.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _flip_pending(self) -> None:
        if not self._pending:
            return
        if self._crawler.get_extension(RowFeedExporter) is not None:
            await self._run.feeds_closed.wait()
            if self._run.feeds_failed:
                logger.error("A feed was not stored, so what it held is reported again by the next run")
                return
        if not await self._lease.is_safe():
            logger.error("Another run took over the state, so what this one found is reported again")
            return
        for session, prepared in self._pending:
            await session.flip(prepared)
