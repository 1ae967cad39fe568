"""REPORT.html without a browser: what it says, how large it gets, what its policy is."""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable

import pytest
from lxml import html

from sitemap_actor.core.reasons import Fault, SkipReason, Stage
from sitemap_actor.core.report import FileStatus, Result, RunReport, SiteStatus, Skip, StopReason
from sitemap_actor.exporters.page import MAX_PAGE_BYTES, chart, page_bytes, text
from sitemap_actor.exporters.page.figures import ledger
from sitemap_actor.exporters.page.verdict import verdict
from sitemap_actor.exporters.page.words import CLAUSES, COMPARED, FILE_WORDS, FLAGS, HINTS, SITE_WORDS, STOPS
from tests.page import runs
from tests.page.runs import NOW, day


def page(report: RunReport) -> html.HtmlElement:
    return html.document_fromstring(page_bytes(report, NOW).decode())


def words(report: RunReport) -> str:
    """The page's text, elements apart."""
    return " ".join(" ".join(page(report).body.itertext()).split())


# --- the first screen


@pytest.mark.parametrize(
    ("build", "label", "headline"),
    [
        (runs.complete_run, "Complete", "20 URLs from docs.apify.com"),
        (runs.extract_run, "Incomplete", "9,472 URLs from 4 sites"),
        (runs.monitor_run, "Incomplete", "12 new, 3 removed and 5 modified pages on 2 sites"),
        (runs.empty_monitor_run, "Complete", "No change on 2 sites"),
        (runs.problem_run, "Input problem", "Nothing was requested: the input needs a change"),
        (runs.stopped_run, "Stopped early", "20 URLs from docs.apify.com"),
        (runs.running_run, "Still running", "5 URLs so far"),
    ],
)
def test_first_screen_says_what_came_of_the_run(build: Callable[[], RunReport], label: str, headline: str) -> None:
    judged = verdict(build(), NOW)
    assert (judged.label, judged.headline) == (label, headline)


def test_first_screen_says_why_it_is_incomplete_and_what_to_do() -> None:
    said = [(todo.what, todo.do) for todo in verdict(runs.extract_run(), NOW).todos]
    assert (
        "https://news.example.com/ was larger than a limit allowed.",
        "Raise maxSitemaps to read all of it.",
    ) in said
    assert any(
        what == "https://closed.example.com/ gave nothing." and "disallows the whole site" in do for what, do in said
    )
    assert any(what == "https://shop.example.com/ was read only in part." for what, _ in said)
    assert any(
        what.startswith("86 URLs without a readable lastmod") and "includeUrlsWithoutLastmod" in do for what, do in said
    )
    assert any(what == "1 entry of the input could not be used." for what, _ in said)


def test_complete_run_has_nothing_to_do() -> None:
    assert verdict(runs.complete_run(), NOW).todos == []


def test_filters_that_leave_out_everything_are_told_apart_from_a_failure() -> None:
    report = runs.complete_run()
    report.counts.saved, report.counts.filtered_older = 0, 20
    judged = verdict(report, NOW)
    assert (judged.tone, judged.label, judged.headline) == (
        "warn",
        "Nothing left to save",
        "No URL saved from docs.apify.com",
    )
    assert "earlier changedSince" in judged.todos[0].do


def test_run_that_read_no_site_is_not_called_complete() -> None:
    report = runs.complete_run()
    report.sites[0].status = SiteStatus.FAILED
    assert verdict(report, NOW).label == "Nothing could be read"


def test_internal_error_is_called_a_failure_whatever_was_saved() -> None:
    report = runs.complete_run()
    report.result = Result.FAILED
    judged = verdict(report, NOW)
    assert (judged.tone, judged.label) == ("bad", "Failed")
    assert "log" in judged.todos[0].do


@pytest.mark.parametrize("reason", list(StopReason))
def test_every_stop_says_what_to_do(reason: StopReason) -> None:
    report = runs.stopped_run()
    report.stop_reason = reason
    judged = verdict(report, NOW)
    assert judged.label == "Stopped early"
    assert judged.todos[0].what == STOPS[reason][0]
    assert judged.todos[0].do == STOPS[reason][1]


def test_held_removals_stand_on_the_first_screen() -> None:
    assert any(
        todo.what == "41 missing pages were not reported as removed." for todo in verdict(runs.monitor_run(), NOW).todos
    )


def test_input_problem_page_names_every_field_and_has_no_empty_parts() -> None:
    document = page(runs.problem_run())
    said = document.text_content()
    assert "'soon' is not a date" in said
    assert "No website to read" in said
    assert [heading.text for heading in document.iter("h2")] == ["Why, and what to do", "Settings"]


