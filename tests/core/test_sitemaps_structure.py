"""How entries and files are put together (faults.md, S and L as far as the reader sees them)."""

import pytest

from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.core.sitemaps import Entries
from tests.core.sitemap_tools import NS, see, urlset

A, B, C = "https://example.com/a", "https://example.com/b", "https://example.com/c"
OK = ("ok", None)


def index(body: str, attributes: str = NS) -> str:
    return f"<sitemapindex {attributes}>{body}</sitemapindex>"


def test_index_gives_children_with_their_lastmod():
    seen = see(index(f"<sitemap><loc>{A}</loc><lastmod>2024</lastmod></sitemap><sitemap><loc> {B}\n</loc></sitemap>"))
    assert (seen.verdict, seen.children, seen.rows, seen.faults) == (OK, [(A, "2024"), (B, None)], [], {})
    assert (str(seen.outcome.kind), seen.outcome.children, seen.outcome.entries) == ("index", 2, 0)


def test_S01_index_that_lists_itself_is_read_as_it_stands():
    own = "https://example.com/s"
    assert see(index(f"<sitemap><loc>{own}</loc></sitemap>")).children == [(own, None)]


def test_S04_index_in_index_is_one_level():
    seen = see(index(index(f"<sitemap><loc>{A}</loc></sitemap>") + f"<sitemap><loc>{B}</loc></sitemap>"))
    assert (seen.verdict, seen.children, seen.faults) == (OK, [(A, None), (B, None)], {})


def test_S06_sitemap_inside_a_urlset_is_a_child_and_no_row():
    seen = see(
        f"<urlset {NS}><sitemap><loc>{A}</loc><lastmod>2024</lastmod></sitemap><url><loc>{B}</loc></url></urlset>"
    )
    assert (seen.verdict, seen.locs, seen.children) == (OK, [B], [(A, "2024")])
    assert (seen.faults, str(seen.outcome.kind)) == ({"mixed_index_urlset": 1}, "urlset")


def test_S06_url_inside_an_index_is_a_row():
    seen = see(index(f"<url><loc>{A}</loc></url><sitemap><loc>{B}</loc></sitemap><url><loc>{C}</loc></url>"))
    assert (seen.locs, seen.children, seen.faults) == ([A, C], [(B, None)], {"mixed_index_urlset": 2})


@pytest.mark.parametrize(
    "text", [A, f"\n  {A}\n", f"<![CDATA[{A}]]>", f"{A}<lastmod>2024</lastmod>", f"<lastmod>2024</lastmod>{A}"]
)
def test_S07_index_entry_without_loc(text):
    seen = see(index(f"<sitemap>{text}</sitemap>"))
    assert seen.children == [(A, "2024" if "lastmod" in text else None)]
    assert (seen.verdict, seen.faults) == (OK, {"empty_loc": 1})


@pytest.mark.parametrize(
    "text", ["", "/s.xml", "read https://example.com/a", f"{A} {B}", f"<x/>{A[:10]}<y/> x", f"<x>{A}</x>"]
)
def test_S07_anything_but_one_absolute_url_is_no_child(text):
    seen = see(index(f"<sitemap>{text}</sitemap>"))
    assert (seen.children, seen.faults) == ([], {"empty_loc": 1})


def test_S07_text_beside_a_loc_is_nothing():
    assert see(index(f"<sitemap>{B}<loc>{A}</loc>{B}</sitemap>")).children == [(A, None)]
    assert see(urlset().replace("></urlset>", f"><url>{A}</url></urlset>")).rows == []


def test_S08_sitemap_files_listed_as_pages_are_rows():
    assert see(urlset("https://example.com/sitemap.xml")).locs == ["https://example.com/sitemap.xml"]


def test_S09_child_with_a_query_string():
    child = "https://example.com/sitemap_products_1.xml?from=1&amp;to=2"
    assert see(index(f"<sitemap><loc>{child}</loc></sitemap>")).children == [(child.replace("&amp;", "&"), None)]


@pytest.mark.parametrize(
    ("content_type", "fits"),
    [
        ("text/html", False),
        ("text/html; charset=utf-8", False),
        ("text/plain", False),
        ("application/json", False),
        ("application/xml", True),
        ("Text/XML; charset=UTF-8", True),
        ("application/rss+xml", True),
        ("application/x-gzip", True),
        ("binary/octet-stream", True),
        (None, True),
    ],
)
def test_S10_xml_is_read_whatever_its_content_type(content_type, fits):
    seen = see(urlset(A), content_type=content_type)
    assert (seen.verdict, seen.locs) == (OK, [A])
    assert seen.faults == ({} if fits else {"wrong_content_type": 1})


def test_S10_text_wants_text_plain():
    assert see(A, content_type="text/plain; charset=utf-8").faults == {}
    assert see(A, content_type="application/xml").faults == {"wrong_content_type": 1}


def test_S11_more_than_50000_entries_are_all_read_and_noted():
    pages = [f"https://example.com/{number}" for number in range(50_001)]
    seen = see(urlset(*pages))
    assert (seen.verdict, seen.locs, seen.faults) == (OK, pages, {"over_50000_entries": 1})
    assert see(urlset(*pages[:-1])).faults == {}
    assert see("\n".join(pages)).faults == {"over_50000_entries": 1}


