"""When a site is done: its files are closed and its batches are through the pipelines.

Scrapy keeps no order between batches, so whoever waits for "all of this site's batches" waits for a counter: batches given
out by the spider minus batches scraped, dropped or failed.
"""

import asyncio
import logging
from typing import Any, Self

from scrapy import signals as scrapy_signals
from scrapy.crawler import Crawler

from sitemap_actor import signals
from sitemap_actor.core.reading import SiteReading
from sitemap_actor.core.rows import UrlBatch
from sitemap_actor.run import Run, run_of

logger = logging.getLogger(__name__)


class SettleExtension:
    """Sends `site_through`, and settles the site's report unless the comparison with what is remembered does that."""

    def __init__(self, crawler: Crawler, run: Run) -> None:
        self._crawler = crawler
        self._run = run
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Watch batches and sites."""
        extension = cls(crawler, run_of(crawler))
        connect = crawler.signals.connect
        connect(extension.batch_through, signal=scrapy_signals.item_scraped)
        connect(extension.batch_through, signal=scrapy_signals.item_dropped)
        connect(extension.batch_failed, signal=scrapy_signals.item_error)
        connect(extension.site_read, signal=signals.site_read)
        return extension

    def batch_through(self, item: Any) -> None:
        """One batch fewer is on its way."""
        if isinstance(item, UrlBatch):
            item.reading.batches_out -= 1
            item.file.batches_out -= 1
            self._look(item.reading)

    def batch_failed(self, item: Any, failure: Any) -> None:
        """A batch broke a pipeline: an internal error, which fails the run; its rows are lost, and said to be."""
        if isinstance(item, UrlBatch):
            item.note("not_saved", len(item))
        self.batch_through(item)
        self._run.fail(f"rows were lost because of an internal error: {failure.type.__name__}")

    def site_read(self, reading: SiteReading) -> None:
        """The site has no open file any more."""
        self._look(reading)

    def _look(self, reading: SiteReading) -> None:
        if not reading.read or reading.batches_out > 0 or reading.through:
            return
        reading.through = True
        self._crawler.signals.send_catch_log(signals.site_through, reading=reading)
        if self._run.job.conduct.remembers:
            return
        task = asyncio.create_task(self._settle(reading))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _settle(self, reading: SiteReading) -> None:
        """Save the site's rows before its report says how many there are."""
        try:
            await self._run.flush()
        except Exception as error:
            logger.exception("Saving rows failed")
            self._run.fail(f"rows could not be saved: {type(error).__name__}")
        reading.settle()
        logger.info("%s: %s", reading.site.entry, reading.report.message)
        self._crawler.signals.send_catch_log(signals.site_settled, reading=reading)
