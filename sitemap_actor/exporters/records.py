"""The records of a run, one table: what is written under which name, and by which function."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from sitemap_actor.core.report import SKIPS_PER_RECORD, RunReport

JSON = "application/json; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Record:
    """One record, ready to be stored."""

    name: str
    body: bytes
    content_type: str


def records_of(report: RunReport, now: float) -> Iterator[Record]:
    """Every record of the run as of `now` (POSIX seconds)."""
    yield Record("REPORT", to_json(report.to_dict(now)), JSON)
    yield from _skipped(report)


def _skipped(report: RunReport) -> Iterator[Record]:
    """SKIPPED, SKIPPED-2, ...: 10,000 entries each."""
    entries = [skip.to_dict() for skip in report.skips]
    for number, start in enumerate(range(0, max(len(entries), 1), SKIPS_PER_RECORD), 1):
        name = "SKIPPED" if number == 1 else f"SKIPPED-{number}"
        yield Record(name, to_json(entries[start : start + SKIPS_PER_RECORD]), JSON)


def to_json(value: object) -> bytes:
    """JSON as the records are written: readable, UTF-8; a lone surrogate cannot break it."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace")
