"""docs/records.md names every field of every record, and every code; tests/docs/test_names.py looks the other way round."""

import json
from typing import Any

import pytest

from sitemap_actor.core.job import Job
from sitemap_actor.core.reasons import Fault, FileKind, SkipReason, Stage
from sitemap_actor.core.report import (
    Counts,
    FileStatus,
    HostReport,
    Result,
    RunReport,
    SitemapReport,
    SiteReport,
    SiteStatus,
    Skip,
    StopReason,
)
from sitemap_actor.exporters.page.words import FLAGS
from sitemap_actor.exporters.summary import summary_bytes
from tests.docs import markdown

TEXT = markdown.read("docs/records.md")


def report() -> RunReport:
    job, notes = Job.read({"sites": ["example.com"], "mode": "monitor"})
    made = RunReport(0.0, job, notes)
    made.sites.append(SiteReport("https://example.com", "https://example.com/"))
    return made


def keys(value: Any) -> set[str]:
    """Every key of a record, however deep."""
    if isinstance(value, dict):
        return set(value) | {key for inner in value.values() for key in keys(inner)}
    return {key for inner in value for key in keys(inner)} if isinstance(value, list) else set()


def summary() -> dict[str, Any]:
    body = summary_bytes(report(), 0.0)
    assert body is not None
    made: dict[str, Any] = json.loads(body)
    return made


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("REPORT", {*report().to_dict(1.0)}),
        ("counts", {*Counts().to_dict(), "savedByType"}),
        ("sites", {*SiteReport("a", "b").to_dict(), *SitemapReport("a", None, 0).to_dict()}),
        ("hosts", {*HostReport("a").to_dict()}),
        ("SKIPPED, SKIPPED-2, ...", {*Skip("a", None, Stage.URL, SkipReason.EMPTY).to_dict()}),
        ("SUMMARY (monitor mode)", keys(summary()) - {"baseline", "held"}),
    ],
)
def test_every_field_is_named(title: str, names: set[str]) -> None:
    assert names - set(markdown.spans(markdown.section(TEXT, title))) == set()


def codes(heading: str) -> set[str]:
    """The code spans of the first column of every table with this heading."""
    found = [rows for rows in markdown.tables(TEXT) if next(iter(rows[0])) == heading]
    assert found
    return {span for rows in found for row in rows for span in markdown.spans(row[heading])}


def test_every_fault_is_explained() -> None:
    assert codes("fault") == set(Fault)


def test_every_flag_is_explained() -> None:
    assert codes("flag") == set(FLAGS)


def test_every_reason_stands_at_a_stage() -> None:
    (rows,) = [rows for rows in markdown.tables(TEXT) if next(iter(rows[0])) == "stage"]
    assert [row["stage"].strip("`") for row in rows] == [str(stage) for stage in Stage]
    assert {span for row in rows for span in markdown.spans(row["reasons"])} == set(SkipReason)


def test_every_result_status_and_kind_is_named() -> None:
    assert {*Result, *StopReason, *SiteStatus, *FileStatus, *FileKind} <= set(markdown.spans(TEXT))
