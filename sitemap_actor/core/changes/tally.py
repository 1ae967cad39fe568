"""What a site's comparison adds to the run's report: counts that add up, flags, and the site's part of SUMMARY."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sitemap_actor.core.changes.facts import Came
from sitemap_actor.core.changes.files import SitemapCase
from sitemap_actor.core.changes.kinds import HELD_PAGES, Kind
from sitemap_actor.core.changes.memory import Session
from sitemap_actor.core.changes.profiles import PROFILE_PAGE
from sitemap_actor.core.changes.settling import TYPES, Plan, unreliable
from sitemap_actor.core.reasons import ChangeType, Fault, SkipReason
from sitemap_actor.core.report import MAX_SECTIONS, MAX_UNREAD_ENTRIES, FileStatus, Row, RunReport, SiteStatus

PATTERN = "pattern"
_SEGMENT = re.compile(r"https?://[^/?#]*(/[^/?#]*)?", re.IGNORECASE)
_DISALLOWED = frozenset({SkipReason.ROBOTS_TXT_DISALLOWED, SkipReason.SITE_DISALLOWS_ALL})
_REMEMBERED = frozenset({PROFILE_PAGE, *_DISALLOWED})


@dataclass(frozen=True, slots=True)
class Saved:
    """What was saved of a plan: `rows` from its front, `listed` of them not `removed`; `changes` are the change rows."""

    rows: int
    listed: int
    changes: list[Row]


def note_result(session: Session, plan: Plan, saved: Saved, report: RunReport) -> None:
    """Enter a settled site into the run's counts, REPORT and SUMMARY."""
    comparison, counts = plan.comparison, report.counts
    by_kind = plan.saved_by_kind(saved.rows)
    existing = min(max(0, saved.rows - plan.total), plan.existing)
    due = comparison.count(Kind.NEW, Kind.MODIFIED, Kind.BASELINE) + plan.aside
    unchanged = comparison.unchanged - plan.aside - plan.existing
    deferred_listed = due + plan.existing - saved.listed
    deferred_removals = comparison.count(Kind.REMOVED) - by_kind[Kind.REMOVED]
    counts.unchanged += unchanged
    counts.deferred += deferred_listed
    counts.held += comparison.count(*HELD_PAGES)
    silent = plan.silent_by_reason()
    _count_silent(silent, comparison.count(Kind.QUIET), report)
    _note_repeats(session, plan)
    site = session.reading.report
    flags = _flags(session, plan)
    site.summary = {
        "counts": {
            **{str(TYPES[kind]): count for kind, count in by_kind.items()},
            str(ChangeType.EXISTING): existing,
            "unchanged": unchanged,
            "heldRemovals": comparison.count(Kind.HELD_REMOVAL, Kind.PENDING),
            "heldPages": comparison.count(*HELD_PAGES),
            "deferred": deferred_listed + deferred_removals,
            "profilePagesSkipped": silent[PROFILE_PAGE],
            "stampedPages": comparison.count(Kind.STAMPED),
            "lastmodGained": comparison.count(Kind.GAINED),
            "lastmodLost": comparison.count(Kind.LOST),
            "lastmodWentBack": comparison.count(Kind.BACK),
        },
        "flags": flags,
        "sections": _sections(saved.changes),
        "sitemaps": list(_sitemaps(session, plan)),
    }
    site.extra = {"changes": site.summary["counts"], "flags": flags}


def _count_silent(silent: Counter[str], quiet: int, report: RunReport) -> None:
    counts = report.counts
    counts.remembered_silently += quiet
    for why, count in silent.items():
        if why == PATTERN:
            counts.filtered_by_pattern += count
        elif why in _REMEMBERED:
            counts.remembered_silently += count
            counts.disallowed += count if why in _DISALLOWED else 0
        else:
            counts.skipped += count


def _note_repeats(session: Session, plan: Plan) -> None:
    """Entries that a file lists more than once are a fault of it."""
    files = {session.key_of(file): file for file in session.reading.report.sitemaps}
    for case in plan.comparison.cases:
        repeats = session.state.entries.get(case.url, 0) - case.listed
        if repeats > 0 and case.url in files:
            files[case.url].faults[Fault.DUPLICATE_ENTRY] += repeats


def _flags(session: Session, plan: Plan) -> list[str]:
    comparison = plan.comparison
    flags = set(session.flags)
    for case in comparison.cases:
        flags.update(_case_flags(case))
    if comparison.migrated:
        flags.add("hostMigrated")
    if comparison.count(Kind.HELD_REMOVAL):
        flags.add("removalsHeld")
    if session.reading.report.status is SiteStatus.TRUNCATED:
        flags.add("truncated")
    return sorted(flags)


def _case_flags(case: SitemapCase) -> list[str]:
    flags = []
    if case.shrink_held:
        flags.append("shrinkSuspected")
    if case.stamped:
        flags.append("stampedLastmod")
    if unreliable(case.facts.stamped):
        flags.append("lastmodUnreliable")
    if case.massive:
        flags.append("newSitemapBaseline")
    if case.facts.gone:
        flags.append("sitemapGone")
    return flags


def _sitemaps(session: Session, plan: Plan) -> Iterable[dict[str, Any]]:
    """The sitemaps of this run and those remembered, as SUMMARY has them."""
    files = {session.key_of(file): file for file in session.reading.report.sitemaps}
    for case in plan.comparison.cases[: MAX_UNREAD_ENTRIES + len(files)]:
        file = files.get(case.url)
        yield {
            "url": file.url if file is not None else case.url,
            "status": file.status if file is not None else _status(case),
            "reason": file.reason if file is not None else None,
            "listed": case.listed,
            "known": case.known,
            "rolling": case.rolling,
            "failedRuns": case.facts.not_there + case.facts.failed,
            "missingRuns": case.facts.missing,
            "flags": _case_flags(case),
        }


def _status(case: SitemapCase) -> FileStatus:
    return FileStatus.FAILED if case.came in {Came.FAILED, Came.NOT_THERE} else FileStatus.SKIPPED


def _sections(changes: Iterable[Row]) -> dict[str, dict[str, int]]:
    """Saved changes by first path segment, the 50 with the most."""
    sections: dict[str, Counter[str]] = {}
    for row in changes:
        segment = _SEGMENT.match(row["url"])
        sections.setdefault((segment and segment[1]) or "/", Counter())[str(row["changeType"])] += 1
    busiest = sorted(sections.items(), key=lambda item: -item[1].total())[:MAX_SECTIONS]
    return {
        name: {str(kind): counts[kind] for kind in (ChangeType.NEW, ChangeType.REMOVED, ChangeType.MODIFIED)}
        for name, counts in busiest
    }
