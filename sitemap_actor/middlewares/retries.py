"""Retries: the numbers of spec section 5, for 500, 502, 503, 504, time-outs and network errors; and monitor's one for 429.

A retry waits in the gate (`not_before`), where other requests to the host may pass it and a stop releases it.
"""

import asyncio
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from sitemap_actor.core.conduct import RETRY_STATUSES, Conduct
from sitemap_actor.core.errors import FetchError
from sitemap_actor.download.response import SpooledResponse
from sitemap_actor.run import run_of


class RetriesMiddleware:
    """Gives a failed request another turn, as often and as late as the table of conduct says."""

    def __init__(self, conduct: Conduct, delay_factor: float) -> None:
        self._conduct = conduct
        self._delay_factor = delay_factor

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Take the numbers of the job's mode."""
        return cls(run_of(crawler).job.conduct, crawler.settings.getfloat("SITEMAP_RETRY_DELAY_FACTOR", 1.0))

    async def process_response(self, request: Request, response: Response) -> Response | Request:
        """Retry a passing failure; a closed door is none (middlewares/doors.py says so), and the last answer stands."""
        again: Request | None = None
        if "pause" in request.meta:
            again = self._later(request, request.meta["pause"], pauses=request.meta.get("pauses", 0) + 1)
        elif request.meta.get("door") is None and self._is_passing(response):
            again = self._again(request)
        if again is None:
            return response
        if isinstance(response, SpooledResponse):
            response.close()
        return again

    async def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Retry a time-out or a network error."""
        return self._again(request) if isinstance(exception, FetchError) and exception.retryable else None

    @staticmethod
    def _is_passing(response: Response) -> bool:
        """Whether a second try may do better: a server error, or a body that broke off."""
        if response.status in RETRY_STATUSES:
            return True
        return isinstance(response, SpooledResponse) and response.arrival.short and response.status == 200

    def _again(self, request: Request) -> Request | None:
        tried = request.meta.get("attempts", 0)
        if tried >= len(self._conduct.retry_delays_secs):
            return None
        return self._later(request, self._conduct.retry_delays_secs[tried], attempts=tried + 1)

    def _later(self, request: Request, delay_secs: float, **marks: int) -> Request:
        meta = {name: value for name, value in request.meta.items() if name not in {"door", "pause"}}
        not_before = asyncio.get_running_loop().time() + delay_secs * self._delay_factor
        meta |= {**marks, "not_before": not_before, "asked": True}
        return request.replace(meta=meta, dont_filter=True)
