"""One report out of many: totals, a line for each site, and what failed."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from scaleout.ledger import Entry, Ledger, Step
from scaleout.parts import Unusable

GOOD = frozenset({"finished", "stopped_early"})
"""Results of runs that did what they could; `input_problem` and `failed` are none."""


def is_good(report: dict[str, Any] | None) -> bool:
    """Whether a part's run came to its end by itself."""
    return report is not None and report["result"] in GOOD


def merged(ledger: Ledger, unusable: Iterable[Unusable]) -> dict[str, Any]:
    """The combined report of all parts as far as they have come."""
    reports = {entry.number: ledger.report(entry) for entry in ledger.entries}
    sites = [line for entry in ledger.entries for line in _site_lines(entry, reports[entry.number])]
    return {
        "complete": all(entry.step is Step.ENDED for entry in ledger.entries),
        "totals": _totals([report for report in reports.values() if report is not None], sites),
        "parts": [_part_line(entry, reports[entry.number]) for entry in ledger.entries],
        "sites": sites,
        "failures": [
            *({"site": bad.entry, "part": None, "why": f"{bad.reason}: {bad.detail}"} for bad in unusable),
            *(failure for entry in ledger.entries for failure in _failures(entry, reports[entry.number])),
        ],
    }


def _totals(reports: list[dict[str, Any]], sites: list[dict[str, Any]]) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    saved_by_type: Counter[str] = Counter()
    skips: Counter[str] = Counter()
    charged: Counter[str] | None = None
    for report in reports:
        saved_by_type.update(report["counts"].get("savedByType", {}))
        counts.update({name: count for name, count in report["counts"].items() if isinstance(count, int)})
        skips.update(report["skipsByReason"])
        if report["charged"] is not None:
            charged = charged or Counter()
            charged.update(report["charged"])
    return {
        "sites": len(sites),
        "sitesByStatus": dict(Counter(line["status"] for line in sites)),
        "counts": {**counts, "savedByType": dict(saved_by_type)},
        "skipsByReason": dict(skips.most_common()),
        "charged": None if charged is None else dict(charged),
    }


def _part_line(entry: Entry, report: dict[str, Any] | None) -> dict[str, Any]:
    line: dict[str, Any] = {"part": entry.number, "run": entry.run, "outcome": entry.outcome or entry.step}
    for name in ("result", "stopReason", "message"):
        line[name] = None if report is None else report[name]
    return line | {"given": len(entry.sites), "saved": 0 if report is None else _saved(report["counts"])}


def _saved(counts: dict[str, Any]) -> int:
    total: int = counts["saved"] + counts["savedBefore"] + counts["removed"]
    return total


def _site_lines(entry: Entry, report: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The sites of a part as its REPORT has them; those of a part without one as given."""
    if report is None or not report["sites"]:
        status = "failed" if entry.step is Step.ENDED else "waiting"
        why = "the run left no REPORT" if report is None else report["message"]
        message = why if entry.step is Step.ENDED else ""
        return [
            {"site": site, "entry": site, "status": status, "saved": 0, "message": message, "part": entry.number}
            for site in entry.sites
        ]
    return [
        {name: site[name] for name in ("site", "entry", "status", "saved", "message")} | {"part": entry.number}
        for site in report["sites"]
    ]


def _failures(entry: Entry, report: dict[str, Any] | None) -> Iterable[dict[str, Any]]:
    if entry.step is Step.ENDED and not is_good(report):
        why = "it left no REPORT" if report is None else report["message"]
        yield {"site": None, "part": entry.number, "why": f"run {entry.run} ended as {entry.outcome}: {why}"}
    for line in _site_lines(entry, report):
        if line["status"] in {"failed", "skipped"}:
            yield {"site": line["entry"], "part": entry.number, "why": line["message"]}
