"""What a site's reading means to the comparison: each of its files as seen, and the circumstances."""

from collections.abc import Mapping

from sitemap_actor.core.changes.facts import GUESS, INPUT, ROBOTS, Came, Circumstances, FileSeen, SiteFacts
from sitemap_actor.core.reading import SiteReading
from sitemap_actor.core.reasons import FileKind, SkipReason
from sitemap_actor.core.report import FileStatus, SitemapReport
from sitemap_actor.core.urls import canonical

_UNUSABLE = frozenset({SkipReason.INVALID_URL, SkipReason.PRIVATE_ADDRESS})
"""A file that can never be asked for counts as failing, so that it does not hold removals for ever."""


def files_seen(reading: SiteReading, site: SiteFacts, cut: set[str]) -> list[FileSeen]:
    """The files of a reading. `cut`: those of which pages past the limit were left out (canonical URLs)."""
    reports = {canonical(file.url): file for file in reading.report.sitemaps}
    seen = []
    for key, file in reading.files().items():
        report = file if file is not None else reports.get(key)
        named_by = tuple(reading.namers.get(key, ()))
        if report is not None and canonical(report.url) != key and not (named_by or key in site.sitemaps):
            continue
        came = Came.LEFT_OUT if key in reading.left_out else _came(report)
        if came is Came.WHOLE and (key in cut or (report is not None and report.batches_out)):
            came = Came.CUT  # also where the end of the run did not wait for its last batches
        if _is_no_file(came, report, named_by) and key not in site.sitemaps:
            continue
        rolling = report is not None and report.rolling
        index = report is not None and report.kind is FileKind.INDEX
        unchanged = report is not None and report.status is FileStatus.UNCHANGED
        seen.append(FileSeen(key, came, named_by, rolling, index, unchanged))
    return seen


def circumstances(reading: SiteReading, seen: list[FileSeen]) -> Circumstances:
    """What else decides what an absent sitemap means."""
    job = reading.job
    ended = reading.capped or reading.abandoned or reading.skipped_for is not None
    readable = {file.url for file in seen if file.came is Came.WHOLE}
    dropped = {INPUT}
    if not reading.site.discover:
        dropped |= {ROBOTS, GUESS}
    else:
        if reading.robots_read:
            readable.add(ROBOTS)
        if not job.try_common_paths:
            dropped.add(GUESS)
        elif not ended:
            readable.add(GUESS)
    return Circumstances(frozenset(readable), frozenset(dropped), ended, job.rolling_sitemaps)


def _came(report: SitemapReport | None) -> Came:
    if report is None:
        return Came.UNREAD
    if report.status in {FileStatus.OK, FileStatus.UNCHANGED}:
        return Came.WHOLE
    if report.status is FileStatus.PARTIAL:
        return Came.CUT if report.reason is SkipReason.NOT_REACHED else Came.PARTIAL
    if report.status is FileStatus.FAILED:
        return Came.NOT_THERE if report.http_status in {404, 410} else Came.FAILED
    return Came.FAILED if report.reason in _UNUSABLE else Came.UNREAD


def _is_no_file(came: Came, report: SitemapReport | None, named_by: tuple[str, ...]) -> bool:
    """A guessed path that gave nothing is no sitemap of the site."""
    return named_by == (GUESS,) and (report is None or came not in {Came.WHOLE, Came.PARTIAL, Came.CUT})


def note_validators(seen: list[FileSeen], answers: Mapping[str, tuple[str | None, str | None, str]]) -> None:
    """Enter the validators of the files: canonical URL -> (ETag, Last-Modified, the address that answered)."""
    for file in seen:
        if file.url in answers:
            file.etag, file.last_modified, file.answered_by = answers[file.url]