# --- the parts


def test_skips_are_grouped_by_reason_in_words_with_what_to_do() -> None:
    said = words(runs.extract_run())
    assert "46 addresses left out with a reason" in said
    assert f"robots.txt disallows it 39 {HINTS[SkipReason.ROBOTS_TXT_DISALLOWED]}" in said
    assert "https://shop.example.com/cart/7" in said
    assert (
        "Found in https://shop.example.com/sitemap_products_1.xml" in said
        or "found in https://shop.example.com/sitemap_products_1.xml" in said
    )


def test_long_lists_say_how_much_they_left_out() -> None:
    report = runs.complete_run()
    for number in range(1_000):
        report.skip(Skip(f"https://docs.apify.com/{number}", None, Stage.URL, SkipReason.INVALID_URL))
    document = page(report)
    shown = len(document.cssselect("#skipped")[0].getparent().getparent().cssselect("ul.list > li"))
    assert 100 < shown < 1_000
    assert f"and {1_000 - shown:,} more in SKIPPED" in document.text_content()


def test_private_and_invalid_addresses_are_no_links() -> None:
    links = page(runs.extract_run()).xpath("//a/@href")
    assert "https://shop.example.com/cart/7" in links
    assert "http://10.0.0.8/admin" not in links
    assert all(
        rel == "noreferrer noopener" for rel in page(runs.extract_run()).xpath("//a[starts-with(@href, 'http')]/@rel")
    )


def test_faults_name_the_clause_and_the_files() -> None:
    document, said = page(runs.extract_run()), words(runs.extract_run())
    assert "Lastmod with a time but no time zone 702 Against XML tag definitions: <lastmod>" in said
    assert "https://www.sitemaps.org/protocol.html#xmlTagDefinitions" in document.xpath("//a/@href")
    assert "https://docs.example.com/sitemap_academy.xml.gz 702" in said


def test_changes_are_shown_by_type_with_both_lastmods() -> None:
    said = words(runs.monitor_run())
    assert "New 12 Pages that were not there before." in said
    assert "https://example.com/docs/page-0 was 2026-03-14 is 2026-11-29T10:00:00Z" in said
    assert "Removed 3 Pages that no sitemap lists any more." in said


def test_held_removals_and_stamps_are_explained() -> None:
    said = words(runs.monitor_run())
    for flag in ("removalsHeld", "stampedLastmod", "lastmodUnreliable"):
        assert FLAGS[flag][0] in said
        assert FLAGS[flag][1] in said
    assert "Pages missing, removal held 41" in said


def test_flag_that_nobody_knows_is_shown_as_it_is() -> None:
    report = runs.monitor_run()
    report.sites[0].extra = {"flags": ["somethingNew", 7], "sitemaps": ["no mapping"], "counts": [1]}
    assert "somethingNew" in words(report)


def test_ledger_adds_up_to_what_was_listed() -> None:
    for report in (runs.extract_run(), runs.monitor_run(), runs.stopped_run()):
        assert sum(share.count for share in ledger(report)) == report.counts.listed


def test_adjustments_tell_what_was_given_and_used() -> None:
    said = words(runs.extract_run())
    assert "maxUrls given: 900,000 ; used: 500,000" in said
    assert "speed is not an input field; ignored." in said


def test_site_being_read_and_its_open_files_are_not_called_skipped() -> None:
    said = words(runs.running_run())
    assert "https://b.example.com/ Being read" in said
    assert "https://b.example.com/sitemap.xml Waiting" in said


# --- lastmod by month


def test_histogram_counts_every_dated_page_once() -> None:
    found = chart.histogram(
        Counter({day(2026, 11, 2): 3, day(2026, 11, 30): 4, day(2025, 1): 5, day(2009, 1): 7, day(2099, 1): 2}), NOW
    )
    assert found is not None
    assert [(bar.label, bar.count) for bar in found.bars] == [("Jan 2025", 5), ("Nov 2026", 7)]
    assert (found.dated, found.earlier, found.later) == (21, 7, 2)
    assert (found.peak, found.peak_label, found.first, found.last) == (7, "Nov 2026", "Dec 2016", "Nov 2026")


def test_histogram_spans_a_year_at_least_and_stays_on_its_canvas() -> None:
    found = chart.histogram(Counter({day(2026, 11): 1}), NOW)
    assert found is not None
    assert (found.first, found.last) == ("Dec 2025", "Nov 2026")
    for bar in found.bars:
        assert bar.x >= 0
        assert bar.x + bar.width <= chart.WIDTH
        assert bar.y > 0


