"""The reading of one site: which sitemap files are still open, what came of the others, and what to ask for next.

A state machine without I/O. The spider tells it what it found (`start`, `child`, `finished`, `refused`), it answers with the
files to ask for. A site is closed when no file is open and no common path is left to try. Files are told apart by their
canonical URL, before and after redirects, so loops and repeats are read once (spec section 6).
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from sitemap_actor.core.conduct import COMMON_PATHS
from sitemap_actor.core.job import Job, Site
from sitemap_actor.core.reasons import WORDS, SkipReason, Stage
from sitemap_actor.core.report import (
    FileStatus,
    RunReport,
    SitemapReport,
    SiteReport,
    SiteStatus,
    Skip,
)
from sitemap_actor.core.urls import canonical

ROBOTS_TXT = "robots.txt"
INPUT = "input"
GUESS = "guess"

_READ = frozenset({FileStatus.OK, FileStatus.PARTIAL, FileStatus.UNCHANGED})
_CAPS = frozenset({SkipReason.MAX_DEPTH, SkipReason.MAX_SITEMAPS, SkipReason.NOT_REACHED})
_NOT_THERE = frozenset({SkipReason.HTTP_ERROR, SkipReason.UNSUPPORTED_FORMAT, SkipReason.EMPTY})


@dataclass(slots=True)
class Budget:
    """How many sitemap files may still be asked for; shared by all sites of a run, or one for each."""

    left: int

    def take(self) -> bool:
        """Take one, if there is one left."""
        if self.left <= 0:
            return False
        self.left -= 1
        return True

    def give_back(self) -> None:
        """A file taken into account was not asked for, or was only a guess that is not there."""
        self.left += 1


@dataclass(slots=True, eq=False)
class SiteReading:
    """One site's reading. `named_by` tells of each file whether robots.txt, the input, an index or a guess named it."""

    site: Site
    job: Job
    run: RunReport
    budget: Budget
    report: SiteReport
    open_files: set[str] = field(default_factory=set)
    capped: bool = False
    """A limit on URLs was reached for this site: nothing more of it is read."""
    skipped_for: SkipReason | None = None
    skipped_detail: str | None = None
    waiting: deque[SitemapReport] = field(default_factory=deque)
    """Open files that are not asked for yet."""
    in_flight: int = 0
    """Files that are asked for and not read yet."""
    batches_out: int = 0
    """Batches given to the pipelines that are not through yet."""
    read: bool = False
    """No file is open any more (batches may still be on their way)."""
    through: bool = False
    """Read, and its batches are through the pipelines."""
    closed: bool = False
    has_robots_txt: bool = True
    """Whether there is a robots.txt with something in it."""
    namers: dict[str, list[str]] = field(default_factory=dict)
    """What names each file (by canonical URL): the canonical URL of an index, or ROBOTS_TXT, INPUT, GUESS."""
    left_out: set[str] = field(default_factory=set)
    """Files (canonical URLs) that a rule of the job leaves out; they are never asked for."""
    robots_read: bool = False
    """Its robots.txt was read, and `start` was called."""
    abandoned: bool = False
    named_only: bool = False
    """Sitemaps that are named were read before: where they fail today, that is a failure and no reason to guess."""
    _seen: dict[str, SitemapReport | None] = field(default_factory=dict)
    _named: set[str] = field(default_factory=set)
    _guesses: list[str] = field(default_factory=list)
    _guess: str | None = None
    _asked: int = 0
    _cut_by_cap: bool = False
    _disallowed: bool = False
    _bodies: dict[str, SitemapReport] = field(default_factory=dict)
    """By canonical address: the file that was read from there."""
    _past_cap: deque[SitemapReport] = field(default_factory=deque)
    """The first files past `maxSitemaps`: another file that need not be asked for makes room for one of them."""

    @classmethod
    def of(cls, site: Site, job: Job, run: RunReport, budget: Budget) -> "SiteReading":
        """A reading of `site`, entered into the run's report."""
        report = SiteReport(site.key, site.entry, sitemaps_from_input=list(site.sitemap_urls))
        run.sites.append(report)
        return cls(site, job, run, budget, report)

    # --- what to ask for

    def start(self, robots_sitemaps: Iterable[str]) -> list[SitemapReport]:
        """The first files, now that robots.txt is read: its Sitemap lines and the input's (or else a common path)."""
        self.robots_read = True
        if self.site.discover:
            self.report.sitemaps_from_robots_txt = list(robots_sitemaps)
            if self.job.try_common_paths:
                self._guesses = [self.site.key + path for path in COMMON_PATHS]
        self._named = {canonical(url) for url in self.report.sitemaps_from_robots_txt}
        named = [*self.report.sitemaps_from_robots_txt, *self.site.sitemap_urls]
        for namer, urls in ((ROBOTS_TXT, self._named), (INPUT, map(canonical, self.site.sitemap_urls))):
            for key in urls:
                self.namers.setdefault(key, []).append(namer)
        files = [file for url in named if (file := self._add(url, None, 0, self.site.key + "/robots.txt"))]
        return files or self._next_guess()

    def child(self, url: str, parent: SitemapReport) -> SitemapReport | None:
        """A file that the index `parent` lists (an absolute URL); None where it is known already or past a limit."""
        self._name(canonical(url), canonical(parent.url))
        return self._add(url, parent.url, parent.depth + 1, parent.url)

    def leave_out(self, url: str, parent: SitemapReport) -> None:
        """A file that the index `parent` lists, and that a rule of the job leaves out: told, but never asked for."""
        key = canonical(url)
        self._name(key, canonical(parent.url))
        if key in self._seen:
            return
        self._seen[key] = None
        self.left_out.add(key)
        file = SitemapReport(url, parent.url, parent.depth + 1, detail="looks like people's profile pages; left out")
        if self.run.room_for_unread(self.report):
            self.report.sitemaps.append(file)
        else:
            self.report.unread_files += 1

    def files(self) -> dict[str, SitemapReport | None]:
        """Every file seen, by canonical URL before and after redirects; None where it was not asked for."""
        return self._seen

    def _name(self, key: str, namer: str) -> None:
        namers = self.namers.setdefault(key, [])
        if namer not in namers:
            namers.append(namer)

    def _add(self, url: str, parent: str | None, depth: int, found_in: str) -> SitemapReport | None:
        key = canonical(url)
        if key in self._seen:
            return None
        file = SitemapReport(url, parent, depth)
        self._seen[key] = file
        if depth > self.job.max_sitemap_depth:
            self.refused(file, SkipReason.MAX_DEPTH, f"depth {depth}", found_in=found_in)
        elif self.capped:
            self.refused(file, SkipReason.NOT_REACHED, "maxUrlsPerSite was reached", found_in=found_in)
        elif not self.budget.take():
            self.refused(file, SkipReason.MAX_SITEMAPS, f"maxSitemaps is {self.job.sitemap_cap:,}", found_in=found_in)
        else:
            self.open_files.add(url)
            self.report.sitemaps.append(file)
            return file
        self._seen[key] = None
        return None

    def _next_guess(self) -> list[SitemapReport]:
        """The next common path, while robots.txt named nothing that could be read and no path worked yet."""
        self._guess = None
        if self.named_only and self._named:
            return []
        if self.capped or self.skipped_for or any(self._is_read(key) for key in self._named):
            return []
        while self._guesses:
            url = self._guesses.pop(0)
            if canonical(url) in self._seen:
                if self._is_read(canonical(url)):
                    self._guesses.clear()
                continue
            if not self.budget.take():
                self._cut_by_cap = True
                return []
            file = SitemapReport(url, None, 0)
            self._seen[canonical(url)] = file
            self._name(canonical(url), GUESS)
            self.report.common_paths_tried.append(url)
            self.open_files.add(url)
            self._guess = url
            return [file]
        return []

    def _is_read(self, key: str) -> bool:
        file = self._seen.get(key)
        return file is not None and file.status in _READ

    # --- what came of a file

    def read_as(self, url: str) -> SitemapReport | None:
        """The file that was, or is being, read from the address `url`; a failure there is none."""
        file = self._bodies.get(canonical(url))
        return file if file is not None and file.status is not FileStatus.FAILED else None

    def answered(self, file: SitemapReport, final_url: str | None) -> SitemapReport | None:
        """`file` was answered, at `final_url` after redirects (None: none); the other file read from there, if any."""
        file.final_url = final_url
        other = self.read_as(final_url or file.url)
        if other is not None and other is not file:
            return other
        key = canonical(final_url or file.url)
        self._bodies[key] = file
        self._seen.setdefault(key, file)
        return None

    def finished(self, file: SitemapReport) -> list[SitemapReport]:
        """`file` was asked for and its fields say what came of it; returns the files to ask for because of that."""
        self._asked += 1
        self._cut_by_cap = self._cut_by_cap or file.reason in _CAPS
        self.open_files.discard(file.url)
        if file.url == self._guess:
            self._end_guess(file)
        elif file.status not in _READ or file.status is FileStatus.PARTIAL:
            self._note_skip(file, self._found_in(file))
        return self._reopened() or (self._next_guess() if not self.open_files else [])

    def refused(
        self, file: SitemapReport, reason: SkipReason, detail: str | None, *, found_in: str | None = None
    ) -> list[SitemapReport]:
        """`file` is not asked for; returns the files to ask for because of that."""
        file.status, file.reason, file.detail = FileStatus.SKIPPED, reason, detail
        was_open = file.url in self.open_files
        if was_open:
            self.open_files.discard(file.url)
            self.budget.give_back()
        elif self.run.room_for_unread(self.report):
            self.report.sitemaps.append(file)
        else:
            self.report.unread_files += 1
        if reason is SkipReason.MAX_SITEMAPS and self.report.sitemaps and self.report.sitemaps[-1] is file:
            self._past_cap.append(file)
            self._note_skip(file, found_in)
            return []
        if file.url == self._guess and was_open:
            if reason is SkipReason.HOST_CLOSED:
                self._guesses.clear()  # nothing is guessed behind a closed door
                if self.report.sitemaps:  # among them the file that found it closed
                    return []
            self.report.sitemaps.append(file)
        self._cut_by_cap = self._cut_by_cap or reason in _CAPS
        self._disallowed = self._disallowed or reason not in _CAPS
        self._note_skip(file, found_in or self._found_in(file))
        return self._reopened() or (self._next_guess() if was_open and not self.open_files else [])

    def _reopened(self) -> list[SitemapReport]:
        """Files that were past `maxSitemaps`, for which there is room after all."""
        files: list[SitemapReport] = []
        while self._past_cap and not self.capped and self.budget.take():
            file = self._past_cap.popleft()
            self.run.unskip(Skip(file.url, self.site.key, Stage.SITEMAP, SkipReason.MAX_SITEMAPS))
            self.report.unread_entries -= 1
            file.reason = file.detail = None
            self._seen[canonical(file.url)] = file
            self.open_files.add(file.url)
            files.append(file)
        return files

    def _end_guess(self, file: SitemapReport) -> None:
        """A guess that works is a file like any other and the last; one that is not there is no error and costs nothing."""
        if file.status in _READ:
            self._guesses.clear()
            self.report.sitemaps.append(file)
            if file.status is FileStatus.PARTIAL:
                self._note_skip(file, None)
        elif file.reason in _NOT_THERE:
            self.budget.give_back()
        else:
            self.report.sitemaps.append(file)
            self._note_skip(file, None)

    def _found_in(self, file: SitemapReport) -> str | None:
        if file.parent is not None:
            return file.parent
        return self.site.key + "/robots.txt" if canonical(file.url) in self._named else None

    def _note_skip(self, file: SitemapReport, found_in: str | None) -> None:
        if file.reason is not None:
            self.run.skip(Skip(file.url, self.site.key, Stage.SITEMAP, file.reason, file.detail, found_in))

    # --- the end

    def skip_site(self, reason: SkipReason, detail: str | None) -> None:
        """The site is left alone as a whole: its robots.txt closed it, or the run ended before it was reached."""
        self.skipped_for, self.skipped_detail = reason, detail
        self.run.skip(Skip(self.site.entry, self.site.key, Stage.SITE, reason, detail))

    def abandon(self) -> None:
        """The run ends early: what is still open was not reached."""
        self._cut_by_cap = True
        self._past_cap.clear()
        for file in [file for file in self._seen.values() if file is not None and file.url in self.open_files]:
            self._guesses.clear()
            if file.status is FileStatus.SKIPPED:
                self.refused(file, SkipReason.NOT_REACHED, "the run ended first")
        self.open_files.clear()
        self.abandoned = True

    @property
    def found_nothing(self) -> bool:
        """No sitemap was named, and none was guessed."""
        return not any(file.status in _READ for file in self.report.sitemaps)

    @property
    def why_none(self) -> str:
        """What was looked at where no sitemap was found."""
        where = "robots.txt names none" if self.has_robots_txt else "there is no robots.txt to name one"
        return f"{where}, and no common path has one" if self.report.common_paths_tried else where

    def settle(self) -> None:
        """Give the site its status, and say in one sentence what came of it."""
        self.closed = True
        self.report.status = self._status()
        if not self.report.sitemaps and self.skipped_for is None:
            reason, why = SkipReason.NO_SITEMAP_FOUND, self.why_none
            self.run.skip(Skip(self.site.entry, self.site.key, Stage.SITE, reason, why))
        self.report.message = site_message(self)

    def _status(self) -> SiteStatus:
        if not self._asked:
            return SiteStatus.SKIPPED
        if self.found_nothing:
            return SiteStatus.FAILED
        if self._cut_by_cap or self._past_cap or self.capped:
            return SiteStatus.TRUNCATED
        if self._disallowed or any(
            file.status not in {FileStatus.OK, FileStatus.UNCHANGED} and canonical(file.url) not in self.left_out
            for file in self.report.sitemaps
        ):
            return SiteStatus.PARTIAL
        return SiteStatus.OK


def site_message(reading: SiteReading) -> str:
    """What came of a site, in one sentence that claims only what was observed."""
    report = reading.report
    read = sum(1 for file in report.sitemaps if file.status in _READ)
    if reading.skipped_for is not None:
        return f"Skipped: {_in_words(reading.skipped_for, reading.skipped_detail)}."
    if not report.sitemaps:
        return f"No sitemap found: {reading.why_none}."
    if read:
        files = f"{read:,} of {len(report.sitemaps) + report.unread_files:,} sitemap files read"
        return f"{files}, {report.saved:,} URL{'' if report.saved == 1 else 's'} saved."
    first = next(file for file in report.sitemaps if file.reason is not None)
    return f"No sitemap could be read: {_in_words(first.reason, first.detail)}."


def _in_words(reason: SkipReason | None, detail: str | None) -> str:
    words = WORDS[reason] if reason is not None else "no reason is known"
    return f"{words} ({detail})" if detail and detail not in words else words
