"""For item stores that know no batches (Scrapy Cloud): each row leaves as an item of its own, instead of its batch."""

from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured

from sitemap_actor.core.rows import Batch


class RowsAsItemsPipeline:
    """Announces every row as scraped, for feeds, statistics and item stores alike. Off unless SITEMAP_ROWS_AS_ITEMS."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Look at the setting."""
        if not crawler.settings.getbool("SITEMAP_ROWS_AS_ITEMS"):
            raise NotConfigured
        return cls(crawler)

    async def process_item(self, batch: Batch) -> Batch:
        """Send the rows on; the batch has then done its work."""
        for row in batch.rows():
            await self._crawler.signals.send_catch_log_async(
                signals.item_scraped, item=row, response=None, spider=self._crawler.spider
            )
        raise DropItem("its rows left one by one")