def test_histogram_of_nothing_is_none() -> None:
    assert chart.histogram(Counter(), NOW) is None
    assert chart.histogram(Counter({5: 0}), NOW) is None


@pytest.mark.parametrize("days", [10**12, -(10**12)])
def test_impossible_days_do_not_break_the_histogram(days: int) -> None:
    found = chart.histogram(Counter({days: 2, day(2026, 5): 1}), NOW)
    assert found is not None
    assert found.earlier + found.later == 2


# --- words


def test_every_code_has_its_words() -> None:
    assert set(HINTS) == set(SkipReason)
    assert set(CLAUSES) == set(Fault)
    assert set(SITE_WORDS) == set(SiteStatus)
    assert set(FILE_WORDS) == set(FileStatus)
    assert set(STOPS) == set(StopReason)
    assert all(FLAGS.values())
    assert all(COMPARED.values())


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ("https://example.com/a?b=c#d", "https://example.com/a?b=c#d"),
        ("a\u202eb\u200bc\x00d\ud800", "a⟨U+202E⟩b⟨U+200B⟩c⟨U+0000⟩d⟨U+D800⟩"),
        ("https://example.com/日本語/العربية", "https://example.com/日本語/العربية"),
        ("e\u0301" + "x" + "\u0301" * 500, "e\u0301x\u0301\u0301…"),
    ],
)
def test_hidden_characters_are_written_out(given: str, seen: str) -> None:
    assert text.visible(given) == seen


@pytest.mark.parametrize(
    ("given", "linked"),
    [
        ("https://example.com/a b", True),
        ("HTTP://EXAMPLE.COM", True),
        ("https://example.com/" + "a" * 2_000, False),
        ("javascript:alert(1)", False),
        ("https:/example.com", False),
        ("//example.com/", False),
        ("https://user:secret@example.com/", False),
        ("https://example.com\\@evil.example/", False),
        ("https://example.com/\u202egpj", False),
        ("ftp://example.com/", False),
        (" https://example.com/", False),
    ],
)
def test_only_plain_web_addresses_are_linked(given: str, linked: bool) -> None:
    assert text.address(given).href == (given if linked else None)


def test_long_address_says_how_much_was_cut() -> None:
    found = text.address("https://example.com/" + "a" * 8_000)
    assert (len(found.text), found.cut) == (240, 7_780)


@pytest.mark.parametrize(
    ("given", "said"),
    [(0, "0 bytes"), (1_023, "1,023 bytes"), (1_536, "1.5 KiB"), (52_428_800, "50.0 MiB"), (5 * 1024**3, "5.0 GiB")],
)
def test_sizes_read_well(given: int, said: str) -> None:
    assert text.size(given) == said


@pytest.mark.parametrize(("given", "said"), [(4.21, "4.2 s"), (200.4, "3 min 20 s"), (7_300, "2 h 1 min")])
def test_durations_read_well(given: float, said: str) -> None:
    assert text.duration(given) == said


# --- the file


def test_policy_allows_the_one_style_sheet_by_its_hash_and_nothing_else() -> None:
    document = page(runs.extract_run())
    policy = document.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    style = document.xpath("//style")
    assert len(style) == 1
    digest = base64.b64encode(hashlib.sha256(style[0].text.encode()).digest()).decode()
    assert policy == [f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"]


def test_nothing_is_loaded_and_no_style_stands_in_an_attribute() -> None:
    for build in (runs.extract_run, runs.hostile_run, runs.monitor_run):
        document = page(build())
        assert document.xpath("//@src | //@style | //@srcset | //link | //script | //iframe | //object | //embed") == []


@pytest.mark.parametrize("length", [0, 100, 1_000, 8_000])
def test_page_is_never_larger_than_its_limit(length: int) -> None:
    body = page_bytes(runs.huge_run(length), NOW)
    assert len(body) <= MAX_PAGE_BYTES
    said = body.decode()
    assert re.search(r"and [\d,]+ more in SKIPPED", said)
    assert re.search(r"and [\d,]+ more in the dataset", said)
    assert "SKIPPED lists the first 50,000; 100 more are counted only." in said
    assert said.count('<tbody>\n<tr><th scope="row"><span class="name">') == 1_000 or "more sites in REPORT" in said


def test_shares_are_halved_until_the_page_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    report = runs.huge_run(100)
    whole = len(page_bytes(report, NOW))
    monkeypatch.setattr("sitemap_actor.exporters.page.MAX_PAGE_BYTES", whole // 3)
    assert len(page_bytes(report, NOW)) <= whole // 3


def test_same_report_gives_the_same_page() -> None:
    assert page_bytes(runs.extract_run(), NOW) == page_bytes(runs.extract_run(), NOW)
