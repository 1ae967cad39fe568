"""The extension fields: objects as the sitemap gives them, only where they were asked for."""

import pytest

from tests.core.sitemap_tools import IMAGE, NEWS, NS, VIDEO, XHTML, see

A = "https://example.com/a"
ALL = {"alternates", "images", "videos", "news"}


def extras(body: str, wanted: set[str] = ALL, declared: str = f"{NS} {IMAGE} {VIDEO} {NEWS} {XHTML}") -> dict | None:
    seen = see(f"<urlset {declared}><url><loc>{A}</loc>{body}</url></urlset>", extensions=wanted)
    assert seen.verdict == ("ok", None)
    assert seen.locs == [A]
    return seen.extras[0]


def test_alternates():
    body = (
        '<xhtml:link rel="alternate" hreflang="de" href="https://example.com/de?a&amp;b"/>'
        '<xhtml:link rel="alternate" media="only screen and (max-width: 640px)" href=" https://m.example.com/ "></xhtml:link>'
        '<xhtml:link rel="canonical" href="https://example.com/c"/>'
    )
    assert extras(body) == {
        "alternates": [
            {"hreflang": "de", "href": "https://example.com/de?a&b"},
            {"media": "only screen and (max-width: 640px)", "href": "https://m.example.com/"},
        ]
    }


def test_images():
    body = (
        "<image:image>\n<image:loc> https://i/1.jpg </image:loc><image:title><![CDATA[A & B]]></image:title></image:image>"
        "<image:image><image:loc>https://i/2.jpg</image:loc></image:image>"
    )
    assert extras(body) == {"images": [{"loc": "https://i/1.jpg", "title": "A & B"}, {"loc": "https://i/2.jpg"}]}


def test_image_loc_without_its_image_element():
    assert extras("<image:loc>https://i/1.jpg</image:loc>") == {"images": [{"loc": "https://i/1.jpg"}]}


def test_videos_with_repeated_children_and_attributes():
    body = (
        "<video:video><video:title>T</video:title><video:tag>a</video:tag><video:tag>b</video:tag><video:tag>c</video:tag>"
        '<video:price currency="EUR">1.99</video:price><video:tvshow><video:show_title>S</video:show_title></video:tvshow>'
        "<image:image><image:loc>https://i/no.jpg</image:loc></image:image></video:video>"
    )
    assert extras(body) == {
        "videos": [
            {
                "title": "T",
                "tag": ["a", "b", "c"],
                "price": {"value": "1.99", "currency": "EUR"},
                "tvshow": {"show_title": "S"},
            }
        ]
    }


def test_news():
    body = (
        "<news:news><news:publication><news:name>N</news:name><news:language>en</news:language></news:publication>"
        "<news:publication_date>2024-01-01</news:publication_date><news:title>A &amp; B</news:title></news:news>"
    )
    assert extras(body) == {
        "news": [{"publication": {"name": "N", "language": "en"}, "publication_date": "2024-01-01", "title": "A & B"}]
    }


MIXED = (
    "<image:image><image:loc>https://i/1.jpg</image:loc></image:image><news:news><news:title>t</news:title></news:news>"
)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"images"}, {"images": [{"loc": "https://i/1.jpg"}]}),
        ({"news"}, {"news": [{"title": "t"}]}),
        ({"videos"}, None),
    ],
)
def test_only_what_was_asked_for(wanted, expected):
    assert extras(MIXED, wanted) == expected


def test_not_asked_for_there_is_no_column():
    seen = see(f"<urlset {NS}><url><loc>{A}</loc>{MIXED}</url></urlset>")
    assert seen.batches[0].extras is None


def test_undeclared_and_renamed_prefixes():
    assert extras(MIXED, {"images"}, NS) == {"images": [{"loc": "https://i/1.jpg"}]}
    other = 'xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"'
    assert extras("<i:image><i:loc>x</i:loc></i:image>", {"images"}, f"{NS} {other}") == {"images": [{"loc": "x"}]}
    own = '<image xmlns="http://www.google.com/schemas/sitemap-image/1.1"><loc>x</loc></image>'
    assert extras(own, {"images"}) == {"images": [{"loc": "x"}]}


def test_text_broken_up_by_elements_is_not_put_together():
    body = "<image:image><image:loc>x</image:loc><image:caption>a <b>b</b> c</image:caption></image:image>"
    assert extras(body) == {"images": [{"loc": "x"}]}


def test_objects_belong_to_their_entry():
    page = "<url><loc>https://example.com/{}</loc>{}</url>"
    body = page.format(1, MIXED) + page.format(2, "") + page.format(3, MIXED)
    seen = see(f"<urlset {NS}>{body}</urlset>", extensions={"images"})
    assert seen.extras == [{"images": [{"loc": "https://i/1.jpg"}]}, None, {"images": [{"loc": "https://i/1.jpg"}]}]


def test_one_entry_s_objects_are_bounded():
    picture = f"<image:image><image:loc>https://i/{'x' * 1_000}</image:loc></image:image>"
    found = extras(picture * 2_000)
    assert 200 < len(found["images"]) < 300


def test_heavy_entries_come_in_smaller_batches():
    picture = f"<image:image><image:loc>https://i/{'x' * 1_000}</image:loc></image:image>" * 100
    page = f"<url><loc>{A}</loc>{picture}</url>"
    seen = see(f"<urlset {NS}>{page * 200}</urlset>", extensions={"images"})
    assert len(seen.rows) == 200
    assert max(len(batch.locs) for batch in seen.batches) <= 50
