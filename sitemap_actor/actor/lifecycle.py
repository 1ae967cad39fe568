"""What the platform does to a run while it lasts, and what it is told meanwhile.

Aborting: 30 s to live, so everything waiting is let go and what is ready is saved. The run's time-out comes without a word, so
the run stops by itself 15 s before. Migrating: the process is about to be killed and started elsewhere under the same run id;
it pauses, saves what is ready, notes which files are done, asks to be rebooted, and waits: leaving by itself would end the run
as succeeded. While it works, the status message says what it is at.
"""

import asyncio
import logging
import signal
from collections.abc import Coroutine
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Self

import impit
from apify import Actor, Event
from apify_client.errors import ApifyApiError
from scrapy import signals as scrapy_signals
from scrapy.crawler import Crawler

from sitemap_actor.actor.house import house_if_any
from sitemap_actor.core.report import StopReason
from sitemap_actor.run import Run, run_of

logger = logging.getLogger(__name__)

STOP_BEFORE_TIMEOUT_SECS = 15.0
STATUS_EVERY_SECS = 5.0
LAST_FLUSH_SECS = 10.0
_FOR_EVER_SECS = 86_400.0


class LifecycleExtension:
    """Listens to the platform for the length of the crawl."""

    def __init__(self, crawler: Crawler, run: Run) -> None:
        self._crawler = crawler
        self._run = run
        self._tasks: list[asyncio.Task[None]] = []
        self._migrating = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Begin with the spider, end with it."""
        extension = cls(crawler, run_of(crawler))
        crawler.signals.connect(extension.spider_opened, signal=scrapy_signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signal=scrapy_signals.spider_closed)
        return extension

    def spider_opened(self) -> None:
        """Listen."""
        Actor.on(Event.ABORTING, self._on_aborting)
        Actor.on(Event.MIGRATING, self._on_migrating)
        loop = asyncio.get_running_loop()
        for one in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):
                loop.add_signal_handler(one, self._abort)
        self._begin(self._tell())
        if Actor.configuration.timeout_at is not None:
            self._begin(self._stop_in_time(Actor.configuration.timeout_at))

    def spider_closed(self) -> None:
        """Listen no more."""
        Actor.off(Event.ABORTING, self._on_aborting)
        Actor.off(Event.MIGRATING, self._on_migrating)
        loop = asyncio.get_running_loop()
        for one in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):
                loop.remove_signal_handler(one)
        for task in self._tasks:
            task.cancel()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work))

    # --- the end comes from outside

    async def _on_aborting(self, _data: Any = None) -> None:
        """The user aborts the run; or the platform does, because the run has reached its spending limit."""
        home = house_if_any()
        if home is not None and not home.can_pay():
            self._run.stop(StopReason.SPENDING_LIMIT)
        self._abort()

    def _abort(self) -> None:
        if not self._migrating:
            self._run.stop(StopReason.ABORTED)

    async def _stop_in_time(self, timeout_at: datetime) -> None:
        left = (timeout_at.astimezone(UTC) - datetime.now(UTC)).total_seconds()
        await asyncio.sleep(max(0.0, left - STOP_BEFORE_TIMEOUT_SECS))
        self._run.stop(StopReason.RUN_TIMEOUT)

    async def _on_migrating(self, _data: Any = None) -> None:
        """Rebooting calls the listeners once more: the second call has nothing left to do."""
        if self._migrating or self._run.ending:
            return
        self._migrating = True
        logger.info("The run is moved to another server: saving what is ready.")
        self._crawler.engine.pause()
        self._run.hosts.gap_secs = _FOR_EVER_SECS  # whatever waits at the gate goes on waiting
        try:
            async with asyncio.timeout(LAST_FLUSH_SECS):
                await self._run.flush()
                if (home := house_if_any()) is not None:
                    await home.save_state(whole=True)
        except Exception:
            logger.exception("Not everything could be saved; the rest is read again after the move.")
        await Actor.reboot()

    # --- what the user sees meanwhile

    async def _tell(self) -> None:
        told = ""
        while True:
            message = self.status()
            if message != told and not self._migrating:
                told = message
                try:
                    await Actor.set_status_message(message)
                except (ApifyApiError, impit.HTTPError, RuntimeError) as error:
                    logger.debug("The status message was not taken: %s", type(error).__name__)
            await asyncio.sleep(STATUS_EVERY_SECS)

    def status(self) -> str:
        """What the run is at, in one sentence."""
        run = self._run
        done = sum(1 for reading in run.readings if reading.closed)
        names = [reading.site.key for reading in run.readings if not reading.closed]
        total = len(run.job.site_list)
        saved = run.report.counts.saved + run.report.counts.saved_before + run.report.counts.removed
        hosts = [name.partition("://")[2] for name in dict.fromkeys(names)]
        more = f" and {len(hosts) - 2:,} more" if len(hosts) > 2 else ""
        where = f"Reading {', '.join(hosts[:2])}{more}" if hosts else "Starting"
        sites = f"{done:,} of {total:,} site{'' if total == 1 else 's'} done"
        return f"{where}: {saved:,} URL{'' if saved == 1 else 's'} saved, {sites}."
