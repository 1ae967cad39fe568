"""The run's outcome in plain sentences: the status message, REPORT.message, the last log line. Only what was observed."""

from sitemap_actor.core.reasons import WORDS, SkipReason
from sitemap_actor.core.report import Result, RunReport, SiteStatus, StopReason

_STOPS = {
    StopReason.MAX_URLS: "Stopped at maxUrls.",
    StopReason.SPENDING_LIMIT: "Stopped at the spending limit of the run.",
    StopReason.ABORTED: "The run was aborted.",
    StopReason.RUN_TIMEOUT: "Stopped just before the run's time-out.",
    StopReason.STATE_IN_USE: "Another run is using this stateKey, so nothing was asked for.",
}


def run_message(report: RunReport, broken: str | None = None) -> str:
    """What was found, and why where nothing was, from the report as it stands."""
    if report.result is Result.INPUT_PROBLEM:
        return " ".join(problem.message for problem in report.notes.problems)
    counts = report.counts
    sentences = []
    if broken is not None:
        sentences.append(f"The run failed: {broken}.")
    if report.stop_reason is not None:
        sentences.append(_STOPS[report.stop_reason])
    if report.stop_reason is not StopReason.STATE_IN_USE:
        sentences.append(_saved(report))
    if counts.not_saved_at_spending_limit:
        sentences.append(f"{_urls(counts.not_saved_at_spending_limit)} were ready but not saved.")
    refused = report.extra.get("refusedRows", {}).get("count", 0)
    if refused:
        sentences.append(f"{_urls(refused)} {_are(refused)} not saved because the dataset refused them.")
    if counts.disallowed:
        sentences.append(f"{_urls(counts.disallowed)} {_are(counts.disallowed)} disallowed by robots.txt.")
    sentences += _left_out(report)
    sentences += _troubles(report)
    sentences += _memory(report)
    return " ".join(sentences)


def _memory(report: RunReport) -> list[str]:
    """What the state of earlier runs gave to tell."""
    flags = [set(site.summary.get("flags", ())) for site in report.sites]
    invalid = sum("stateWasInvalid" in flag for flag in flags)
    repeated = sum("deliveredAtLeastOnce" in flag for flag in flags)
    sentences = []
    if invalid:
        sentences.append(
            f"What was remembered of {_sites(invalid)} could not be read; it is kept aside,"
            " and the next run reports changes again."
        )
    if repeated:
        sentences.append(f"An earlier run was cut off, so rows of {_sites(repeated)} may repeat what it saved.")
    return sentences


def _saved(report: RunReport) -> str:
    counts = report.counts
    total = counts.saved + counts.saved_before + counts.removed
    sites = _sites(len(report.job.site_list)) if report.job else "0 sites"
    if report.job is not None and report.job.conduct.remembers:
        kinds = [f"{count:,} {kind}" for kind, count in report.saved_by_type.items() if count]
        return f"Saved {', '.join(kinds)} pages of {sites}." if kinds else f"No change on {sites}."
    if total:
        return f"Saved {_urls(total)} of {sites}."
    filtered = counts.filtered_older + counts.filtered_undated + counts.filtered_by_pattern
    if filtered:
        return f"Saved no URL of {sites}: the filters left out {_urls(filtered)}."
    if not counts.listed and any(site.status is SiteStatus.OK for site in report.sites):
        return f"Saved no URL of {sites}: no sitemap lists a page."
    return f"Saved no URL of {sites}."


_PLACES = {
    SkipReason.MAX_HOSTS: "hosts past the 25 beyond the sites",
    SkipReason.HOST_CLOSED: "hosts closed to this run",
    SkipReason.PRIVATE_ADDRESS: "private or local addresses",
}
_LIMITS = {SkipReason.MAX_SITEMAPS: "maxSitemaps", SkipReason.MAX_DEPTH: "maxSitemapDepth"}


def _left_out(report: RunReport) -> list[str]:
    """What was listed and is no row, and what was named and not read."""
    counts, reasons = report.counts, report.skips_by_reason
    sentences = []
    if counts.skipped:
        places = " or on ".join(words for reason, words in _PLACES.items() if reasons.get(reason))
        sentences.append(f"{_urls(counts.skipped)} {_are(counts.skipped)} on {places or 'hosts left alone'}.")
    if counts.invalid:
        sentences.append(f"{_urls(counts.invalid)} {_are(counts.invalid)} invalid.")
    for reason, limit in _LIMITS.items():
        if unread := reasons.get(reason):
            files = f"{unread:,} sitemap file{'' if unread == 1 else 's'}"
            sentences.append(f"{files} past {limit} {'was' if unread == 1 else 'were'} not read.")
    return sentences


def _troubles(report: RunReport) -> list[str]:
    """What kept sites from being read whole, in at most two sentences."""
    if len(report.sites) == 1:
        site = report.sites[0]
        return [] if site.status in {SiteStatus.OK, SiteStatus.TRUNCATED} else [site.message]
    bad = [site for site in report.sites if site.status in {SiteStatus.FAILED, SiteStatus.SKIPPED}]
    partial = sum(1 for site in report.sites if site.status is SiteStatus.PARTIAL)
    sentences = []
    if bad:
        names = ", ".join(site.site for site in bad[:3])
        more = f" and {len(bad) - 3:,} more" if len(bad) > 3 else ""
        sentences.append(f"Nothing could be read of {names}{more}: see REPORT.")
    if partial:
        sentences.append(f"{_sites(partial)} {_are(partial)} only partly read.")
    if report.skips_by_reason.get(SkipReason.MAX_HOSTS) and not report.counts.skipped:
        sentences.append(f"Some addresses were left out: {WORDS[SkipReason.MAX_HOSTS]}.")
    return sentences


def _urls(count: int) -> str:
    return f"{count:,} URL{'' if count == 1 else 's'}"


def _sites(count: int) -> str:
    return f"{count:,} site{'' if count == 1 else 's'}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
