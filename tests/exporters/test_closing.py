"""The closing lines of a run."""

import pytest

from sitemap_actor.core.report import SiteReport, SiteStatus
from sitemap_actor.exporters.closing import MAX_SITES, closing_lines
from tests.page import runs


def test_table_has_a_line_for_each_site_the_worst_first_and_says_where_the_records_are() -> None:
    lines = closing_lines(runs.extract_run(), "records/")
    assert lines[0].split() == ["Site", "Status", "Files", "URLs", "Note"]
    assert [line.split()[1] for line in lines[2:6]] == ["skipped", "partial", "truncated", "ok"]
    assert lines[3] == (
        "https://shop.example.com    partial      2/4  6,180  2 of 4 sitemap files read, 6,180 URLs saved."
    )
    assert lines[-2:] == [
        "Saved 9,472 URLs of 3 of 4 sites. 38 URLs are disallowed by robots.txt.",
        "Records: records/",
    ]


def test_table_is_short_however_many_sites_there_are() -> None:
    report = runs.huge_run(10)
    lines = closing_lines(report, "records/")
    assert len(lines) == MAX_SITES + 4
    assert "... and 980 more sites in REPORT" in lines


def test_input_problem_has_no_table() -> None:
    lines = closing_lines(runs.problem_run(), "records/")
    assert lines == [runs.problem_run().message, "Records: records/"]


@pytest.mark.parametrize("text", ["\x1b[2J\x1b[31m", "a\r\nb", "\u202egpj", "\x9b31m"])
def test_text_from_the_network_cannot_move_the_cursor(text: str) -> None:
    report = runs.complete_run()
    report.message = text
    report.sites = [SiteReport(text, f"https://example.com/{text}", SiteStatus.FAILED, text * 100)]
    lines = closing_lines(report, "records/")
    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines)) < 160
