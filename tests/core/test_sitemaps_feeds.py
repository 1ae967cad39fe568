"""RSS and Atom as rolling sitemaps (faults.md, X34)."""

import pytest

from sitemap_actor.core.reasons import SkipReason
from tests.core.sitemap_tools import see

OK = ("ok", None)


def rss(*items: str, root: str = '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">') -> str:
    head = "<title>T</title><link>https://example.com/</link><pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate>"
    return f"{root}<channel>{head}{''.join(f'<item>{item}</item>' for item in items)}</channel></rss>"


def atom(*entries: str) -> str:
    head = '<link href="https://example.com/"/><updated>2024-01-01T00:00:00Z</updated>'
    body = "".join(f"<entry>{entry}</entry>" for entry in entries)
    return f'<feed xmlns="http://www.w3.org/2005/Atom">{head}{body}</feed>'


def test_X34_rss_gives_link_and_pubdate():
    seen = see(
        rss(
            "<link>https://example.com/1</link><pubDate>Tue, 02 Jan 2024 03:04:05 GMT</pubDate>",
            "<link>/2?a=1&amp;b</link>",
        )
    )
    assert seen.rows == [
        ("https://example.com/1", "Tue, 02 Jan 2024 03:04:05 GMT", None, None),
        ("/2?a=1&b", None, None, None),
    ]
    assert (seen.verdict, str(seen.outcome.kind), seen.outcome.rolling, seen.faults) == (OK, "rss", True, {})


@pytest.mark.parametrize("size", [None, 1])
def test_X34_guid_stands_in_only_as_a_permalink(size):
    seen = see(
        rss(
            "<guid>https://example.com/1</guid>",
            '<guid isPermaLink="true">https://example.com/2</guid><link/>',
            '<guid isPermaLink="false">https://example.com/3</guid>',
            "<guid>tag:example.com,2024:4</guid>",
            "<guid>https://example.com/5</guid><link>https://example.com/6</link>",
        ),
        size=size,
    )
    assert seen.locs == ["https://example.com/1", "https://example.com/2", "https://example.com/6"]
    assert seen.faults == {"empty_loc": 2}


def test_X34_atom_link_inside_an_rss_item_is_not_its_link():
    other = '<atom:link rel="self" href="https://example.com/self"/><link xmlns="http://www.w3.org/2005/Atom">https://example.com/x</link>'
    seen = see(
        rss(f"{other}<media:group><link>https://example.com/m</link></media:group><link>https://example.com/1</link>")
    )
    assert seen.locs == ["https://example.com/1"]


def test_X34_of_several_atom_links_the_alternate_one():
    seen = see(
        atom(
            '<link rel="self" href="https://example.com/self"/><link rel="enclosure" href="https://example.com/e"/>'
            '<link rel="alternate" href="https://example.com/1"/><link rel="alternate" href="https://example.com/1b"/>'
            "<updated>2024-01-02T00:00:00Z</updated><published>2023-01-01T00:00:00Z</published>",
            '<link href="/2"/><published>2023-02-02T00:00:00Z</published>',
            '<link rel="self" href="https://example.com/3"/>',
        )
    )
    assert seen.rows == [
        ("https://example.com/1", "2024-01-02T00:00:00Z", None, None),
        ("/2", "2023-02-02T00:00:00Z", None, None),
    ]
    assert (seen.verdict, str(seen.outcome.kind), seen.outcome.rolling) == (OK, "atom", True)
    assert seen.faults == {"empty_loc": 1}


def test_X34_links_inside_an_entry_s_content_or_source_are_not_its_own():
    inner = '<source><link href="https://example.com/s"/></source><content type="xhtml"><link href="https://example.com/c"/></content>'
    assert see(atom(f'{inner}<link href="https://example.com/1"/>')).locs == ["https://example.com/1"]


def test_X34_rss_1_0():
    feed = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><link>https://example.com/</link></channel>'
        '<item rdf:about="https://example.com/1"><link>https://example.com/1</link><dc:date>2024-01-02</dc:date></item></rdf:RDF>'
    )
    seen = see(feed, content_type="application/rdf+xml")
    assert (seen.verdict, seen.rows, seen.faults) == (OK, [("https://example.com/1", "2024-01-02", None, None)], {})
    assert (str(seen.outcome.kind), seen.outcome.rolling) == ("rss", True)


def test_X34_cdata_and_white_space_in_feeds():
    seen = see(rss("<link>\n<![CDATA[https://example.com/?a&b]]>\n</link><pubDate/>"))
    assert seen.rows == [("https://example.com/?a&b", None, None, None)]


def test_a_broken_feed_keeps_the_items_before():
    seen = see(rss("<link>https://example.com/1</link>", "<link>https://example.com/?a&b</link>"))
    assert (seen.verdict, seen.locs) == (("partial", SkipReason.MALFORMED), ["https://example.com/1"])


def test_a_feed_with_a_doctype_is_refused():
    assert see("<!DOCTYPE rss>" + rss()).verdict == ("failed", SkipReason.UNSAFE_XML)


def test_a_link_with_an_element_inside_is_none():
    assert see(rss("<link>https://example.com/<b/>x</link>")).rows == []


def test_extensions_asked_for_leave_feeds_alone():
    seen = see(rss("<link>https://example.com/1</link>"), extensions={"images"})
    assert seen.extras == [None]


def test_an_empty_feed_is_ok():
    assert see(rss()).verdict == see(atom()).verdict == OK
