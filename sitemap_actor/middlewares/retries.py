"""Retries: the numbers of spec section 5, for 500, 502, 503, 504, time-outs and network errors; and monitor's one for 429.

A retry waits in the gate (`not_before`), where other requests to the host may pass it and a stop releases it.
"""

import asyncio
import time
from email.utils import parsedate_to_datetime
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from sitemap_actor.core.conduct import RETRY_STATUSES, Conduct
from sitemap_actor.core.errors import FetchError
from sitemap_actor.core.urls import host_key
from sitemap_actor.download.response import SpooledResponse
from sitemap_actor.middlewares.doors import evidence
from sitemap_actor.run import Run, run_of


class RetriesMiddleware:
    """Gives a failed request another turn, as often and as late as the table of conduct says."""

    def __init__(self, run: Run, delay_factor: float) -> None:
        self._gate = run.gate
        self._conduct: Conduct = run.job.conduct
        self._delay_factor = delay_factor

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Take the numbers of the job's mode."""
        return cls(run_of(crawler), crawler.settings.getfloat("SITEMAP_RETRY_DELAY_FACTOR", 1.0))

    async def process_response(self, request: Request, response: Response) -> Response | Request:
        """Retry a passing failure; a closed door is none, and the last answer stands."""
        again: Request | None = None
        if response.status == 429:
            again = self._after_rate_limit(request, response)
        elif (response.status in RETRY_STATUSES and evidence(request, response) is None) or (
            isinstance(response, SpooledResponse) and response.arrival.short and response.status == 200
        ):
            again = self._again(request)
        if again is None:
            return response
        if isinstance(response, SpooledResponse):
            response.close()
        return again

    async def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Retry a time-out or a network error."""
        return self._again(request) if isinstance(exception, FetchError) and exception.retryable else None

    def _again(self, request: Request) -> Request | None:
        tried = request.meta.get("attempts", 0)
        if tried >= len(self._conduct.retry_delays_secs):
            return None
        return self._later(request, self._conduct.retry_delays_secs[tried], attempts=tried + 1)

    def _after_rate_limit(self, request: Request, response: Response) -> Request | None:
        tried = request.meta.get("rate_limit_attempts", 0)
        delay = retry_after(response.headers.get("Retry-After"), time.time())
        if delay is None:
            delay = self._conduct.default_retry_after_secs
        if tried >= self._conduct.rate_limit_retries or delay > self._conduct.max_retry_after_secs:
            return None
        again = self._later(request, delay, rate_limit_attempts=tried + 1)
        # The server asked for a pause, not for fewer of this one file: nothing else goes there meanwhile.
        self._gate.hold_host(host_key(request.url), again.meta["not_before"])
        return again

    def _later(self, request: Request, delay_secs: float, **marks: int) -> Request:
        not_before = asyncio.get_running_loop().time() + delay_secs * self._delay_factor
        return request.replace(
            meta={**request.meta, **marks, "not_before": not_before, "asked": True}, dont_filter=True
        )


def retry_after(header: bytes | None, now: float) -> float | None:
    """Seconds to wait by a Retry-After header (RFC 9110 section 10.2.3: seconds or a date); None: absent or unreadable."""
    if header is None:
        return None
    text = header.decode("latin-1").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None
