"""SUMMARY, monitor mode's record of what changed (`records.md`), from what site_close.py left in each site's report."""

import json
from collections import Counter
from typing import Any

from sitemap_actor.core.clock import iso
from sitemap_actor.core.reasons import ChangeType
from sitemap_actor.core.report import RunReport, SiteReport

SITE_COUNTS = (
    *(str(change) for change in ChangeType),
    "unchanged",
    "heldRemovals",
    "heldPages",
    "deferred",
    "profilePagesSkipped",
    "stampedPages",
    "lastmodGained",
    "lastmodLost",
    "lastmodWentBack",
)
"""A site's counts. `heldPages`: pages that a limit cut off in a sitemap known whole; they are told once it is read whole."""


def summary_bytes(report: RunReport, now: float) -> bytes | None:
    """SUMMARY as of `now` (POSIX seconds); None in a run that remembers nothing."""
    if report.job is None or not report.job.conduct.remembers:
        return None
    sites = [_site(site) for site in report.sites]
    totals: Counter[str] = Counter()
    for site in sites:
        totals.update(site["counts"])
    shown = {str(change): totals[change] for change in ChangeType}
    shown["unchanged"] = totals["unchanged"]
    shown["held"] = totals["heldRemovals"] + totals["heldPages"]
    shown["deferred"] = totals["deferred"]
    record = {
        "stateKey": report.job.state_key,
        "startedAt": iso(report.started_at),
        "finishedAt": iso(now),
        "totals": shown,
        "sites": sites,
    }
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _site(site: SiteReport) -> dict[str, Any]:
    counts = {name: site.summary.get("counts", {}).get(name, 0) for name in SITE_COUNTS}
    return {
        "site": site.site,
        "entry": site.entry,
        "status": site.status,
        "message": site.message,
        "counts": counts,
        "flags": site.summary.get("flags", []),
        "sections": site.summary.get("sections", {}),
        "sitemaps": site.summary.get("sitemaps", []),
    }
