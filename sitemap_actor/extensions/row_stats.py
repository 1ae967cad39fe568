"""Scrapy's own figures and log lines, with rows counted where Scrapy would count batches."""

from typing import Any

from scrapy import Spider
from scrapy.extensions.corestats import CoreStats
from scrapy.logformatter import LogFormatter


def _rows(item: Any) -> int:
    return len(item) if hasattr(item, "rows") else 1


class RowStats(CoreStats):
    """`item_scraped_count` is the number of rows."""

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Count the rows of a batch."""
        self.stats.inc_value("item_scraped_count", _rows(item))

    def item_dropped(self, item: Any, spider: Spider, exception: BaseException) -> None:
        """An empty batch is nothing that was dropped: its rows were counted where they were left out."""


class QuietLogFormatter(LogFormatter):
    """No line for each batch; requests are told at DEBUG as ever."""

    def scraped(self, *_args: Any, **_kwargs: Any) -> None:  # type: ignore[override]
        """Say nothing."""

    def dropped(self, *_args: Any, **_kwargs: Any) -> None:  # type: ignore[override]
        """Say nothing."""
