"""Which sitemap files this run is done with, kept for its next life: read whole, and every row of them in the dataset.

A file is noted as done when its batches are through the pipelines and the sink has settled as many rows as had been given to
it by then (rows are delivered in the order given). The notes are written by the way, and whenever the run is moved.
Monitor mode compares whole sites and starts a site anew.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any, Self

from scrapy import signals as scrapy_signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from sitemap_actor import signals
from sitemap_actor.actor.house import House, house
from sitemap_actor.core.reading import SiteReading
from sitemap_actor.core.report import FileStatus, SitemapReport
from sitemap_actor.core.resume import file_from_dict, file_to_dict
from sitemap_actor.core.rows import UrlBatch
from sitemap_actor.run import Run, run_of


@dataclass(slots=True)
class _Pending:
    """A file that was read; `rows` is how many rows the sink must have settled for it to be done with, once known."""

    reading: SiteReading
    file: SitemapReport
    rows: int | None = None


class ResumeExtension:
    """Offers `run.resume`, and notes which files are done with."""

    def __init__(self, run: Run, home: House) -> None:
        self._run = run
        self._house = home
        self._known: dict[str, dict[str, Any]] = dict(home.files)
        self._pending: deque[_Pending] = deque()
        run.resume = self
        home.before_saving = self.note_done

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Watch files being read."""
        run = run_of(crawler)
        if run.job.conduct.remembers:
            raise NotConfigured
        extension = cls(run, house())
        crawler.signals.connect(extension.file_read, signal=signals.file_read)
        crawler.signals.connect(extension.batch_through, signal=scrapy_signals.item_scraped)
        crawler.signals.connect(extension.batch_through, signal=scrapy_signals.item_dropped)
        return extension

    def restore(self, reading: SiteReading, file: SitemapReport) -> list[str] | None:
        """See `Resume`."""
        known = self._known.get(_key(reading, file))
        return file_from_dict(reading, file, known) if known is not None else None

    def file_read(self, reading: SiteReading, file: SitemapReport) -> None:
        """A file was read whole, or not."""
        if file.status is FileStatus.OK:
            self._pending.append(_Pending(reading, file))
            self._look(file)

    def batch_through(self, item: Any) -> None:
        """A batch was counted as through just before this."""
        if isinstance(item, UrlBatch):
            self._look(item.file)

    def _look(self, file: SitemapReport) -> None:
        """Once the last batch of a file is through, all its rows have been given to the sink."""
        for one in self._pending:
            if one.file is file and one.rows is None and not file.batches_out:
                one.rows = self._run.rows_given

    def note_done(self) -> None:
        """Move the files that are done with by now into the run's state."""
        later: deque[_Pending] = deque()
        for one in self._pending:
            if one.rows is None or one.rows > self._run.rows_settled:
                later.append(one)
            elif not one.file.tally["not_saved"]:
                self._house.files[_key(one.reading, one.file)] = file_to_dict(one.reading, one.file)
        self._pending = later


def _key(reading: SiteReading, file: SitemapReport) -> str:
    return f"{reading.site.entry} {file.url}"