def test_batches_hold_at_most_1000_entries():
    for data in (urlset(*[A] * 2_500), "\n".join([A] * 2_500)):
        for fast in (True, False):
            sizes = [len(batch.locs) for batch in see(data, fast=fast).batches]
            assert sizes == [1_000, 1_000, 500]
    children = index(f"<sitemap><loc>{A}</loc></sitemap>" * 2_500)
    assert [len(batch.children) for batch in see(children).batches] == [1_000, 1_000, 500]


@pytest.mark.parametrize("root", ["urlset", "sitemapindex"])
@pytest.mark.parametrize(
    "body", ["<{} {}></{}>", "<{} {}/><!--{}-->", "<?xml version='1.0'?>\n<{} {}> \n<!-- none -->\n</{}>"]
)
def test_S17_empty_urlset_or_index_is_ok(root, body):
    seen = see(body.format(root, NS, root))
    assert (seen.verdict, seen.outcome.entries, seen.outcome.children, seen.batches) == (OK, 0, 0, [])
    assert str(seen.outcome.kind) == ("urlset" if root == "urlset" else "index")


def test_L01_white_space_around_every_value():
    fields = "<lastmod>\n 2024 </lastmod><changefreq>\tdaily\r\n</changefreq><priority> 0.5 </priority>"
    seen = see(f"<urlset {NS}><url>\n<loc>\n  {A}\n </loc>{fields}</url></urlset>")
    assert seen.rows == [(A, "2024", "daily", "0.5")]


@pytest.mark.parametrize("loc", ["<loc></loc>", "<loc/>", "", "<loc> \n\u200b</loc>", "<loc><![CDATA[ ]]></loc>"])
def test_L03_empty_loc_is_counted_and_gives_no_row(loc):
    seen = see(
        f"<urlset {NS}><url><loc>{A}</loc></url><url>{loc}<lastmod>2024</lastmod></url><url><loc>{B}</loc></url></urlset>"
    )
    assert (seen.verdict, seen.locs, seen.faults) == (OK, [A, B], {"empty_loc": 1})


def test_the_first_loc_counts_and_more_are_noted():
    seen = see(f"<urlset {NS}><url><loc>{A}</loc><loc>{B}</loc><loc>{C}</loc></url></urlset>")
    assert (seen.locs, seen.faults) == ([A], {"extra_loc": 2})


def test_the_first_value_of_a_field_counts():
    seen = see(f"<urlset {NS}><url><lastmod/><lastmod>1</lastmod><lastmod>2</lastmod><loc>{A}</loc></url></urlset>")
    assert seen.rows == [(A, "1", None, None)]


def test_nothing_is_resolved_or_judged():
    odd = [
        "/a",
        "//example.com/a",
        "example.com/a",
        "javascript:x",
        "https://u:p@e.com/",
        "https://e.com/ver%25C3%25B6ff",
        "HTTP://E.com/SiteMap_A",
    ]
    assert see(urlset(*odd)).locs == odd


def test_bad_priority_and_changefreq_are_counted_and_kept():
    priorities = ["0.5", "1.0", "0", "1", ".5", "0.85", "00.5", "1.1", "-0.1", "high", "0,5", "5", "1.01", "0.5e0"]
    frequencies = ["always", "hourly", "daily", "weekly", "monthly", "yearly", "never", "Daily", "often", "biweekly"]
    for column, name, bad in ((priorities, "priority", 7), (frequencies, "changefreq", 3)):
        body = "".join(f"<url><loc>{A}</loc><{name}>{value}</{name}></url>" for value in column)
        for fast in (True, False):
            seen = see(f"<urlset {NS}>{body}</urlset>", fast=fast)
            assert seen.faults == {f"bad_{name}": bad}
            assert [row[3] or row[2] for row in seen.rows] == column


def test_news_in_use_makes_a_file_rolling_and_declared_only_does_not():
    news = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
    other = news.replace("xmlns:news", "xmlns:n")
    page = f"<url><loc>{A}</loc>{{}}</url>"
    for fast in (True, False):
        assert not see(f"<urlset {NS} {news}>{page.format('')}</urlset>", fast=fast).outcome.rolling
        assert see(f"<urlset {NS} {news}>{page.format('<news:news/>')}</urlset>", fast=fast).outcome.rolling
        assert see(f"<urlset {NS}>{page.format('<news:news/>')}</urlset>", fast=fast).outcome.rolling
        assert see(
            f"<urlset {NS} {other}>{page.format('<n:news><n:name>x</n:name></n:news>')}</urlset>", fast=fast
        ).outcome.rolling
        assert not see(f"<urlset {NS} {other}>{page.format('<m:news/>')}</urlset>", fast=fast).outcome.rolling


def test_entries_are_empty_columns_by_default():
    assert Entries() == Entries([], [], [], [], None, [], [])


def test_text_sitemap_has_no_dates():
    assert see(f"{A}\n{B}\n").rows == [(A, None, None, None), (B, None, None, None)]


def test_a_failed_file_gives_no_rows_even_where_it_had_some():
    for size in (None, 10):
        seen = see(f"{A}\nx\ny\nz\n", size=size)
        assert (seen.verdict, seen.rows) == (("failed", SkipReason.UNSUPPORTED_FORMAT), [])
