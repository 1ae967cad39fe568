"""Scrapy's feed exporter, with rows counted where it would count batches, and with failures that fail the run.

Scrapy logs an exception of an exporter, or of a feed that could not be stored, and goes on; here a lost row must not end
as a finished run.
"""

from typing import Any

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.extensions.feedexport import FeedExporter

from sitemap_actor.core.rows import ChangeBatch, UrlBatch
from sitemap_actor.run import run_of


class RowFeedExporter(FeedExporter):
    """The project's feed exporter; `run.feeds_closed` is set when every feed is stored or has failed."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._run = run_of(crawler)
        crawler.signals.connect(self._closed, signal=signals.feed_exporter_closed)

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Export a batch; it counts as its rows."""
        if isinstance(item, UrlBatch | ChangeBatch):
            for slot in self.slots:
                slot.itemcount += len(item) - 1
        try:
            super().item_scraped(item, spider)
        except Exception as error:
            self._run.feeds_failed = True
            self._run.fail(f"rows could not be written to a feed: {type(error).__name__}: {error}")
            raise

    def _closed(self) -> None:
        failed = [name for name in self.crawler.stats.get_stats() if name.startswith("feedexport/failed_count/")]
        if failed:
            self._run.feeds_failed = True
            self._run.broken = self._run.broken or "a feed could not be stored; the log says why"
        self._run.feeds_closed.set()
