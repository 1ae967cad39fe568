"""Closed doors: 401, 403, 429, login and CAPTCHA pages. One is enough; nothing more is asked of that host in this run."""

import logging
from typing import NoReturn, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from sitemap_actor.core.doors import door
from sitemap_actor.core.reasons import WORDS, SkipReason
from sitemap_actor.core.urls import host_key
from sitemap_actor.download.errors import Refusal
from sitemap_actor.download.response import SpooledResponse
from sitemap_actor.run import Run, run_of

logger = logging.getLogger(__name__)


def evidence(request: Request, response: Response) -> SkipReason | None:
    """What kind of closed door an answer is, if it is one."""
    head = response.head if isinstance(response, SpooledResponse) else response.body[:65_536]
    return door(response.status, plain_headers(response), head, response.url, request.url)


def plain_headers(response: Response) -> dict[str, str]:
    """The headers of an answer by lower-case name, as text."""
    return {str(name).lower(): str(value) for name, value in response.headers.to_unicode_dict().items()}


def shut(run: Run, request: Request, reason: SkipReason, detail: str) -> NoReturn:
    """Stop at the door: close the host for the rest of the run, what waits for it included, and end this request.

    A host whose robots.txt is a closed door is settled by the reader of robots.txt, which learns of it from the error.
    """
    request.meta["asked"] = True
    if request.meta["purpose"] != "robots":
        for key in {host_key(request.url), host_key(request.meta["file"].url)}:
            logger.info("%s: %s; no more requests go there in this run", key, WORDS[reason])
            host = run.hosts.stopped(key, reason, detail)
            assert host.stopped is not None  # noqa: S101 - just set
            run.gate.close_host(key, Refusal(SkipReason.HOST_CLOSED, host.stopped.detail))
    raise Refusal(reason, detail)


class DoorsMiddleware:
    """Ends a request whose answer is a closed door, and closes the host."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the run."""
        return cls(run_of(crawler))

    async def process_response(self, request: Request, response: Response) -> Response:
        """Raise `Refusal` for a closed door."""
        reason = evidence(request, response)
        if reason is None:
            return response
        if isinstance(response, SpooledResponse):
            response.close()
        shut(self._run, request, reason, f"HTTP {response.status}")
