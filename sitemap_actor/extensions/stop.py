"""Ending a run early, for whatever reason: nothing new is begun, what waits is released at once, rows are flushed.

Raising CloseSpider in a pipeline does nothing, and awaiting the engine's close there would wait for itself; so the spider
is closed by a task of its own.
"""

import asyncio
import logging
from typing import Self

from scrapy.crawler import Crawler

from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.core.report import StopReason
from sitemap_actor.download.errors import Refusal
from sitemap_actor.run import Run, run_of

logger = logging.getLogger(__name__)


class StopExtension:
    """Owns the reason why a run stops early, and does the stopping. The first reason stands."""

    def __init__(self, crawler: Crawler, run: Run) -> None:
        self._crawler = crawler
        self._run = run
        self._task: asyncio.Task[None] | None = None
        run.stop = self.stop

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Offer `run.stop`."""
        return cls(crawler, run_of(crawler))

    def stop(self, reason: StopReason | None) -> None:
        """End the run; None is an internal error, which `run.broken` tells."""
        if self._run.ending:
            return
        self._run.ending = True
        self._run.stopping = reason
        logger.info("Stopping: %s", reason or self._run.broken)
        self._run.gate.close(Refusal(SkipReason.NOT_REACHED, "the run ended first"))
        self._task = asyncio.create_task(self._close(reason or "failed"))

    async def _close(self, reason: str) -> None:
        await self._run.before_close()
        engine = self._crawler.engine
        if engine is not None and engine.spider is not None:
            await engine.close_spider_async(reason=reason)
