"""What a run has to say for itself: the figures and samples behind REPORT, SKIPPED, SUMMARY and REPORT.html.

Field names are those of the records (`records.md`); `RunReport.to_dict` gives REPORT. Sizes are bytes, times POSIX seconds
until they are written. Nothing here grows with what is filtered out: skips are kept up to 50,000, per-site lists are capped.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, TypeAlias

from sitemap_actor.core.clock import iso
from sitemap_actor.core.errors import InputProblem
from sitemap_actor.core.job import Job, Notes
from sitemap_actor.core.reasons import ChangeType, Fault, FileKind, SkipReason, Stage

Row: TypeAlias = dict[str, Any]
"""One saved page, by the names of spec section 2."""

MAX_SKIPS_KEPT = 50_000
SKIPS_PER_RECORD = 10_000
MAX_UNREAD_ENTRIES = 1_000
MAX_UNREAD_ENTRIES_OF_RUN = 20_000
"""A thousand sites with a thousand unread files each would not fit into memory."""
MAX_SECTIONS = 50
_SECTIONS_HELD = 5_000
_UNWRITTEN = frozenset({"tally", "batches_out"})


class Result(StrEnum):
    """How the run ended (REPORT.result)."""

    FINISHED = "finished"
    STOPPED_EARLY = "stopped_early"
    INPUT_PROBLEM = "input_problem"
    FAILED = "failed"


class StopReason(StrEnum):
    """Why a run ended before its work was done (REPORT.stopReason)."""

    MAX_URLS = "max_urls"
    SPENDING_LIMIT = "spending_limit"
    ABORTED = "aborted"
    RUN_TIMEOUT = "run_timeout"
    STATE_IN_USE = "state_in_use"


class SiteStatus(StrEnum):
    """What came of a site; the first that applies."""

    SKIPPED = "skipped"
    FAILED = "failed"
    TRUNCATED = "truncated"
    PARTIAL = "partial"
    OK = "ok"


class FileStatus(StrEnum):
    """What came of a sitemap file."""

    OK = "ok"
    UNCHANGED = "unchanged"
    PARTIAL = "partial"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Skip:
    """One entry of SKIPPED."""

    address: str
    site: str | None
    stage: Stage
    reason: SkipReason
    detail: str | None = None
    found_in: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The entry as the record has it."""
        return {
            "address": self.address,
            "site": self.site,
            "stage": self.stage,
            "reason": self.reason,
            "detail": self.detail,
            "foundIn": self.found_in,
        }


@dataclass(slots=True)
class Counts:
    """REPORT.counts. In extract mode `listed` is the sum of everything a listed URL can become; see `accounted`."""

    listed: int = 0
    saved: int = 0
    saved_before: int = 0
    duplicates: int = 0
    filtered_older: int = 0
    filtered_undated: int = 0
    filtered_by_pattern: int = 0
    disallowed: int = 0
    skipped: int = 0
    invalid: int = 0
    not_saved: int = 0
    not_saved_at_spending_limit: int = 0
    unchanged: int = 0
    remembered_silently: int = 0
    held: int = 0
    deferred: int = 0
    removed: int = 0
    sitemaps_fetched: int = 0
    robots_txt_read: int = 0
    requests: int = 0
    bytes_received: int = 0
    not_modified: int = 0

    def to_dict(self) -> dict[str, int]:
        """The counts under the record's names."""
        return {_camel(item.name): getattr(self, item.name) for item in fields(self)}


@dataclass(slots=True, eq=False)
class SitemapReport:
    """One file of a site (REPORT.sites[].sitemaps[])."""

    url: str
    parent: str | None
    depth: int
    status: FileStatus = FileStatus.SKIPPED
    reason: SkipReason | None = None
    detail: str | None = None
    final_url: str | None = None
    http_status: int | None = None
    kind: FileKind | None = None
    bytes: int = 0
    unpacked_bytes: int = 0
    listed: int = 0
    children: int = 0
    newest_lastmod: str | None = None
    rolling: bool = False
    faults: Counter[Fault] = field(default_factory=Counter)
    tally: Counter[str] = field(default_factory=Counter)
    """What became of the entries of this file, by the names of `Counts` (not in the record)."""
    batches_out: int = 0
    """Batches of this file that are not through the pipelines yet (not in the record)."""

    def conclude(self, status: FileStatus, reason: SkipReason | None, detail: str | None) -> None:
        """Say what came of the file."""
        self.status, self.reason, self.detail = status, reason, detail

    def fail_as_unasked_304(self) -> None:
        """A 304 to a request without validators says nothing about the file."""
        self.conclude(FileStatus.FAILED, SkipReason.HTTP_ERROR, "HTTP 304 to an unconditional request")

    def to_dict(self) -> dict[str, Any]:
        """The entry as the record has it."""
        entry = {_camel(item.name): getattr(self, item.name) for item in fields(self) if item.name not in _UNWRITTEN}
        entry["faults"] = {str(fault): count for fault, count in sorted(self.faults.items()) if count}
        return entry


