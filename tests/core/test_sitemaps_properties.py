"""What holds for every input: nothing raises, nothing is invented, chunk borders and the fast way change nothing."""

import gzip
import html
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitemap_actor.core.sitemaps import xml
from sitemap_actor.core.sitemaps.entries import INVISIBLE
from tests.core.sitemap_tools import IMAGE, NEWS, NS, XHTML, fetch, see, unpack

bounded = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

ROOTS = [
    f"<urlset {NS}>",
    f"<urlset {NS} {IMAGE} {NEWS} {XHTML}>",
    "<urlset>",
    "<urlset><urlset>",
    f'<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9" {IMAGE}>',
    f'<urlset {NS} xmlns:s="https://www.sitemaps.org/schemas/sitemap/0.9">',
    '<urlset xmlns="http://www.google.com/schemas/sitemap-image/1.1">',
    f"<sitemapindex {NS}>",
    "<URLSET>",
]
SOUP = [
    "<url>", "</url>", "<loc>", "</loc>", "<loc/>", "<lastmod>", "</lastmod>", "<changefreq>daily</changefreq>",
    "<priority>0.5</priority>", "<priority>7</priority>", "<sitemap>", "</sitemap>", "<s:url>", "</s:url>",
    "<s:loc>", "</s:loc>",
    "<image:image>", "</image:image>", "<image:loc>", "</image:loc>", "<news:news/>", "<n:x/>", "<LOC>", "</LOC>",
    '<xhtml:link rel="alternate" href="https://e.com/&amp;"/>', '<xhtml:link a="1" a="2"/>', '<a:b c="1" d="2" e="3" f="4"/>',
    '<loc xmlns="http://www.google.com/schemas/sitemap-image/1.1">', '<x xmlns="">', "</x>", "</urlset>", "<urlset>",
    "https://example.com/a", "http://b/?x=1&amp;y=2", "&amp;amp;", "&#38;", "&#x41;", "&lt;", "&bad;", "&", "]]>", "]", "]]",
    "<![CDATA[", "]]>", "<!--", "-->", "<?pi", "?>", "2024-01-01", " ", "\n", "\r\n", "\r", "\t", "  ",
    "\u00a0", "\u200b", "\u00e9",
    "\ufeff", "\x7f", "\u0085", "\ufffe", "\0", "\x01", "x", ">", '"', "'", "=",
]  # fmt: skip

