"""The date filter: keeps pages changed on or after `changedSince`."""

from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from sitemap_actor.core.rows import Batch, UrlBatch
from sitemap_actor.run import run_of


class LastmodFilterPipeline:
    """Drops older pages, and undated ones unless they are asked for. Off without `changedSince`."""

    def __init__(self, since: float, *, keep_undated: bool) -> None:
        self._since = since
        self._keep_undated = keep_undated

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Take the date from the job; monitor mode compares, so it does not filter by date."""
        run = run_of(crawler)
        if run.job.changed_since_instant is None or run.job.conduct.remembers:
            raise NotConfigured
        return cls(run.job.changed_since_instant, keep_undated=run.job.include_urls_without_lastmod)

    def process_item(self, batch: Batch) -> Batch:
        """Filter the columns."""
        if not isinstance(batch, UrlBatch):
            return batch
        since, keep_undated = self._since, self._keep_undated
        mask = [keep_undated if instant is None else instant >= since for instant in batch.instants]
        dropped = mask.count(False)
        if dropped:
            undated = 0 if keep_undated else batch.instants.count(None)
            batch.note("filtered_undated", undated)
            batch.note("filtered_older", dropped - undated)
            batch.keep(mask)
        return batch
