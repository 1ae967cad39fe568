"""Closed doors: 401, 403, 429, login and CAPTCHA pages. One is enough; nothing more is asked of that host in this run.

What an answer means for its host is settled while the request still has its turn at the gate (`answered`), so that nothing
that waits can slip through behind a door that just closed. The request itself is ended on its way back, as any other.
"""

import asyncio
import logging
import time
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from sitemap_actor.core.doors import door, redirects_to_login
from sitemap_actor.core.reasons import WORDS, SkipReason
from sitemap_actor.core.retry_after import retry_after_secs
from sitemap_actor.core.urls import host_key
from sitemap_actor.download.errors import Refusal
from sitemap_actor.download.response import SpooledResponse
from sitemap_actor.run import Run, run_of

logger = logging.getLogger(__name__)


def plain_headers(response: Response) -> dict[str, str]:
    """The headers of an answer by lower-case name, as text."""
    return {str(name).lower(): str(value) for name, value in response.headers.to_unicode_dict().items()}


class DoorsMiddleware:
    """Closes the host behind a closed door, and ends the request that found it."""

    def __init__(self, run: Run, delay_factor: float) -> None:
        self._run = run
        self._delay_factor = delay_factor
        run.answered = self.answered

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Offer `run.answered`."""
        return cls(run_of(crawler), crawler.settings.getfloat("SITEMAP_RETRY_DELAY_FACTOR", 1.0))

    def answered(self, request: Request, response: Response) -> None:
        """Settle what an answer means for its host, before anything else may be asked of it."""
        request.meta["door"] = reason = self._reason(request, response)
        if reason is None:
            return
        key = host_key(request.url)
        if reason is SkipReason.RATE_LIMITED and (delay := self._pause(request, response)) is not None:
            # The server asked for a pause, not for fewer of this one file: nothing else goes there meanwhile.
            request.meta["pause"] = delay
            self._run.gate.hold_host(key, asyncio.get_running_loop().time() + delay * self._delay_factor)
        elif request.meta["purpose"] != "robots":  # the reader of robots.txt settles its host by itself
            # A host that sends us to a login or challenge page elsewhere has closed its door as well.
            sent_on = reason in {SkipReason.LOGIN_PAGE, SkipReason.CAPTCHA}
            for shut in {key, host_key(request.meta["file"].url)} if sent_on else {key}:
                self._shut(shut, reason, f"HTTP {response.status}")

    async def process_response(self, request: Request, response: Response) -> Response:
        """Raise `Refusal` for a closed door."""
        reason = request.meta.get("door")
        if reason is None:
            return response
        if isinstance(response, SpooledResponse):
            response.close()
        request.meta["asked"] = True
        raise Refusal(reason, f"HTTP {response.status}")

    def _shut(self, key: str, reason: SkipReason, detail: str) -> None:
        """No more requests to the host, what waits for it included."""
        logger.info("%s: %s; no more requests go there in this run", key, WORDS[reason])
        host = self._run.hosts.stopped(key, reason, detail)
        self._run.gate.close_host(key, Refusal(SkipReason.HOST_CLOSED, host.stopped.detail if host.stopped else None))

    @staticmethod
    def _reason(request: Request, response: Response) -> SkipReason | None:
        """What kind of closed door an answer is, if it is one; a redirect to a login page is one already."""
        location = response.headers.get("Location")
        if 300 <= response.status < 400 and location:
            target = response.urljoin(location.decode("utf-8", "replace").strip())
            return SkipReason.LOGIN_PAGE if redirects_to_login(request.url, target) else None
        head = response.head if isinstance(response, SpooledResponse) else response.body
        return door(response.status, plain_headers(response), head, response.url, request.url)

    def _pause(self, request: Request, response: Response) -> float | None:
        """The seconds to wait before a 429 is asked again; None where it is not."""
        conduct = self._run.job.conduct
        if request.meta.get("pauses", 0) >= conduct.rate_limit_retries:
            return None
        delay = retry_after_secs(response.headers.get("Retry-After"), time.time())
        if delay is None:
            delay = conduct.default_retry_after_secs
        return delay if delay <= conduct.max_retry_after_secs else None