VALUES = st.sampled_from(
    ["https://example.com/a", "https://example.com/?a=1&amp;b=2", " https://example.com/b c\n", "https://example.com/]x>", "",
     "https://example.com/\u00e9\u200b", "2024-01-01", "daily", "0.5", "&lt;&gt;&quot;&apos;", "a]]b",
     "<![CDATA[https://e.com/?a&b]]>",
     "https://e.com/<!-- c -->", "\u00a0x", "x\x7f", "&#65;", "a\rb"]
)  # fmt: skip
NAMES = st.sampled_from(["loc", "lastmod", "changefreq", "priority", "loc", "other", "s:loc", "image:loc", "news:x"])
FIELDS = st.builds(
    lambda name, value, gap: f"{gap}<{name}>{value}</{name}>", NAMES, VALUES, st.sampled_from(["", "\n ", "\r\n"])
)
BLOCKS = st.sampled_from(
    [("<image:image><image:loc>https://i/1.jpg</image:loc><image:title>a ]] b &amp; <![CDATA[c & d]]></image:title>"
     "</image:image>"),
     '<xhtml:link rel="alternate" hreflang="de" href="https://e.com/de"/>', '<xhtml:link rel="a" rel="b"/>', "<mobile:mobile/>",
     "<news:news><news:publication><news:name>N</news:name></news:publication></news:news>", "<a:b><c/></a:b>",
     "<a:b>]]></a:b>",
     "<s:loc>https://e.com/s</s:loc>", "text", "<!-- c -->", "<x:y z='1'/>", '<x:y xmlns:x="u"/>', "<a:b><a:c></a:b></a:c>"]
)  # fmt: skip
ODD_ENTRIES = st.builds(
    lambda name, parts, gap: f"{gap}<{name}>{''.join(parts)}</{name}>",
    st.sampled_from(["url"] * 8 + ["sitemap", "s:url", "URL"]),
    st.lists(st.one_of(FIELDS, FIELDS, FIELDS, BLOCKS), max_size=6),
    st.sampled_from(["", "\n", "<!-- c -->", "text ", "<news:a/>"]),
)
GOOD_BLOCKS = [
    (
        "<image:image><image:loc>https://i/1.jpg</image:loc>"
        "<image:title>a ]] b &amp; <![CDATA[c & d]]></image:title></image:image>"
    ),
    '<xhtml:link rel="alternate" hreflang="de" href="https://e.com/de"/>',
    "<news:news>\n<news:publication><news:name>N</news:name></news:publication></news:news>",
    "<mobile:mobile/>",
]
GOOD_ENTRIES = st.builds(
    lambda loc, fields, gap, end: f"{gap}<url>{gap}<loc>{loc}</loc>{gap}{gap.join(fields)}{end}</url>",
    st.sampled_from(
        ["https://example.com/a", "https://e.com/?a=1&amp;b=2", " https://e.com/b c\n", "https://e.com/]x>",
         "http://e.com/\u00e9"]
    ),
    st.lists(
        st.sampled_from(
            ["<lastmod>2024-01-01</lastmod>", "<lastmod> 2024-01-01 10:00 </lastmod>", "<changefreq>daily</changefreq>",
             "<changefreq/>", "<priority></priority>", "<priority>\n0.5</priority>", *GOOD_BLOCKS]
        ),
        max_size=5,
    ),
    st.sampled_from(["", "\n", " \r\n "]),
    st.sampled_from(["", "\n"]),
)  # fmt: skip
ENTRIES = st.one_of(*[GOOD_ENTRIES] * 5, ODD_ENTRIES)
DOCUMENTS = st.builds(
    lambda head, root, entries, tail: f"{head}{root}{''.join(entries)}{tail}",
    st.sampled_from(["", '<?xml version="1.0"?>\n', "\ufeff\n", "<!-- c -->"]),
    st.sampled_from(ROOTS),
    st.one_of(st.lists(ENTRIES, max_size=12), st.lists(GOOD_ENTRIES, max_size=20)),
    st.sampled_from(
        ["</urlset>", "</urlset>", "</urlset>junk", "", "</sitemapindex>", "</urlset><!-- c -->", "</s:urlset>"]
    ),
)
SOUPS = st.builds(
    lambda root, parts: root + "".join(parts), st.sampled_from(ROOTS), st.lists(st.sampled_from(SOUP), max_size=60)
)
INPUTS = st.one_of(DOCUMENTS, DOCUMENTS, DOCUMENTS, SOUPS).map(lambda text: text.encode("utf-8", "surrogatepass"))


@pytest.fixture(params=[24, 200, 61_440])
def region(request, monkeypatch):
    """Regions so short that small files have many."""
    monkeypatch.setattr(xml, "REGION", request.param)
    return request.param


@bounded
@given(data=INPUTS, extensions=st.sampled_from([frozenset(), frozenset({"images", "news", "alternates"})]))
def test_fast_and_exact_reading_agree(region, data, extensions):
    exact = see(data, fast=False, extensions=extensions)
    fast = see(data, extensions=extensions)
    assert fast.picture() == exact.picture()


@bounded
@given(data=INPUTS, size=st.integers(1, 40))
def test_chunk_borders_change_nothing(region, data, size):
    assert see(data, size=size).picture() == see(data).picture()


