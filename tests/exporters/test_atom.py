"""CHANGES.atom: valid Atom 1.0 that shows each change once."""

import re

import feedparser
import pytest
from lxml import etree

from sitemap_actor.core.reasons import ChangeType
from sitemap_actor.core.report import RunReport
from sitemap_actor.exporters.atom import MAX_ENTRIES, atom_bytes
from tests.page import runs
from tests.page.runs import NOW, change

ATOM = "{http://www.w3.org/2005/Atom}"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def feed(report: RunReport) -> etree._Element:
    body = atom_bytes(report, NOW)
    assert body is not None
    return etree.fromstring(body)


def monitor(*rows: dict[str, object]) -> RunReport:
    report = runs.started(mode="monitor", sites=["https://example.com"])
    report.changes = list(rows)
    return report


def ids(report: RunReport) -> list[str]:
    return [entry.findtext(f"{ATOM}id", "") for entry in feed(report).iter(f"{ATOM}entry")]


def test_there_is_no_feed_outside_monitor_mode() -> None:
    assert atom_bytes(runs.extract_run(), NOW) is None
    assert atom_bytes(runs.problem_run(), NOW) is None


def test_feed_reader_finds_nothing_wrong_and_every_new_and_modified_page() -> None:
    read = feedparser.parse(atom_bytes(runs.monitor_run(), NOW))
    assert read.bozo is False
    assert read.version == "atom10"
    assert len(read.entries) == 17
    assert {entry.link for entry in read.entries} == {
        row["url"] for row in runs.monitor_run().changes if row["changeType"] != "removed"
    }
    assert {tag.term for entry in read.entries for tag in entry.tags} == {"new", "modified"}


@pytest.mark.parametrize(
    "report", [monitor(), runs.monitor_run(), runs.hostile_run()], ids=["empty", "monitor", "hostile"]
)
def test_required_elements_are_there_once_and_in_their_form(report: RunReport) -> None:
    report.job = monitor().job
    root = feed(report)
    assert root.tag == f"{ATOM}feed"
    assert len(root.findall(f"{ATOM}author/{ATOM}name")) == 1
    for element in (root, *root.iter(f"{ATOM}entry")):
        for name in ("id", "title", "updated"):
            assert len(element.findall(f"{ATOM}{name}")) == 1, name
            assert element.findtext(f"{ATOM}{name}")
        assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", element.findtext(f"{ATOM}id") or "")
        assert TIME.fullmatch(element.findtext(f"{ATOM}updated") or "")
    for entry in root.iter(f"{ATOM}entry"):
        links = entry.findall(f"{ATOM}link")
        assert len(links) == 1
        assert links[0].get("href", "").startswith(("http://", "https://"))
        assert re.fullmatch(r"[!-~]+", links[0].get("href", ""))
        assert len(entry.findall(f"{ATOM}category")) == 1
        assert entry.findtext(f"{ATOM}summary")
    assert len(set(ids(report))) == len(ids(report))


def test_ids_stay_when_the_records_are_written_again() -> None:
    assert ids(runs.monitor_run()) == ids(runs.monitor_run())
    first = atom_bytes(runs.monitor_run(), NOW)
    later = atom_bytes(runs.monitor_run(), NOW + 30)
    assert first is not None
    assert later is not None
    assert re.findall(b"urn:uuid:[^<]+", first) == re.findall(b"urn:uuid:[^<]+", later)


def test_a_later_change_of_the_same_page_is_another_entry() -> None:
    page = "https://example.com/a"
    told = [
        change(ChangeType.NEW, page, firstSeenAt="2026-11-01T00:00:00Z"),
        change(ChangeType.NEW, page, firstSeenAt="2026-11-20T00:00:00Z"),
        change(ChangeType.MODIFIED, page, lastmod="2026-11-21", previousLastmod="2026-11-20"),
        change(ChangeType.MODIFIED, page, lastmod="2026-11-22", previousLastmod="2026-11-21"),
    ]
    assert len({identity for row in told for identity in ids(monitor(row))}) == 4


def test_delivery_of_the_same_change_again_has_the_same_id() -> None:
    first = change(ChangeType.MODIFIED, "https://example.com/a", lastmod="2026-11-21", previousLastmod="2026-11-20")
    again = first | {"fetchedAt": "2026-12-01T09:00:00Z"}
    assert ids(monitor(first)) == ids(monitor(again))


def test_only_the_newest_entries_are_kept_and_the_newest_stands_first() -> None:
    dates = [f"2026-{1 + number % 11:02}-{1 + number % 28:02}T{number % 24:02}:00:00Z" for number in range(900)]
    rows = [change(ChangeType.NEW, f"https://example.com/{number}", lastmod=date) for number, date in enumerate(dates)]
    entries = list(feed(monitor(*rows)).iter(f"{ATOM}entry"))
    assert len(entries) == MAX_ENTRIES
    kept = [re.search(r"lastmod ([^)]+)", entry.findtext(f"{ATOM}summary", ""))[1] for entry in entries]  # type: ignore[index]
    assert kept == sorted(dates, reverse=True)[:MAX_ENTRIES]


def test_lastmod_in_the_future_does_not_push_others_out() -> None:
    rows = [
        change(ChangeType.NEW, f"https://example.com/f{number}", lastmod="2999-01-01") for number in range(MAX_ENTRIES)
    ]
    rows.insert(0, change(ChangeType.NEW, "https://example.com/today"))
    assert ids(monitor(*rows))[0] == ids(monitor(rows[0]))[0]


def test_hostile_text_stays_text() -> None:
    row = change(
        ChangeType.MODIFIED, 'https://example.com/<b>&"\x00\x1b', lastmod="]]><x/>\x0b", previousLastmod="&amp;"
    )
    entry = feed(monitor(row)).find(f"{ATOM}entry")
    assert entry is not None
    assert entry.findtext(f"{ATOM}title") == 'Modified: /<b>&"'
    assert entry.findtext(f"{ATOM}summary") == "The page's lastmod was &amp; and is now ]]><x/>."


def test_page_that_is_no_web_address_is_left_out() -> None:
    assert ids(monitor(change(ChangeType.NEW, "javascript:alert(1)"))) == []
