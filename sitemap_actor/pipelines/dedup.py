"""Removes duplicates across the whole run, after the filters: what is filtered out is never remembered.

Of each page that is kept, 8 bytes are: the hash of its canonical URL (SipHash under this process's own key, so nobody can
prepare collisions; at 500,000 pages the chance of a single accidental one is below 1 in 100 million).
"""

from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from sitemap_actor.core.reasons import Fault
from sitemap_actor.core.report import SitemapReport
from sitemap_actor.core.rows import Batch, UrlBatch
from sitemap_actor.run import Run, run_of

_FILES_AT_ONCE = 16


class DedupPipeline:
    """Keeps the first of each page, and at most `maxUrlsPerSite` pages of a site. Off where the run remembers: its
    comparison matches pages by itself.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._seen: set[int] = set()
        self._of_files: dict[SitemapReport, list[list[int]]] = {}
        self._per_site: dict[str, int] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the run."""
        run = run_of(crawler)
        if run.job.conduct.remembers:
            raise NotConfigured
        return cls(run)

    def process_item(self, batch: Batch) -> Batch:
        """Look up and add without awaiting in between."""
        if not isinstance(batch, UrlBatch) or not batch.keys:
            return batch
        digests = list(map(hash, batch.keys))
        fresh = set(digests)
        if len(fresh) != len(digests) or not self._seen.isdisjoint(fresh):
            digests = self._drop_duplicates(batch, digests)
        digests = self._cut_at_cap(batch, digests)
        self._seen.update(digests)
        self._remember_file(batch.file, digests)
        return batch

    def _drop_duplicates(self, batch: UrlBatch, digests: list[int]) -> list[int]:
        """Drop what was seen before; duplicates within one file are a protocol fault of it."""
        mask, kept = [], set()
        own = {digest for column in self._of_files.get(batch.file, ()) for digest in column}
        for digest in digests:
            new = digest not in self._seen and digest not in kept
            mask.append(new)
            if new:
                kept.add(digest)
            elif digest in kept or digest in own:
                batch.file.faults[Fault.DUPLICATE_ENTRY] += 1
        batch.note("duplicates", mask.count(False))
        batch.keep(mask)
        return [digest for digest, new in zip(digests, mask, strict=True) if new]

    def _cut_at_cap(self, batch: UrlBatch, digests: list[int]) -> list[int]:
        """Keep no more than `maxUrlsPerSite` pages of the site; past it nothing more of the site is read."""
        cap = self._run.job.urls_per_site
        if cap is None:
            return digests
        entry = batch.reading.site.entry
        left = cap - self._per_site.get(entry, 0)
        if len(digests) > left:
            batch.note("not_saved", len(digests) - left)
            batch.reading.capped = True
            batch.cut(left)
            digests = digests[:left]
        self._per_site[entry] = self._per_site.get(entry, 0) + len(digests)
        return digests

    def _remember_file(self, file: SitemapReport, digests: list[int]) -> None:
        """Keep the columns of the files being read now, which are few; older ones are let go."""
        self._of_files.setdefault(file, []).append(digests)
        if len(self._of_files) > _FILES_AT_ONCE:
            del self._of_files[next(iter(self._of_files))]
