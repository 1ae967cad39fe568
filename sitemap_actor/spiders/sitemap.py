"""The spider: robots.txt, then sitemaps, then batches of page URLs. It knows no mode, no money and no storage.

Sites are read a few at a time: `start` yields what the open sites ask for, and each site that closes lets the next one in.
What a file's bytes mean is `core/sitemaps`'s to say, what to ask for next is `core/reading.py`'s.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.python.failure import Failure

from sitemap_actor import signals
from sitemap_actor.core import urls
from sitemap_actor.core.clock import iso
from sitemap_actor.core.errors import FetchError, PrivateAddressError
from sitemap_actor.core.job import Job, Site
from sitemap_actor.core.lastmod import LastmodJudge
from sitemap_actor.core.reading import SiteReading
from sitemap_actor.core.reasons import Fault, FileKind, SkipReason, Stage
from sitemap_actor.core.report import FileStatus, SitemapReport, Skip, StopReason
from sitemap_actor.core.rows import UrlBatch
from sitemap_actor.core.sitemaps import Entries, Outcome, SitemapReader, outcome_of_unreadable
from sitemap_actor.download.errors import Refusal
from sitemap_actor.download.response import SpooledResponse
from sitemap_actor.middlewares.doors import plain_headers
from sitemap_actor.run import Run
from sitemap_actor.spiders.begin import begin

logger = logging.getLogger(__name__)

FILES_AT_ONCE = 2


class SitemapSpider(Spider):
    """Reads the sitemaps of the job's sites. Arguments are the input fields of spec section 1, as strings or JSON."""

    name = "sitemap"
    run: Run

    @classmethod
    def from_crawler(cls, crawler: Crawler, actor_input: dict[str, Any] | None = None, **arguments: Any) -> Self:
        """Validate the input and get ready. Raises `InputProblems` after REPORT was written."""
        spider = cls()
        spider._set_crawler(crawler)
        spider.run = begin(crawler, arguments if actor_input is None else actor_input)
        return spider

    def __init__(self) -> None:
        super().__init__()
        self._outbox: asyncio.Queue[Request | None] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: list[Site] = []
        self._open_sites = 0

    @property
    def job(self) -> Job:
        """The job of the run."""
        return self.run.job

    async def start(self) -> AsyncIterator[Any]:
        """Yield the requests of the sites, as sites open, until the last one is closed."""
        self._waiting = list(self.job.site_list)
        for _ in range(self.job.conduct.sites_at_once):
            self._next_site()
        try:
            while (request := await self._outbox.get()) is not None:
                yield request
        except asyncio.CancelledError:
            # Scrapy shuts down (Ctrl-C, SIGTERM, a cancelled job): what waits at the gate must not hold it up.
            self.run.stop(StopReason.ABORTED)
            raise

    # --- sites

    def _next_site(self) -> None:
        """Let the next site in, or end `start` when the last one is closed."""
        if self._waiting and self.run.spent:
            self.run.stop(StopReason.SPENDING_LIMIT)
        if self._waiting and not self.run.ending:
            self._open_sites += 1
            task = asyncio.create_task(self._open_site(self._waiting.pop(0)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif not self._open_sites:
            self._outbox.put_nowait(None)

    async def _open_site(self, site: Site) -> None:
        """Read the site's robots.txt and ask for its first files."""
        reading = self.run.reading_of(site)
        try:
            await self.run.memory.open(reading)
            await self._begin(reading)
        except Refusal as error:
            reading.skip_site(error.reason, error.detail)
        except Exception:
            logger.exception("Beginning to read %s failed", site.entry)
            self.run.broken = f"{site.entry} could not be read because of an internal error"
            reading.skip_site(SkipReason.NOT_REACHED, "an internal error")
            reading.abandon()
        self._close_if_read(reading)

    async def _begin(self, reading: SiteReading) -> None:
        """Ask for robots.txt, then for the site's first files. Raises `Refusal` where the run ends meanwhile."""
        site = reading.site
        host = await self.run.robots(self.crawler).host(site.key)
        reading.has_robots_txt = host.report.robots_txt == "rules"
        shut = host.closed or host.stopped  # stopped: it closed its door while another site was read
        if shut is not None:
            reading.skip_site(shut.reason, shut.detail)
            return
        sitemaps = host.rules.sitemaps if host.rules is not None else []
        for request in self._requests(reading, reading.start(self._usable(sitemaps, site))):
            self._outbox.put_nowait(request)

    def _usable(self, sitemaps: Iterable[str], site: Site) -> Iterator[str]:
        """The addresses of robots.txt's Sitemap lines; what is none is listed."""
        robots_txt = f"{site.key}/robots.txt"
        for url in sitemaps:
            try:
                parts = urls.read(url)
            except urls.UrlError as error:
                reason = _file_reason(error.reason)
                skip = Skip(urls.redacted(url), site.key, Stage.SITEMAP, reason, error.detail, robots_txt)
                self.run.report.skip(skip)
            else:
                if parts.site + parts.rest != robots_txt:  # some name themselves
                    yield url

    def _close_if_read(self, reading: SiteReading) -> None:
        if reading.open_files or reading.read:
            return
        reading.read = True
        self.crawler.signals.send_catch_log(signals.site_read, reading=reading)
        self._open_sites -= 1
        self._next_site()

    def _requests(self, reading: SiteReading, files: Iterable[SitemapReport]) -> Iterator[Request]:
        """The requests to make now. A site has at most two files between its request and its last batch: one that comes in
        while the other is read. More would only fill the disk ahead of a slow processor.
        """
        reading.waiting.extend(files)
        while reading.waiting and reading.in_flight < FILES_AT_ONCE and not self.run.ending:
            file = reading.waiting.popleft()
            other = reading.read_as(file.url)
            if other is not None:
                file.conclude(FileStatus.OK, None, f"read already: {other.url} redirects to it")
            children = [] if other is not None else self.run.resume.restore(reading, file)
            if children is not None:
                reading.waiting.extend(child for url in children if (child := reading.child(url, file)))
                reading.waiting.extend(reading.finished(file))
                continue
            if self.run.spent:
                reading.waiting.appendleft(file)
                self.run.stop(StopReason.SPENDING_LIMIT)
                return
            reading.in_flight += 1
            headers = self.run.memory.validators(reading, file)
            meta = {"purpose": "sitemap", "host": reading.site.key, "reading": reading, "file": file}
            yield Request(
                urls.requestable(file.url),
                self.parse_sitemap,
                errback=self.failed,
                headers=headers,
                meta=meta,
                dont_filter=True,
            )

    # --- files

    def failed(self, failure: Failure) -> Iterator[Request]:
        """A file that brought no answer, or that was not asked for."""
        request: Request = failure.request  # type: ignore[attr-defined]
        reading, file = request.meta["reading"], request.meta["file"]
        reading.in_flight -= 1
        error = failure.value
        if isinstance(error, FetchError | Refusal):
            reason, detail = error.reason, error.detail
        else:
            logger.error("Asking for %s failed", file.url, exc_info=error)
            self.run.broken = f"{file.url} could not be asked for because of an internal error"
            reason, detail = SkipReason.NETWORK_ERROR, f"an internal error: {type(error).__name__}"
        asked = request.meta.get("asked") or (
            isinstance(error, FetchError) and not isinstance(error, PrivateAddressError)
        )
        if asked and reason is not SkipReason.NOT_REACHED:
            file.status, file.reason, file.detail = FileStatus.FAILED, reason, detail
            file.final_url = request.meta.get("address")
            files = reading.finished(file)
        else:
            files = reading.refused(file, reason, detail)
        yield from self._requests(reading, files)
        self._close_if_read(reading)

    async def parse_sitemap(self, response: Response) -> AsyncIterator[Any]:
        """Yield a file's pages as batches, and the requests for its children."""
        reading, file = response.meta["reading"], response.meta["file"]
        if not isinstance(response, SpooledResponse):
            raise TypeError(f"{type(response).__name__} did not come from our download handler")
        try:
            _note_arrival(file, response)
            self.run.report.counts.sitemaps_fetched += 1
            if self._is_worth_reading(reading, file, response):
                async for output in self._read(reading, file, response):
                    yield output
            if file.status is FileStatus.UNCHANGED:
                self.run.report.counts.not_modified += 1
                async for output in self._unchanged(reading, file, response.url):
                    yield output
        except Exception:
            logger.exception("Reading %s failed", file.url)
            self.run.broken = f"{file.url} could not be read because of an internal error"
            file.conclude(FileStatus.PARTIAL, SkipReason.MALFORMED, "an internal error")
        finally:
            response.close()
            reading.in_flight -= 1
        for request in self._requests(reading, reading.finished(file)):
            yield request
        self.crawler.signals.send_catch_log(signals.file_read, reading=reading, file=file)
        self._close_if_read(reading)

    def _is_worth_reading(self, reading: SiteReading, file: SitemapReport, response: SpooledResponse) -> bool:
        """Whether the answer's body is a file to parse; if not, `file` says why."""
        other = reading.answered(file, response.meta.get("address"))
        verdict = _verdict_before_reading(response)
        if response.status == 304:
            self.run.memory.unchanged(reading, file)
        elif verdict is not None:
            file.conclude(FileStatus.FAILED, *verdict)
        elif other is not None:
            file.conclude(FileStatus.OK, None, f"redirects to {other.url}, which is read already")
        else:
            return True
        return False

    async def _unchanged(self, reading: SiteReading, file: SitemapReport, base_url: str) -> AsyncIterator[Any]:
        """A file that was answered 304: what it listed is judged anew, and its children are asked for all the same."""
        for url in self.run.memory.children(reading, file):
            if not self.run.memory.leaves_out(reading, url, file) and (child := reading.child(url, file)):
                file.children += 1
                for request in self._requests(reading, [child]):
                    yield request
        judge = LastmodJudge(time.time())
        for entries in self.run.memory.remembered(reading, file):
            if self.run.ending or reading.capped:
                detail = "the run ended first" if self.run.ending else "maxUrlsPerSite was reached"
                file.conclude(FileStatus.PARTIAL, SkipReason.NOT_REACHED, detail)
                return
            file.listed += len(entries.locs)
            reading.batches_out += 1
            file.batches_out += 1
            yield self._batch(reading, file, base_url, entries, judge)
            await asyncio.sleep(0)
        file.newest_lastmod = judge.newest[0] if judge.newest else None

    async def _read(self, reading: SiteReading, file: SitemapReport, response: SpooledResponse) -> AsyncIterator[Any]:
        """Parse the file; hand back to the event loop after every batch, for a large file may take half a minute."""
        assert response.file is not None  # noqa: S101 - a 2xx answer has one
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1") or None
        base_url = file.final_url or file.url
        reader = SitemapReader(url=base_url, content_type=content_type, extensions=frozenset(self.job.extensions))
        judge = LastmodJudge(time.time())
        cut = _cut(response)
        listed = 0
        for entries in reader.read(response.file, cut=cut[0] if cut else None, detail=cut[1] if cut else None):
            if (self.run.ending or reading.capped) and (entries.locs or entries.children or entries.invalid):
                detail = "the run ended first" if self.run.ending else "maxUrlsPerSite was reached"
                reader.close(cut=SkipReason.NOT_REACHED, detail=detail)
                _note_outcome(file, reader.outcome, judge)
                file.conclude(FileStatus.PARTIAL, SkipReason.NOT_REACHED, detail)
                file.listed = listed
                return
            listed += len(entries.locs) + len(entries.invalid)
            for loc, _lastmod in entries.children:
                for request in self._requests(reading, self._child(reading, file, base_url, loc)):
                    yield request
            if entries.locs or entries.invalid:
                reading.batches_out += 1
                file.batches_out += 1
                yield self._batch(reading, file, base_url, entries, judge)
            await asyncio.sleep(0)
        _note_outcome(file, reader.outcome, judge)
        if reader.outcome.status == "ok":
            self.run.memory.read_whole(reading, file, plain_headers(response))

    def _batch(
        self, reading: SiteReading, file: SitemapReport, base_url: str, entries: Entries, judge: LastmodJudge
    ) -> UrlBatch:
        return UrlBatch(
            reading,
            file,
            base_url,
            iso(time.time()),
            entries.locs,
            entries.lastmods,
            entries.changefreqs,
            entries.priorities,
            entries.extras,
            judge.judge(entries.lastmods),
            remember=self.job.conduct.remembers,
            unreadable=entries.invalid,
        )

    def _child(self, reading: SiteReading, file: SitemapReport, base_url: str, loc: str) -> list[SitemapReport]:
        """The file that an index entry names, if it is to be asked for."""
        url = urls.resolve(base_url, loc)
        try:
            urls.read(url)
        except urls.UrlError as error:
            skip = Skip(
                urls.redacted(loc), reading.site.key, Stage.SITEMAP, _file_reason(error.reason), error.detail, file.url
            )
            self.run.report.skip(skip)
            return []
        if url is not loc:
            file.faults[Fault.RELATIVE_LOC] += 1
        if self.run.memory.leaves_out(reading, url, file):
            return []
        child = reading.child(url, file)
        return [child] if child is not None else []


def _file_reason(reason: SkipReason) -> SkipReason:
    """A sitemap's address is either usable or not: the finer reasons are kept for pages and input entries."""
    return SkipReason.INVALID_URL if reason is not SkipReason.PRIVATE_ADDRESS else reason


def _note_arrival(file: SitemapReport, response: SpooledResponse) -> None:
    file.http_status = response.status
    file.bytes = response.arrival.wire_bytes
    file.unpacked_bytes = response.arrival.unpacked_bytes
    file.faults.update(response.arrival.faults)
    if response.meta.get("redirects"):
        file.faults[Fault.REDIRECTED] += 1


def _verdict_before_reading(response: SpooledResponse) -> tuple[SkipReason, str] | None:
    """Why a body is not parsed at all, with what to say of it."""
    status, arrival = response.status, response.arrival
    if not 200 <= status < 300:
        return (SkipReason.SERVER_ERROR if status >= 500 else SkipReason.HTTP_ERROR), f"HTTP {status}"
    if arrival.over_limit:
        return SkipReason.TOO_LARGE, "more than 50 MiB"
    if arrival.unsupported:
        outcome = outcome_of_unreadable(arrival.unsupported)
        return outcome.reason or SkipReason.UNSUPPORTED_FORMAT, outcome.detail or ""
    if response.file is None:
        return SkipReason.EMPTY, "no body"
    return None


def _cut(response: SpooledResponse) -> tuple[SkipReason, str] | None:
    """Whether the body ended before it was complete."""
    if response.arrival.short:
        reason = SkipReason.TIMEOUT if response.arrival.timed_out else SkipReason.NETWORK_ERROR
        return reason, response.arrival.short_detail or "the body was shorter than promised"
    if response.arrival.damaged:
        return SkipReason.MALFORMED, "the gzip data is cut or corrupt"
    if response.status == 206:  # nobody asked for a part
        return SkipReason.NETWORK_ERROR, "HTTP 206: only a part of the file"
    return None


def _note_outcome(file: SitemapReport, outcome: Outcome, judge: LastmodJudge) -> None:
    """Enter what the reader found into the file's report."""
    file.kind, file.rolling = outcome.kind, outcome.rolling
    file.listed, file.children = outcome.entries, outcome.children
    file.faults.update(outcome.faults)
    file.faults.update(_lastmod_faults(judge))
    file.newest_lastmod = judge.newest[0] if judge.newest else None
    if file.depth and outcome.kind is FileKind.INDEX:
        file.faults[Fault.INDEX_IN_INDEX] += 1
    file.conclude(FileStatus(outcome.status), outcome.reason, outcome.detail)


def _lastmod_faults(judge: LastmodJudge) -> dict[Fault, int]:
    return {
        Fault.LASTMOD_UNREADABLE: judge.unreadable,
        Fault.LASTMOD_IN_FUTURE: judge.in_future,
        Fault.LASTMOD_ZONE_MISSING: judge.zone_missing,
        Fault.LASTMOD_ALL_EQUAL: int(judge.all_equal),
    }