@dataclass(slots=True)
class SiteReport:
    """One site (REPORT.sites[])."""

    site: str
    entry: str
    status: SiteStatus = SiteStatus.SKIPPED
    message: str = ""
    saved: int = 0
    sitemaps_from_robots_txt: list[str] = field(default_factory=list)
    sitemaps_from_input: list[str] = field(default_factory=list)
    common_paths_tried: list[str] = field(default_factory=list)
    sections: Counter[str] = field(default_factory=Counter)
    sitemaps: list[SitemapReport] = field(default_factory=list)
    unread_entries: int = 0
    """How many of `sitemaps` are files that were never asked for because of a limit."""
    unread_files: int = 0
    extra: dict[str, Any] = field(default_factory=dict)
    """What monitor mode adds (its counts and flags)."""
    summary: dict[str, Any] = field(default_factory=dict)
    """The site's entry in SUMMARY (monitor mode), but for its site and status."""

    def add_sections(self, segments: Iterable[str]) -> None:
        """Count the first path segments of saved rows; the rarest are let go where there are very many."""
        self.sections.update(segments)
        if len(self.sections) > _SECTIONS_HELD:
            self.sections = Counter(dict(self.sections.most_common(_SECTIONS_HELD // 2)))

    def to_dict(self) -> dict[str, Any]:
        """The entry as the record has it."""
        entry = {
            "site": self.site,
            "entry": self.entry,
            "status": self.status,
            "message": self.message,
            "saved": self.saved,
            "sitemapsFromRobotsTxt": self.sitemaps_from_robots_txt[:MAX_UNREAD_ENTRIES],
            "sitemapsFromInput": self.sitemaps_from_input,
            "commonPathsTried": self.common_paths_tried,
            "sections": dict(self.sections.most_common(MAX_SECTIONS)),
            "sitemaps": [sitemap.to_dict() for sitemap in self.sitemaps],
            "unreadFiles": self.unread_files,
        }
        return entry | self.extra


@dataclass(slots=True)
class HostReport:
    """One host (REPORT.hosts[])."""

    host: str
    robots_txt: str | None = None
    robots_txt_status: int | None = None
    crawl_delay_secs: float | None = None
    requests: int = 0
    skipped_for: SkipReason | None = None
    stopped_for: SkipReason | None = None

    def to_dict(self) -> dict[str, Any]:
        """The entry as the record has it."""
        return {_camel(item.name): getattr(self, item.name) for item in fields(self)}


class RunReport:
    """Everything the records are written from."""

    def __init__(self, started_at: float, job: Job | None, notes: Notes) -> None:
        self.started_at = started_at
        self.job = job
        self.notes = notes
        self.result = Result.FINISHED
        self.stop_reason: StopReason | None = None
        self.message = ""
        self.counts = Counts()
        self.saved_by_type: Counter[str] = Counter(dict.fromkeys(ChangeType, 0))
        self.charged: dict[str, int] | None = None
        self.skips: list[Skip] = []
        self.skips_by_reason: Counter[SkipReason] = Counter()
        self.sites: list[SiteReport] = []
        self.hosts: list[HostReport] = []
        self.days: Counter[int] = Counter()
        """Saved rows by the day of their lastmod (days since 1970), for the histogram."""
        self.changes: list[Row] = []
        """Saved change rows (new, removed, modified) in the order saved; at most `maxChanges` of them."""
        self.extra: dict[str, Any] = {}
        self._unread_entries = 0
        self._skipped_once: set[int] = set()
        for entry in notes.skipped:
            self.skip(Skip(entry.value, None, Stage.INPUT, entry.reason, entry.detail))

    def room_for_unread(self, site: SiteReport) -> bool:
        """Whether another file that was never asked for becomes an entry; the others are only counted."""
        if site.unread_entries >= MAX_UNREAD_ENTRIES or self._unread_entries >= MAX_UNREAD_ENTRIES_OF_RUN:
            return False
        site.unread_entries += 1
        self._unread_entries += 1
        return True

    def skip(self, skip: Skip) -> None:
        """Note a skip; the same address for the same reason is noted once (as far as skips are kept)."""
        mark = hash((skip.address, skip.reason, skip.stage))
        if mark in self._skipped_once:
            return
        self.skips_by_reason[skip.reason] += 1
        if len(self.skips) < MAX_SKIPS_KEPT:
            self._skipped_once.add(mark)
            self.skips.append(skip)

    def unskip(self, skip: Skip) -> None:
        """Take back a skip that turned out to be none (of its fields address, reason and stage count)."""
        mark = hash((skip.address, skip.reason, skip.stage))
        if mark not in self._skipped_once:
            return
        self._skipped_once.remove(mark)
        self.skips_by_reason[skip.reason] -= 1
        same = (skip.address, skip.reason, skip.stage)
        self.skips = [each for each in self.skips if (each.address, each.reason, each.stage) != same]

    def to_dict(self, now: float) -> dict[str, Any]:
        """REPORT as of `now` (POSIX seconds)."""
        counts: dict[str, Any] = self.counts.to_dict()
        counts["savedByType"] = dict(self.saved_by_type)
        return {
            "result": self.result,
            "stopReason": self.stop_reason,
            "message": self.message,
            "startedAt": iso(self.started_at),
            "finishedAt": iso(now),
            "durationSecs": round(now - self.started_at, 3),
            "problems": [_problem(problem) for problem in self.notes.problems],
            "adjustments": [
                {"field": note.field, "value": note.value, "used": note.used, "message": note.message}
                for note in self.notes.adjustments
            ],
            "settings": self.job.settings() if self.job else {},
            "counts": counts,
            "skipsByReason": {str(reason): count for reason, count in self.skips_by_reason.most_common() if count},
            "charged": self.charged,
            "sites": [site.to_dict() for site in self.sites],
            "hosts": [host.to_dict() for host in self.hosts],
        } | self.extra


def _problem(problem: InputProblem) -> dict[str, Any]:
    return {"field": problem.field, "value": problem.value, "message": problem.message}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
