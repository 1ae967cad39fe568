"""What may be asked of a host: its robots.txt first, then only what that allows, up to 25 hosts beyond the sites."""

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler

from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.core.urls import host_key
from sitemap_actor.download.errors import Refusal
from sitemap_actor.download.robots_txt import RobotsTxt
from sitemap_actor.run import Run, run_of


class HostPolicyMiddleware:
    """Holds a sitemap's request until the host's robots.txt is settled, and raises `Refusal` where it must not be made."""

    def __init__(self, run: Run, robots: RobotsTxt) -> None:
        self._run = run
        self._robots = robots

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the run's one robots.txt reader."""
        run = run_of(crawler)
        return cls(run, run.robots(crawler))

    async def process_request(self, request: Request) -> None:
        """Raise `Refusal` for a request that must not be made."""
        if self._run.ending:
            raise Refusal(SkipReason.NOT_REACHED, "the run ended first")
        key = host_key(request.url)
        if request.meta["purpose"] == "robots":
            # /robots.txt itself is always allowed, also on the way of a redirect; but no door is knocked at twice.
            host = self._run.hosts.peek(key)
            if host is not None and host.stopped is not None:
                raise Refusal(host.stopped.reason, host.stopped.detail)
            return
        if not self._run.hosts.admits(key):
            raise Refusal(SkipReason.MAX_HOSTS, f"more than {self._run.hosts.max_other_hosts} hosts beyond the sites")
        host = await self._robots.host(key)
        refusal = host.refuses_file(request.url)
        if refusal is not None:
            raise Refusal(refusal.reason, refusal.detail)
