"""The first screen of REPORT.html: what did you get, is it complete, and if not, why and what to do."""

from dataclasses import dataclass

from sitemap_actor.core.reasons import ChangeType, SkipReason, Stage
from sitemap_actor.core.report import Result, RunReport, SiteReport, SiteStatus, StopReason
from sitemap_actor.exporters.page.changes import compared
from sitemap_actor.exporters.page.text import capital, duration, listing, many, sentence, size
from sitemap_actor.exporters.page.words import HINTS, STOPS, words_of

_NOTHING_READ = frozenset({SiteStatus.FAILED, SiteStatus.SKIPPED})


@dataclass(frozen=True, slots=True)
class Todo:
    """Something to know of the result: what it is, what to do, and where on the page more is said.

    `lacks`: because of it the result is not complete.
    """

    what: str
    do: str
    more: str | None = None
    lacks: bool = True


@dataclass(frozen=True, slots=True)
class Figure:
    """One of the large numbers."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome: `label` in its `tone` (good, warn, bad, mute), the headline, the run's own sentence, what to do."""

    tone: str
    label: str
    headline: str
    message: str
    todos: list[Todo]
    figures: list[Figure]


def running(report: RunReport) -> bool:
    """Whether sites are still being read: the records are rewritten while a run goes on, and a settled site has a message."""
    if report.result is not Result.FINISHED or report.job is None:
        return False
    return len(report.sites) < len(report.job.site_list) or any(not site.message for site in report.sites)


def verdict(report: RunReport, now: float) -> Verdict:
    """Judge the run as of `now` (POSIX seconds)."""
    todos = [] if running(report) else _todos(report)
    tone, label = _label(report, todos)
    message = sentence(report.message)
    if report.result is Result.INPUT_PROBLEM:
        return Verdict(tone, label, _headline(report), "", todos, [])
    return Verdict(tone, label, _headline(report), message, todos, _figures(report, now))


def _label(report: RunReport, todos: list[Todo]) -> tuple[str, str]:
    if report.result is Result.FAILED:
        return "bad", "Failed"
    if report.result is Result.INPUT_PROBLEM:
        return "bad", "Input problem"
    if report.result is Result.STOPPED_EARLY:
        return "warn", "Stopped early"
    if running(report):
        return "mute", "Still running"
    if report.sites and all(site.status in _NOTHING_READ for site in report.sites):
        return "bad", "Nothing could be read"
    if any(todo.lacks for todo in todos):
        return "warn", "Incomplete"
    return ("warn", "Nothing left to save") if _all_filtered(report) else ("good", "Complete")


def _all_filtered(report: RunReport) -> bool:
    counts = report.counts
    filtered = counts.filtered_older + counts.filtered_undated + counts.filtered_by_pattern
    return filtered > 0 and filtered + counts.duplicates == counts.listed


def _headline(report: RunReport) -> str:
    if report.result is Result.INPUT_PROBLEM:
        return "Nothing was requested: the input needs a change"
    if report.stop_reason is StopReason.STATE_IN_USE:
        return "Nothing was requested: another run is at work"
    sites = _sites(report)
    if report.job is not None and report.job.conduct.remembers:
        return _monitor_headline(report, sites)
    saved = report.counts.saved + report.counts.saved_before
    if saved:
        return f"{many(saved, 'URL')} {'so far' if running(report) else f'from {sites}'}"
    return f"No URL saved from {sites}" if report.sites else "No URL saved"


def _sites(report: RunReport) -> str:
    """The one site by its name, or how many there are."""
    if len(report.sites) == 1:
        return sentence(report.sites[0].site.partition("://")[2] or report.sites[0].site, chars=60)
    return many(len(report.sites), "site")


def _monitor_headline(report: RunReport, sites: str) -> str:
    saved = report.saved_by_type
    kinds = [change for change in (ChangeType.NEW, ChangeType.REMOVED, ChangeType.MODIFIED) if saved[change]]
    parts = [f"{saved[change]:,} {change}" for change in kinds]
    if parts:
        last = saved[kinds[-1]]
        return f"{capital(listing(parts))} {'page' if len(kinds) == 1 and last == 1 else 'pages'} on {sites}"
    if saved[ChangeType.BASELINE]:
        return f"A first look: {many(saved[ChangeType.BASELINE], 'page')} of {sites} remembered"
    return "No change so far" if running(report) else f"No change on {sites}"


def _figures(report: RunReport, now: float) -> list[Figure]:
    counts = report.counts
    figures = []
    if report.job is not None and report.job.conduct.remembers:
        saved = report.saved_by_type
        figures += [Figure(capital(change), f"{saved[change]:,}") for change in ("new", "removed", "modified")]
        if saved[ChangeType.BASELINE]:
            figures.append(Figure("Baseline", f"{saved[ChangeType.BASELINE]:,}"))
        figures.append(Figure("Unchanged", f"{counts.unchanged:,}", f"of {counts.listed:,} listed"))
    else:
        figures += [Figure("URLs saved", f"{counts.saved + counts.saved_before:,}", f"of {counts.listed:,} listed")]
    read = sum(site.status not in _NOTHING_READ for site in report.sites)
    figures.append(Figure("Sites read", f"{read:,}", f"of {len(report.sites):,}"))
    figures.append(Figure("Sitemap files", f"{counts.sitemaps_fetched:,}", size(counts.bytes_received)))
    figures.append(Figure("Requests", f"{counts.requests:,}", f"in {duration(max(0.0, now - report.started_at))}"))
    if report.charged is not None:
        charged = [many(count, f"{event} event") for event, count in report.charged.items() if count]
        figures.append(Figure("Charged", f"{sum(report.charged.values()):,}", listing(charged) or "nothing"))
    return figures


