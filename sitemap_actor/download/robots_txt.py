"""Reading robots.txt: once per host and run, before anything else is asked of it (RFC 9309; spec section 5).

What came is settled here into the host book: rules, no rules, or a closed host. Redirects, doors and retries are the
middlewares' work, the same as for sitemaps; a failure of any kind is no permission.
"""

import asyncio
import logging

from scrapy import Request
from scrapy.crawler import Crawler

from sitemap_actor.core.doors import is_html
from sitemap_actor.core.errors import FetchError
from sitemap_actor.core.hosts import Host
from sitemap_actor.core.reasons import SkipReason, Stage
from sitemap_actor.core.report import Skip
from sitemap_actor.core.robots import NO_RULES, Rules, Unreadable
from sitemap_actor.download.errors import Refusal
from sitemap_actor.download.response import SpooledResponse
from sitemap_actor.run import Run

logger = logging.getLogger(__name__)


class RobotsTxt:
    """Settles hosts by their robots.txt; whoever asks for a host while it is being read waits for the same answer."""

    def __init__(self, crawler: Crawler, run: Run) -> None:
        self._crawler = crawler
        self._run = run
        self._reading: dict[str, asyncio.Task[Host]] = {}

    async def host(self, key: str) -> Host:
        """The host `key`, its robots.txt settled. Raises `Refusal` (not_reached) where the run ends meanwhile."""
        host = self._run.hosts.peek(key)
        if host is not None and host.known:
            return host
        task = self._reading.get(key)
        if task is None:
            task = self._reading[key] = asyncio.create_task(self._read(key))
        return await asyncio.shield(task)

    async def _read(self, key: str) -> Host:
        url = f"{key}/robots.txt"
        request = Request(url, meta={"purpose": "robots", "host": key}, dont_filter=True)
        engine = self._crawler.engine
        assert engine is not None  # noqa: S101 - robots.txt is read while the crawl runs
        try:
            response = await engine.download_async(request)
        except (FetchError, Refusal) as error:
            if error.reason is SkipReason.NOT_REACHED:
                raise
            return self._closed(key, error.reason, None, error.detail)
        finally:
            self._reading.pop(key, None)
        if not isinstance(response, SpooledResponse):
            raise TypeError(f"{type(response).__name__} did not come from our download handler")
        try:
            return self._settle(key, response)
        finally:
            response.close()

    def _settle(self, key: str, response: SpooledResponse) -> Host:
        """What the answer means for the host."""
        status = response.status
        if 200 <= status < 300:
            arrival = response.arrival
            if arrival.timed_out:
                return self._closed(key, SkipReason.TIMEOUT, status, arrival.short_detail)
            if arrival.short or arrival.damaged:
                return self._closed(key, SkipReason.NETWORK_ERROR, status, "the body ended before it was complete")
            if arrival.unsupported:
                return self._closed(key, SkipReason.ROBOTS_TXT_SERVER_ERROR, status, f"sent as {arrival.unsupported}")
            return self._read_rules(key, response)
        if 400 <= status < 500:
            return self._opened(key, NO_RULES, status, has_file=False)
        if 300 <= status < 400:
            return self._closed(key, SkipReason.ROBOTS_TXT_REDIRECT, status, f"HTTP {status} without an address")
        return self._closed(key, SkipReason.ROBOTS_TXT_SERVER_ERROR, status, f"HTTP {status}")

    def _read_rules(self, key: str, response: SpooledResponse) -> Host:
        if is_html(response.head):
            return self._opened(key, NO_RULES, response.status, has_file=False)
        try:
            rules = Rules.read(response.body, f"{key}/robots.txt")
        except Unreadable as error:
            return self._closed(key, SkipReason.ROBOTS_TXT_SERVER_ERROR, response.status, str(error))
        return self._opened(key, rules, response.status, has_file=True)

    def _opened(self, key: str, rules: Rules, status: int, *, has_file: bool) -> Host:
        self._run.report.counts.robots_txt_read += 1
        host = self._run.hosts.opened(key, rules, status=status, has_file=has_file)
        if host.closed is not None and host.closed.reason is not SkipReason.SITE_DISALLOWS_ALL:
            self._note(key, host.closed.reason, host.closed.detail)
        return host

    def _closed(self, key: str, reason: SkipReason, status: int | None, detail: str | None) -> Host:
        self._note(key, reason, detail)
        return self._run.hosts.closed(key, reason, status=status, detail=detail)

    def _note(self, key: str, reason: SkipReason, detail: str | None) -> None:
        logger.info("%s/robots.txt: %s%s", key, reason, f" ({detail})" if detail else "")
        site = key if key in self._run.hosts.sites else None
        self._run.report.skip(Skip(f"{key}/robots.txt", site, Stage.ROBOTS_TXT, reason, detail))
