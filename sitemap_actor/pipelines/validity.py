"""Which listed URLs are pages at all: valid, public, and wanted by the patterns. Every listed URL is counted here first."""

from typing import Self

from scrapy.crawler import Crawler

from sitemap_actor.core.patterns import Patterns
from sitemap_actor.core.reasons import SkipReason, Stage
from sitemap_actor.core.report import SitemapReport, Skip
from sitemap_actor.core.rows import Batch, UrlBatch
from sitemap_actor.core.urls import UrlJudge
from sitemap_actor.run import Run, run_of


class ValidityPipeline:
    """Resolves and judges the URLs of a batch, gives it its canonical keys, and applies the patterns."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._patterns = Patterns(run.job.include_url_patterns, run.job.exclude_url_patterns)
        self._no_patterns = not (run.job.include_url_patterns or run.job.exclude_url_patterns)
        self._judge: tuple[SitemapReport | None, UrlJudge | None] = (None, None)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the run."""
        return cls(run_of(crawler))

    def process_item(self, batch: Batch) -> Batch:
        """Count, judge and filter."""
        if not isinstance(batch, UrlBatch):
            return batch
        batch.note("listed", len(batch) + len(batch.unreadable))
        for text in batch.unreadable:
            batch.note("invalid", 1)
            self._skip(batch, text, SkipReason.INVALID_URL, "not UTF-8")
        judged = self._judge_of(batch).judge(batch.urls)
        batch.urls, batch.keys = judged.urls, judged.keys
        batch.file.faults.update(judged.faults)
        if judged.refused:
            self._refuse_invalid(batch, judged.refused)
        if not self._no_patterns and batch.keys and (unwanted := self._patterns.refused(batch.keys)):
            if not batch.remember:
                batch.note("filtered_by_pattern", len(unwanted))
            batch.refuse(unwanted, "pattern")
        return batch

    def _judge_of(self, batch: UrlBatch) -> UrlJudge:
        """The judge of the batch's file; batches of one file mostly follow each other."""
        file, judge = self._judge
        if file is not batch.file or judge is None:
            judge = UrlJudge(batch.base_url, allow_private=self._run.allow_private)
            self._judge = (batch.file, judge)
        return judge

    def _refuse_invalid(self, batch: UrlBatch, refused: list[tuple[int, SkipReason, str]]) -> None:
        for index, reason, detail in refused:
            batch.note("skipped" if reason is SkipReason.PRIVATE_ADDRESS else "invalid", 1)
            self._skip(batch, batch.urls[index], reason, detail)
        batch.drop(index for index, _reason, _detail in refused)

    def _skip(self, batch: UrlBatch, address: str, reason: SkipReason, detail: str) -> None:
        self._run.report.skip(Skip(address, batch.reading.site.key, Stage.URL, reason, detail, batch.file.url))
