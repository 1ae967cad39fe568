"""The run: what all components of one crawl share. `crawler.spider.run` is how they reach it.

It holds no rule of its own: the job says what is wanted, the host book what is known of hosts, the report what happened, the
gate when a request may leave, the stop whether the run is ending.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from sitemap_actor.core.errors import SitemapActorError
from sitemap_actor.core.hosts import HostBook
from sitemap_actor.core.job import Job, Notes, Site
from sitemap_actor.core.memory import Memory, NoMemory
from sitemap_actor.core.reading import Budget, SiteReading
from sitemap_actor.core.report import RunReport, StopReason
from sitemap_actor.core.resume import NoResume, Resume
from sitemap_actor.download.gate import Gate

if TYPE_CHECKING:
    from sitemap_actor.download.robots_txt import RobotsTxt


async def _nothing() -> None:
    pass


def _set_event() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@dataclass(slots=True, eq=False)
class Run:
    """What the components of one crawl share."""

    job: Job
    report: RunReport
    hosts: HostBook
    gate: Gate
    allow_private: bool
    readings: list[SiteReading] = field(default_factory=list)
    stopping: StopReason | None = None
    """Why the run ends early, if a reason has a name."""
    ending: bool = False
    """The run ends early (extensions/stop.py sets it): nothing new is begun from then on."""
    broken: str | None = None
    """What went wrong inside, if something did: the run is reported as failed."""
    memory: Memory = field(default_factory=NoMemory)
    """What earlier runs left for this one to know while it reads."""
    resume: Resume = field(default_factory=NoResume)
    """What an earlier life of this run was done with already."""
    rows_given: int = 0
    """Rows that were handed to the sink's buffer so far (pipelines/deliver.py counts)."""
    rows_settled: int = 0
    """Rows, from the first one given on, that the sink has settled: saved, refused or left out."""
    spent: bool = False
    """The spending limit pays for no further row: the next request to be made ends the run instead."""
    saved_before: Callable[[str, str], bool] | None = None
    """Whether an earlier life of this run saved a row of that site and canonical URL; None where there was no earlier life
    that saved any (pipelines/deliver.py).
    """
    rows_before: int = 0
    """Rows that earlier lives of this run saved (pipelines/deliver.py)."""
    before_close: Callable[[], Awaitable[None]] = _nothing
    """Bring the sites that were read so far to their end, before the engine closes early (extensions/site_close.py)."""
    state_moved: asyncio.Event = field(default_factory=_set_event)
    """What the run remembers is written; set unless monitor mode has something to write (extensions/site_close.py)."""
    stop: Callable[[StopReason | None], None] = lambda reason: None
    """End the run early for a reason (extensions/stop.py puts it here)."""
    answered: Callable[[Request, Response], None] = lambda request, response: None
    """Settle what an answer means for its host, while the request still has its turn (middlewares/doors.py)."""
    flush: Callable[[], Awaitable[None]] = _nothing
    """Save every row that waits (pipelines/deliver.py puts it here)."""
    feeds_failed: bool = False
    """A row could not be written to a feed, or a feed could not be stored (exporters/feeds.py)."""
    feeds_closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Every feed is closed and stored, or has failed (exporters/feeds.py)."""
    _shared_budget: Budget | None = None
    _robots: "RobotsTxt | None" = None

    @classmethod
    def of(cls, job: Job, notes: Notes, *, allow_private: bool) -> Self:
        """A run about to begin."""
        hosts = HostBook.of((site.key for site in job.site_list), job.conduct.gap_secs)
        report = RunReport(time.time(), job, notes)
        return cls(job, report, hosts, Gate(hosts.gap), allow_private)

    def reading_of(self, site: Site) -> SiteReading:
        """Begin the reading of a site."""
        if self.job.conduct.sitemap_cap_per_site:
            budget = Budget(self.job.sitemap_cap)
        else:
            budget = self._shared_budget = self._shared_budget or Budget(self.job.sitemap_cap)
        reading = SiteReading.of(site, self.job, self.report, budget)
        self.readings.append(reading)
        return reading

    def robots(self, crawler: Crawler) -> "RobotsTxt":
        """The one reader of robots.txt of this crawl."""
        from sitemap_actor.download.robots_txt import RobotsTxt  # noqa: PLC0415 - it needs this module's Run

        if self._robots is None:
            self._robots = RobotsTxt(crawler, self)
        return self._robots

    def fail(self, what: str) -> None:
        """Something went wrong inside: the run ends, its records are written, and it is reported as failed."""
        self.broken = self.broken or what
        self.stop(None)

    def note_request(self, host: str) -> None:
        """A request leaves for `host`."""
        self.report.counts.requests += 1
        self.hosts.get(host).report.requests += 1

    def note_bytes(self, count: int) -> None:
        """`count` bytes came in, as sent."""
        self.report.counts.bytes_received += count

    def finish_hosts(self) -> None:
        """Enter into the report the hosts that were asked, closed or stopped."""
        self.report.hosts = [host.report for host in self.hosts.hosts.values()]


def run_of(crawler: Crawler) -> Run:
    """The run of a crawl; for `from_crawler` methods. Raises where the crawl is not one of ours."""
    run = getattr(crawler.spider, "run", None)
    if not isinstance(run, Run):
        raise SitemapActorError("this component works with the `sitemap` spider only")
    return run
