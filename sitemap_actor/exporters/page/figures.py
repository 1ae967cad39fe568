"""Parts of a whole, as REPORT.html draws them: what became of the URLs, their first path segments; and the settings."""

from collections import Counter
from dataclasses import dataclass

from sitemap_actor.core.report import RunReport
from sitemap_actor.exporters.page.text import sentence

_SECTIONS = 25
_ADJUSTMENTS = 100


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole: `percent` of the largest part (for a bar), `of_all` of the total."""

    label: str
    count: int
    percent: float
    of_all: str


def ledger(report: RunReport) -> list[Share]:
    """What became of every URL that the sitemaps listed."""
    counts = report.counts
    parts = [
        ("Saved", counts.saved),
        ("Saved before a restart of the run", counts.saved_before),
        ("Unchanged since the last run", counts.unchanged),
        ("Remembered silently, by rule or filter", counts.remembered_silently),
        ("Held until a complete run", counts.held),
        ("Kept for the next run", counts.deferred),
        ("The same page again", counts.duplicates),
        ("Older than changedSince", counts.filtered_older),
        ("Without a readable lastmod", counts.filtered_undated),
        ("Left out by a URL pattern", counts.filtered_by_pattern),
        ("Disallowed by robots.txt", counts.disallowed),
        ("On a host that is closed, private or past the limit", counts.skipped),
        ("Not a usable address", counts.invalid),
        ("Past a limit of this run", counts.not_saved),
    ]
    return _shares(parts, counts.listed)


def sections(report: RunReport) -> tuple[list[Share], int]:
    """Saved URLs by first path segment, and how many segments are not on the page."""
    counted: Counter[str] = Counter()
    for site in report.sites:
        counted.update(site.sections)
    shown = [(sentence(name, chars=80), count) for name, count in counted.most_common(_SECTIONS)]
    return _shares(shown, counted.total()), len(counted) - len(shown)


def _shares(parts: list[tuple[str, int]], total: int) -> list[Share]:
    most = max((count for _, count in parts), default=0)
    return [
        Share(label, count, round(count / most * 100, 1), _percent(count, total)) for label, count in parts if count
    ]


def _percent(count: int, total: int) -> str:
    if not total:
        return ""
    percent = count / total * 100
    return "< 0.1 %" if percent < 0.1 else f"{percent:.1f} %" if percent < 10 else f"{percent:.0f} %"


def settings(report: RunReport) -> list[tuple[str, str]]:
    """The settings as used; lists in one line."""
    used = report.job.settings() if report.job else {}
    return [(sentence(name, chars=60), _value(value)) for name, value in used.items()]


def adjustments(report: RunReport) -> list[tuple[str, str, str, str]]:
    """What was not used as given: field, given, used, why."""
    return [
        (sentence(note.field, chars=60), _value(note.value), _value(note.used), sentence(note.message))
        for note in report.notes.adjustments[:_ADJUSTMENTS]
    ]


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        more = f" and {len(value) - 10:,} more" if len(value) > 10 else ""
        return (", ".join(sentence(entry, chars=80) for entry in value[:10]) + more) or "none"
    if value is None or value == "":
        return "none"
    return f"{value:,}" if isinstance(value, int) else sentence(value, chars=200)
