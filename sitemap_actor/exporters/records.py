"""The records of a run, one table: what is written under which name, and by which function."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from sitemap_actor.core.report import SKIPS_PER_RECORD, RunReport
from sitemap_actor.exporters.atom import atom_bytes
from sitemap_actor.exporters.page import page_bytes
from sitemap_actor.exporters.summary import summary_bytes

JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"
ATOM = "application/atom+xml; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Record:
    """One record, ready to be stored."""

    name: str
    body: bytes
    content_type: str


def records_of(report: RunReport, now: float, skipped_from: int = 0) -> Iterator[Record]:
    """Every record of the run as of `now` (POSIX seconds); of SKIPPED only what came since entry `skipped_from`."""
    yield Record("REPORT", to_json(report.to_dict(now)), JSON)
    yield from _skipped(report, skipped_from)
    summary = summary_bytes(report, now)
    if summary is not None:
        yield Record("SUMMARY", summary, JSON)
    yield Record("REPORT.html", page_bytes(report, now), HTML)
    feed = atom_bytes(report, now)
    if feed is not None:
        yield Record("CHANGES.atom", feed, ATOM)


def _skipped(report: RunReport, first: int) -> Iterator[Record]:
    """SKIPPED, SKIPPED-2, ...: 10,000 entries each."""
    first -= first % SKIPS_PER_RECORD
    for start in range(first, max(len(report.skips), 1), SKIPS_PER_RECORD):
        number = start // SKIPS_PER_RECORD + 1
        name = "SKIPPED" if number == 1 else f"SKIPPED-{number}"
        yield Record(name, to_json([skip.to_dict() for skip in report.skips[start : start + SKIPS_PER_RECORD]]), JSON)


def to_json(value: object) -> bytes:
    """JSON as the records are written: UTF-8; a lone surrogate cannot break it."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")