# --- what to do


def _todos(report: RunReport) -> list[Todo]:
    """What kept the result from being complete, the weightiest first."""
    if report.result is Result.INPUT_PROBLEM:
        return [
            Todo(
                sentence(problem.message), f"Correct {sentence(problem.field, chars=60)} and start again.", "#settings"
            )
            for problem in report.notes.problems[:20]
        ]
    todos = []
    if report.result is Result.FAILED:
        todos.append(
            Todo(
                "An error inside the program ended the run.",
                "Look at the end of the log, and report it with this page.",
            )
        )
    if report.stop_reason is not None:
        todos.append(Todo(*STOPS[report.stop_reason], "#urls" if report.counts.listed else None))
    return [*todos, *_site_todos(report), *_url_todos(report), *_input_todos(report)]


def _site_todos(report: RunReport) -> list[Todo]:
    todos = []
    lost = [site for site in report.sites if site.status in _NOTHING_READ]
    if lost:
        todos.append(Todo(_named(lost, "gave nothing"), _advice(report, lost), "#sites"))
    cut = [site for site in report.sites if site.status is SiteStatus.TRUNCATED]
    if cut:
        todos.append(Todo(_named(cut, "larger than a limit allowed", "was", "were"), _raise_what(report), "#sites"))
    part = [site for site in report.sites if site.status is SiteStatus.PARTIAL]
    if part:
        todos.append(Todo(_named(part, "read only in part", "was", "were"), _advice(report, part), "#sites"))
    return todos


def _named(sites: list[SiteReport], what: str, was: str = "", were: str = "") -> str:
    verb = (was if len(sites) == 1 else were) + " " if was else ""
    subject = sentence(sites[0].entry, chars=80) if len(sites) == 1 else f"{len(sites):,} sites"
    return f"{subject} {verb}{what}."


def _advice(report: RunReport, sites: list[SiteReport]) -> str:
    """The commonest reasons among `sites`, and what to do about the first."""
    keys = {site.site for site in sites}
    stages = {Stage.SITE, Stage.ROBOTS_TXT, Stage.SITEMAP}
    counted: dict[SkipReason, int] = {}
    for skip in report.skips:
        if skip.site in keys and skip.stage in stages:
            counted[skip.reason] = counted.get(skip.reason, 0) + 1
    common = sorted(counted, key=lambda reason: -counted[reason])[:3]
    if not common:
        return "The sites' notes say more."
    return f"Seen: {listing([words_of(reason) for reason in common])}. {HINTS[common[0]]}"


def _raise_what(report: RunReport) -> str:
    names = {SkipReason.MAX_SITEMAPS: "maxSitemaps", SkipReason.MAX_DEPTH: "maxSitemapDepth"}
    fields = [name for reason, name in names.items() if report.skips_by_reason[reason]]
    if report.stop_reason is StopReason.MAX_URLS and not fields:
        return "Raise maxUrls to read on."
    return f"Raise {listing(fields or ['maxUrlsPerSite'])} to read all of it."


def _url_todos(report: RunReport) -> list[Todo]:
    counts, todos = report.counts, []
    if counts.filtered_undated:
        what = f"{many(counts.filtered_undated, 'URL')} without a readable lastmod {_were(counts.filtered_undated)} left out."
        todos.append(Todo(what, "Turn on includeUrlsWithoutLastmod to keep such URLs.", "#urls", lacks=False))
    if counts.deferred:
        what = f"{many(counts.deferred, 'change')} past a limit {_were(counts.deferred)} kept for the next run."
        todos.append(Todo(what, "Run again, or raise maxChanges.", "#urls"))
    held = compared(report).get("heldRemovals", 0)
    if held:
        what = f"{many(held, 'missing page')} {_were(held)} not reported as removed."
        todos.append(
            Todo(
                what,
                "They wait until a complete run confirms it; the reason stands under Held back.",
                "#held",
                lacks=False,
            )
        )
    if _all_filtered(report):
        what = "The filters left out every URL."
        todos.append(Todo(what, "Choose an earlier changedSince, or other URL patterns.", "#urls", lacks=False))
    if counts.not_saved and report.stop_reason is None:
        what = f"{many(counts.not_saved, 'URL')} past a limit {_were(counts.not_saved)} not saved."
        todos.append(Todo(what, "Raise maxUrls or maxUrlsPerSite to get more.", "#urls"))
    return todos


def _input_todos(report: RunReport) -> list[Todo]:
    todos = []
    unused = len(report.notes.skipped)
    if unused:
        what = f"{many(unused, 'entry', 'entries')} of the input could not be used."
        todos.append(Todo(what, "They are listed with the reason under Skipped.", "#skipped"))
    adjusted = len(report.notes.adjustments)
    if adjusted:
        what = f"{many(adjusted, 'input value was', 'input values were')} not used as given."
        todos.append(Todo(what, "See what was used instead under Settings.", "#settings", lacks=False))
    return todos


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
