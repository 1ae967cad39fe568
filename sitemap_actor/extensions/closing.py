"""The closing lines of a run: printed on a terminal, logged elsewhere (one line of the log for each)."""

import logging
import sys
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.misc import build_from_crawler, load_object

from sitemap_actor.core.ports import RecordStore
from sitemap_actor.exporters.closing import closing_lines
from sitemap_actor.run import Run, run_of

logger = logging.getLogger(__name__)


class ClosingExtension:
    """Says what came of each site and where the records are, once the engine has stopped and the report is final."""

    def __init__(self, run: Run, store: RecordStore) -> None:
        self._run = run
        self._store = store

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the record store, to ask it where the records are."""
        store = build_from_crawler(load_object(crawler.settings["SITEMAP_RECORD_STORE"]), crawler)
        extension = cls(run_of(crawler), store)
        crawler.signals.connect(extension.engine_stopped, signal=signals.engine_stopped)
        return extension

    def engine_stopped(self) -> None:
        """Print or log the lines."""
        lines = closing_lines(self._run.report, self._store.where())
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write("\n" + "\n".join(lines) + "\n")
            return
        for line in lines:
            logger.info("%s", line)
