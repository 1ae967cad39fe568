"""Keeps Python's garbage collector off what lives as long as the run.

What the imports made, some hundred thousand objects, is looked through again and again while batches come and go: 6 % of a
large run's CPU, and at 1/16 of a core seconds at a time in which nothing else happens. Batches die by reference counting; the
collector is left on for the rest, and asked less often.

What is set aside stays so at the end: Python looks through all the rest several times while it ends. With the imports that is
a fifth of a second of CPU, three seconds at 1/16 of a core.
"""

import gc
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler

_YOUNG = 20_000
"""New objects before the youngest are looked through (Python's default is 700 or 2,000: not even one batch)."""


class CollectorExtension:
    """Freezes what is there when the spider opens."""

    def __init__(self) -> None:
        self._thresholds = gc.get_threshold()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Wait for the spider."""
        extension = cls()
        crawler.signals.connect(extension.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signal=signals.spider_closed)
        return extension

    def spider_opened(self) -> None:
        """Set everything aside that exists by now; in a process that runs several crawls, without what earlier ones left."""
        if gc.get_freeze_count():
            gc.unfreeze()
            gc.collect()
        gc.freeze()
        gc.enable()  # `__main__` begins without it
        gc.set_threshold(_YOUNG, *self._thresholds[1:])

    def spider_closed(self) -> None:
        """The thresholds are others' again: a process may have more to do."""
        gc.set_threshold(*self._thresholds)