@bounded
@given(data=st.one_of(st.binary(max_size=300), INPUTS), size=st.integers(1, 50), packed=st.booleans())
def test_no_bytes_raise(data, size, packed):
    body, _ = unpack(gzip.compress(data) if packed else data, size=size)
    seen = see(body, size=size)
    assert seen.outcome.status in {"ok", "partial", "failed"}
    assert (seen.outcome.status == "ok") == (seen.outcome.reason is None)


@bounded
@given(data=st.builds(lambda mark, text: mark + text, st.sampled_from(
    [b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff", b"<\0", b"\0<", b"<\0\0\0", b"\xef\xbb\xbf",
     b'<?xml version="1.0" encoding="Shift_JIS"?><urlset><url><loc>', b'<?xml version="1.0" encoding="hz"?><urlset><url><loc>',
     b'<?xml version="1.0" encoding="gb18030"?><urlset>']), st.binary(max_size=200)), size=st.integers(1, 9))  # fmt: skip
def test_no_encoding_raises_or_depends_on_chunks(data, size):
    assert see(data, size=size).picture() == see(data).picture()


@bounded
@given(data=DOCUMENTS)
def test_every_url_stands_in_the_input(region, data):
    # Comments and CDATA marks are taken out, references decoded once: what is left is the text that XML says is there.
    plain = re.sub(r"<!--.*?-->", "", data, flags=re.DOTALL).replace("<![CDATA[", "").replace("]]>", "")
    plain = plain.replace("\r\n", "\n").replace("\r", "\n")
    for text in see(data.encode()).locs:
        assert text == text.strip(INVISIBLE)
        assert text in plain or text in html.unescape(plain)


def valid_file(count: int) -> bytes:
    rows = "".join(
        f" <url>\n  <loc>https://example.com/{n}?a=1&amp;b={n}</loc>\n  <lastmod>2024-01-{n % 28 + 1:02d}</lastmod>\n </url>\n"
        for n in range(count)
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {NS}>\n{rows}</urlset>'.encode()


@bounded
@given(at=st.integers(0, len(valid_file(40)) - 1))
def test_a_file_cut_anywhere_gives_a_prefix_and_is_never_ok(region, at):
    whole = see(valid_file(40))
    part = see(valid_file(40)[:at])
    assert whole.verdict == ("ok", None)
    assert part.outcome.status != "ok"
    assert part.rows == whole.rows[: len(part.rows)]
    assert len(part.rows) == valid_file(40)[:at].count(b"</url>")


PACKED = gzip.compress(valid_file(300), mtime=0)


@bounded
@given(at=st.integers(0, len(PACKED) - 1))
def test_a_gzip_cut_anywhere_is_never_whole(at):
    whole = see(valid_file(300))
    part = fetch(PACKED[:at])
    assert part.outcome.status != "ok"
    assert part.rows == whole.rows[: len(part.rows)]


@bounded
@given(at=st.integers(10, len(PACKED) - 1), bit=st.integers(0, 7), size=st.integers(1, 2_000))
def test_a_gzip_with_a_flipped_bit_is_never_whole(at, bit, size):
    broken = bytearray(PACKED)
    broken[at] ^= 1 << bit
    _, unpacker = unpack(bytes(broken), size=size)
    assert unpacker.damaged


@bounded
@given(
    data=st.binary(max_size=3_000),
    cuts=st.integers(1, 400),
    layers=st.integers(0, 2),
    coding=st.sampled_from([None, "gzip"]),
)
def test_unpacking_does_not_depend_on_chunks(data, cuts, layers, coding):
    packed = data
    for _ in range(layers + (coding is not None)):
        packed = gzip.compress(packed, mtime=0)
    once, many = unpack(packed, coding), unpack(packed, coding, size=cuts)
    assert once[0] == many[0]
    assert [getattr(each[1], name) for each in (once, many) for name in ("layers", "damaged", "unsupported", "faults")][
        :4
    ] == [getattr(many[1], name) for name in ("layers", "damaged", "unsupported", "faults")]
    if once[1].unsupported is None and once[1].layers == layers and not data.startswith(b"\x1f\x8b"):
        assert once[0] == data
