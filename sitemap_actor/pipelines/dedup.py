"""Removes duplicates across the whole run, after the filters: what is filtered out is never remembered.

Of each page that is kept, 8 bytes are: the hash of its canonical URL (SipHash under this process's own key, so nobody can
prepare collisions; at 500,000 pages the chance of a single accidental one is below 1 in 100 million).
"""

from array import array
from collections import Counter
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from sitemap_actor.core.reasons import Fault
from sitemap_actor.core.report import SitemapReport
from sitemap_actor.core.rows import Batch, UrlBatch
from sitemap_actor.core.seen import Seen
from sitemap_actor.run import Run, run_of

_FILES_AT_ONCE = 16


class DedupPipeline:
    """Keeps the first of each page, and at most `maxUrlsPerSite` pages of a site. Off where the run remembers: its
    comparison matches pages by itself.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._seen = Seen(run.job.row_cap or 0)
        self._of_files: dict[SitemapReport, array[int]] = {}
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
        cap = self._run.job.urls_per_site
        if cap is not None:
            digests = self._cut_at_cap(batch, digests, cap)
        if known := self._seen.add(digests):
            self._drop_duplicates(batch, digests, Counter(known))
        self._remember_file(batch.file, digests)
        return batch

    def _cut_at_cap(self, batch: UrlBatch, digests: list[int], cap: int) -> list[int]:
        """Keep no more than `maxUrlsPerSite` pages of the site; past it nothing more of the site is read."""
        entry = batch.reading.site.entry
        left = cap - self._per_site.get(entry, 0)
        new: set[int] = set()
        out = []
        for place, digest in enumerate(digests):
            if digest not in self._seen and digest not in new:
                if len(new) < left:
                    new.add(digest)
                else:
                    out.append(place)
        self._per_site[entry] = self._per_site.get(entry, 0) + len(new)
        if out:
            batch.note("not_saved", len(out))
            batch.reading.capped = True
            batch.drop(out)
            leave = set(out)
            digests = [digest for place, digest in enumerate(digests) if place not in leave]
        return digests

    def _drop_duplicates(self, batch: UrlBatch, digests: list[int], known: Counter[int]) -> None:
        """Drop what was seen before, the first one staying; duplicates within one file are a protocol fault of it."""
        batch.note("duplicates", known.total())
        new_in_file = set(digests).difference(self._of_files.get(batch.file, ()))
        if within := len(digests) - len(new_in_file):
            batch.file.faults[Fault.DUPLICATE_ENTRY] += within
        out = []
        for place in reversed(range(len(digests))):
            if known[digests[place]]:
                known[digests[place]] -= 1
                out.append(place)
        batch.drop(out)

    def _remember_file(self, file: SitemapReport, digests: list[int]) -> None:
        """Keep the digests of the files being read now, which are few; those of older ones are let go."""
        column = self._of_files.get(file)
        if column is None:
            column = self._of_files[file] = array("q")
            if len(self._of_files) > _FILES_AT_ONCE:
                del self._of_files[next(iter(self._of_files))]
        column.extend(array("q", digests))  # twice as fast as from the list
