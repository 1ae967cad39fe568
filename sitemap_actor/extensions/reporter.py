"""Writes the records: every 30 s while the run lasts, and at its end, however it ends."""

import asyncio
import logging
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from typing import Any, Self

from scrapy import signals as scrapy_signals
from scrapy.crawler import Crawler
from scrapy.utils.misc import build_from_crawler, load_object

from sitemap_actor.core.message import run_message
from sitemap_actor.core.ports import RecordStore
from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.core.report import Result, StopReason
from sitemap_actor.exporters import page
from sitemap_actor.exporters.feeds import RowFeedExporter
from sitemap_actor.exporters.records import Record, records_of
from sitemap_actor.run import Run, run_of

logger = logging.getLogger(__name__)

REWRITE_SECS = 30.0

_CLOSED_BY_SCRAPY = {
    "shutdown": StopReason.ABORTED,
    "cancelled": StopReason.ABORTED,
    "closespider_timeout": StopReason.RUN_TIMEOUT,
}


class ReporterExtension:
    """Keeps REPORT, SKIPPED and the other records up to date in the record store that the settings name."""

    def __init__(self, crawler: Crawler, run: Run, store: RecordStore) -> None:
        self._crawler = crawler
        self._run = run
        self._store = store
        self._task: asyncio.Task[None] | None = None
        self._skips_written = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the record store."""
        store = build_from_crawler(load_object(crawler.settings["SITEMAP_RECORD_STORE"]), crawler)
        extension = cls(crawler, run_of(crawler), store)
        crawler.signals.connect(extension.spider_opened, signal=scrapy_signals.spider_opened)
        crawler.signals.connect(extension.spider_error, signal=scrapy_signals.spider_error)
        crawler.signals.connect(extension.spider_closed, signal=scrapy_signals.spider_closed)
        return extension

    async def spider_opened(self) -> None:
        """Put away what an earlier run left, and begin the rewriting."""
        await self._store.begin()
        self._task = asyncio.create_task(self._rewrite())

    def spider_error(self, failure: Any) -> None:
        """An exception nobody expected: the run is not to be taken for a good one."""
        self._run.broken = self._run.broken or f"an internal error: {failure.type.__name__}"

    async def spider_closed(self, reason: str) -> None:
        """Bring the report to its end and write it."""
        if self._task is not None:
            self._task.cancel()
        if self._has_feeds():
            await self._run.feeds_closed.wait()
        await self._run.state_moved.wait()
        self._conclude(reason)
        unwritten = await self._write(_in_a_thread(records_of(self._run.report, time.time())))
        report = self._run.report
        if unwritten:
            report.message += f" These records could not be written: {', '.join(unwritten)}."

    def _has_feeds(self) -> bool:
        return self._crawler.get_extension(RowFeedExporter) is not None

    def _conclude(self, reason: str) -> None:
        run, report = self._run, self._run.report
        if run.stopping is None and (reason in _CLOSED_BY_SCRAPY or reason.startswith("closespider")):
            run.stopping = _CLOSED_BY_SCRAPY.get(reason, StopReason.ABORTED)
        read = {reading.site.entry for reading in run.readings}
        for site in run.job.site_list:
            if site.entry not in read:
                run.reading_of(site).skip_site(SkipReason.NOT_REACHED, "the run ended first")
        for reading in run.readings:
            if not reading.closed:
                reading.abandon()
                reading.settle()
        report.stop_reason = run.stopping
        report.result = Result.STOPPED_EARLY if run.stopping is not None else Result.FINISHED
        if run.broken is not None or reason in {"failed", "start_error"}:
            report.result = Result.FAILED
        report.message = run_message(report, run.broken)

    async def _rewrite(self) -> None:
        while True:
            await asyncio.sleep(REWRITE_SECS)
            await asyncio.to_thread(page.template)  # compiling it takes longer than all that follows
            report = self._run.report
            report.message = run_message(report, self._run.broken)
            await self._write(_at_once(records_of(report, time.time(), self._skips_written)))
            self._skips_written = len(report.skips)

    async def _write(self, records: AsyncIterable[Record]) -> list[str]:
        """Write the records and return the names of those that the store refused: told, but no reason to fail a run whose
        rows are all saved.
        """
        self._run.finish_hosts()
        unwritten = []
        async for record in records:
            try:
                await self._store.write(record.name, record.body, record.content_type)
            except Exception as error:
                logger.error("The record %s could not be written: %s", record.name, error, exc_info=not str(error))
                unwritten.append(record.name)
        return unwritten


async def _at_once(records: Iterator[Record]) -> AsyncIterator[Record]:
    """Records of a report that still changes: each is made in one go."""
    for record in records:
        yield record


async def _in_a_thread(records: Iterator[Record]) -> AsyncIterator[Record]:
    """Records of a report that is done. The page alone takes a tenth of a second, seconds on a small share of a core, in
    which the event loop has the platform's messages to answer.
    """
    while (record := await asyncio.to_thread(next, records, None)) is not None:
        yield record
