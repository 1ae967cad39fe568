"""What XML sitemaps really look like (faults.md, X): rows, status, reason and faults, each exactly."""

import gzip

import pytest

from sitemap_actor.core.reasons import SkipReason
from tests.core.sitemap_tools import IMAGE, NEWS, NS, VIDEO, XHTML, fetch, see, urlset

A, B, C = "https://example.com/a", "https://example.com/b", "https://example.com/c"
OK = ("ok", None)
BROKEN = ("partial", SkipReason.MALFORMED)


def entry(loc: str, rest: str = "") -> str:
    return f"<url><loc>{loc}</loc>{rest}</url>"


def root(body: str, attributes: str = NS) -> str:
    return f"<urlset {attributes}>{body}</urlset>"


@pytest.mark.parametrize("front", ["\n\n", " \t\r\n" * 50_000])
def test_X01_blank_lines_before_the_declaration(front):
    seen = see(front + urlset(A))
    assert (seen.verdict, seen.locs, seen.faults) == (OK, [A], {})


@pytest.mark.parametrize("front", [b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b"\n\xef\xbb\xbf\n\xef\xbb\xbf"])
def test_X02_byte_order_mark_and_white_space(front):
    for seen in (see(front + urlset(A).encode()), fetch(gzip.compress(front + urlset(A).encode()))):
        assert (seen.verdict, seen.locs, seen.faults) == (OK, [A], {})


@pytest.mark.parametrize(
    "junk",
    [
        "<!-- cached by plugin -->",
        "\n<!-- a -->\n<!-- b --> ",
        "Warning: mysql_connect() in /var/www/x.php on line 3\n",
        "<br />\n<b>Notice</b>: Undefined index in <b>x.php</b> on line <b>3</b><br />\n",
        "x" * 65_000,
    ],
)
def test_X03_junk_before_the_declaration_is_skipped_and_noted(junk):
    seen = see(junk + urlset(A))
    assert (seen.verdict, seen.locs, seen.faults) == (OK, [A], {"leading_junk": 1})


def test_X03_a_comment_without_declaration_is_plain_xml():
    seen = see(f"<!-- c --><?foo bar?>{root(entry(A))}")
    assert (seen.verdict, seen.locs, seen.faults) == (OK, [A], {})


def test_X03_too_much_junk_is_no_sitemap():
    seen = see("x" * 70_000 + urlset(A))
    assert seen.verdict == ("failed", SkipReason.UNSUPPORTED_FORMAT)


@pytest.mark.parametrize("page", ["<!DOCTYPE html><p>", "text <html lang='en'> ", "<!-- c --><HTML>"])
def test_X03_a_page_before_the_declaration_is_a_page(page):
    assert see(page + urlset(A)).verdict == ("failed", SkipReason.UNSUPPORTED_FORMAT)


def test_X03_lines_are_counted_from_the_file_s_first():
    seen = see("\n\nWarning!\n" + urlset(A).replace("</urlset>", "\n&\n</urlset>"))
    assert seen.verdict == BROKEN
    assert seen.outcome.detail.endswith("at line 6")


@pytest.mark.parametrize("named", ["utf-16", "UTF-32", "ISO-10646-UCS-2", "cp037"])
def test_X05_a_declaration_that_the_bytes_contradict_is_ignored(named):
    seen = see(urlset("https://example.com/é").replace("UTF-8", named))
    assert (seen.verdict, seen.locs, seen.faults) == (OK, ["https://example.com/é"], {"encoding_mismatch": 1})


@pytest.mark.parametrize("codec", ["utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_X06_wide_encodings_are_read_and_noted(codec):
    seen = see(urlset("https://example.com/é", A).encode(codec))
    assert (seen.verdict, seen.locs, seen.faults) == (OK, ["https://example.com/é", A], {"encoding_mismatch": 1})


def test_X06_wide_encoding_cut_in_a_character_is_not_whole():
    seen = see(urlset(A, B).replace("</urlset>\n", "").encode("utf-16")[:-1])
    assert (seen.verdict, seen.locs) == (BROKEN, [A])


@pytest.mark.parametrize(
    ("declared", "codec"),
    [
        ("ISO-8859-1", "latin-1"),
        ("windows-1251", "cp1251"),
        ("Shift_JIS", "shift_jis"),
        ("GBK", "gbk"),
        ("EUC-KR", "euc_kr"),
    ],
)
def test_declared_encodings_are_decoded(declared, codec):
    page = {"latin-1": "é", "cp1251": "ж", "shift_jis": "表ソ", "gbk": "中", "euc_kr": "한"}[codec]
    seen = see(urlset(A, f"https://example.com/{page}", B).replace("UTF-8", declared).encode(codec))
    assert (seen.verdict, seen.locs, seen.faults) == (OK, [A, f"https://example.com/{page}", B], {})


def test_declared_encoding_that_the_bytes_break_ends_the_file_there():
    data = urlset(A, "https://example.com/表", B).replace("UTF-8", "Shift_JIS").encode("shift_jis")
    seen = see(data.replace(b"\x95\x5c", b"\x95\x01"))
    assert (seen.verdict, seen.locs) == (BROKEN, [A])
    assert "shift_jis" in seen.outcome.detail


@pytest.mark.parametrize(
    "name", ["x-user-defined", "rot13", "base64", "unicode_escape", "utf-7", "idna", "nonsense", "punycode"]
)
def test_unknown_encoding_is_refused(name):
    seen = see(urlset(A).replace("UTF-8", name))
    assert seen.verdict == ("failed", SkipReason.UNSUPPORTED_ENCODING)
    assert name in seen.outcome.detail


def test_http_charset_counts_only_without_a_declaration():
    bare = urlset("https://example.com/é").replace(' encoding="UTF-8"', "")
    seen = see(bare.encode("latin-1"), content_type="text/xml; charset=iso-8859-1")
    assert (seen.verdict, seen.locs, seen.faults) == (OK, ["https://example.com/é"], {})
    seen = see(urlset("https://example.com/é"), content_type='application/xml; charset="iso-8859-1"')
    assert (seen.locs, seen.faults) == (["https://example.com/é"], {"encoding_mismatch": 1})


def test_http_charset_that_the_bytes_contradict_is_ignored():
    bare = urlset("https://example.com/é").replace(' encoding="UTF-8"', "")
    seen = see(bare, content_type="text/xml; charset=iso-8859-1")
    assert (seen.verdict, seen.locs, seen.faults) == (OK, ["https://example.com/é"], {"encoding_mismatch": 1})


def test_X08_one_bad_byte_ends_the_file_before_its_entry():
    seen = see(urlset(A, "https://example.com/X", C).encode().replace(b"/X", b"/\xe9"))
    assert (seen.verdict, seen.locs) == (BROKEN, [A])
    assert seen.outcome.detail == "not well-formed (invalid token) at line 2"


def test_X10_bare_ampersand_ends_the_file_before_its_entry():
    seen = see(urlset(A, "https://example.com/?a=1&b=2", C))
    assert (seen.verdict, seen.locs) == (BROKEN, [A])
    seen = see(urlset("https://example.com/?a=1&b=2"))
    assert (seen.verdict, seen.locs) == (BROKEN, [])


def test_X11_entity_that_xml_does_not_know():
    seen = see(urlset(A, "https://example.com/1&Acirc;&ordm;-x", C))
    assert (seen.verdict, seen.locs) == (BROKEN, [A])
    assert seen.outcome.detail == "undefined entity at line 2"


def test_X12_entities_are_decoded_once():
    seen = see(urlset("https://example.com/?a=1&amp;b=&lt;&gt;&quot;&apos;", "https://example.com/&#63;&#x61;=1"))
    assert seen.locs == ["https://example.com/?a=1&b=<>\"'", "https://example.com/?a=1"]


def test_X13_double_escaped_ampersand_is_decoded_once():
    assert see(urlset("https://example.com/?a=1&amp;amp;b=2", "https://e.com/?&amp;lt;")).locs == [
        "https://example.com/?a=1&amp;b=2",
        "https://e.com/?&lt;",
    ]


def test_X15_cdata_is_plain_text():
    seen = see(
        urlset(
            "<![CDATA[https://example.com/?a=1&b=2&amp;c]]>",
            "<![CDATA[\n  https://example.com/b\n]]>",
            f"{A}<![CDATA[?x]]>",
        )
    )
    assert (seen.verdict, seen.locs) == (OK, ["https://example.com/?a=1&b=2&amp;c", B, f"{A}?x"])


@pytest.mark.parametrize("body", ["<urlset>{}</urlset>", "<urlset><urlset>{}</urlset></urlset>"])
def test_X16_no_namespace_or_nested_urlset(body):
    seen = see(body.format(entry(A) + entry(B)))
    assert (seen.verdict, seen.locs, seen.faults) == (OK, [A, B], {"missing_namespace": 1})


@pytest.mark.parametrize(
    "uri",
    [
        "https://www.sitemaps.org/schemas/sitemap/0.9",
        "//www.sitemaps.org/schemas/sitemap/0.9",
        "http://www.sitemaps.org/schemas/sitemap/0.9/",
        "http://www.sitemaps.org/schemas/sitemap/0.84",
        "http://www.google.com/schemas/sitemap/0.84",
        "http://example.com/whatever",
        "http://www.google.com/schemas/sitemap-image/1.1",
    ],
)
def test_X17_wrong_namespace_is_accepted_and_noted(uri):
    seen = see(root(entry(A), f'xmlns="{uri}" {IMAGE}'))
    assert (seen.verdict, seen.locs, seen.faults) == (OK, [A], {"wrong_namespace": 1})


@pytest.mark.parametrize("declared", ["", ' xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9"'])
def test_X18_prefixed_elements_are_read_declared_or_not(declared):
    seen = see(f"<sm:urlset{declared}><sm:url><sm:loc>{A}</sm:loc><sm:priority>1</sm:priority></sm:url></sm:urlset>")
    assert (seen.verdict, seen.rows) == (OK, [(A, None, None, "1")])
    assert seen.faults == ({} if declared else {"missing_namespace": 1})


def test_X18_a_second_prefix_for_the_protocol_is_the_protocol():
    other = 'xmlns:s="https://www.sitemaps.org/schemas/sitemap/0.9"'
    seen = see(root(f"<s:url><loc>{A}</loc></s:url><url><s:loc>{B}</s:loc></url>", f"{NS} {other}"))
    assert (seen.verdict, seen.locs) == (OK, [A, B])


PICTURES = f"{NS} {IMAGE} {VIDEO} {NEWS} {XHTML}"


@pytest.mark.parametrize("declared", [PICTURES, NS])
def test_X20_image_and_video_loc_never_are_the_page(declared):
    inside = (
        f"<image:loc>{B}</image:loc><image:image><image:loc>{C}</image:loc></image:image><video:loc>{C}</video:loc>"
    )
    seen = see(root(f"<url>{inside}<loc>{A}</loc>{inside}</url><url>{inside}</url>", declared))
    assert (seen.verdict, seen.locs, seen.faults) == (OK, [A], {"empty_loc": 1})


def test_X20_namespace_overridden_on_the_element_is_honoured():
    image = 'xmlns="http://www.google.com/schemas/sitemap-image/1.1"'
    seen = see(
        root(f'<url><loc {image}>{B}</loc><loc>{A}</loc></url><url {image}><loc>{C}</loc></url><x:url xmlns:x="{B}"/>')
    )
    assert (seen.verdict, seen.locs, seen.faults) == (OK, [A], {})


def test_X20_dates_of_extensions_do_not_leak():
    news = (
        "<news:news><news:publication_date>2020-01-01</news:publication_date><lastmod>2021-01-01</lastmod></news:news>"
    )
    seen = see(root(entry(A, news), PICTURES))
    assert seen.rows == [(A, None, None, None)]


def test_X22_upper_case_names_are_accepted_and_noted():
    seen = see(f"<URLSET {NS}><URL><LOC>{A}</LOC><LastMod>2024</LastMod></URL><url><Loc>{B}</Loc></url></URLSET>")
    assert (seen.verdict, seen.faults) == (OK, {"wrong_case": 1})
    assert seen.rows == [(A, "2024", None, None), (B, None, None, None)]


def test_X23_missing_end_tag_of_an_entry():
    seen = see(root(f"{entry(A)}<url><loc>{B}</loc>{entry(C)}"))
    assert (seen.verdict, seen.locs) == (BROKEN, [A, C])
    assert seen.outcome.detail == "mismatched tag at line 1"


def test_X24_no_root_element():
    seen = see(entry(A) + entry(B))
    assert (seen.verdict, seen.locs) == (BROKEN, [A])
    assert "no urlset or sitemapindex" in seen.outcome.detail


def test_X24_end_tag_where_the_root_should_start():
    seen = see(f"<?xml version='1.0'?>\n</urlset>{entry(A)}</urlset>")
    assert seen.verdict == ("failed", SkipReason.MALFORMED)
    assert seen.outcome.detail.endswith("at line 2")


@pytest.mark.parametrize("size", [None, 1, 50])
def test_X26_randomly_broken_end_tag(size):
    seen = see(root(entry(A) + entry(B, "<priority>0.7priority>") + entry(C)), size=size)
    assert (seen.verdict, seen.locs) == (BROKEN, [A])


@pytest.mark.parametrize(
    "page",
    [
        "<!doctype html><html><body><a href='https://example.com/'>x</a></body></html>",
        "<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'><p>",
        "<html xmlns='http://www.w3.org/1999/xhtml'/>",
        "<?xml version='1.0'?><!DOCTYPE html PUBLIC 'a' 'b'><html/>",
        "<?xml version='1.0'?><html/>",
        "\ufeff\n<!-- c --><Html>",
        "<div>hello</div>",
        "hello <html>",
    ],
)
def test_X27_a_web_page_is_no_sitemap(page):
    seen = see(page, content_type="text/html")
    assert seen.verdict == ("failed", SkipReason.UNSUPPORTED_FORMAT)
    assert seen.outcome.kind is None


@pytest.mark.parametrize("body", ["", "  \r\n\t ", "\ufeff", "\ufeff\n", " " * 200_000])
def test_X29_empty_body_is_a_failure(body):
    seen = see(body)
    assert (seen.verdict, seen.outcome.detail) == (("failed", SkipReason.EMPTY), "the file is empty")


def test_X30_xml_that_is_an_error_message():
    seen = see("<?xml version='1.0'?><error>The sitemap will be rebuilt in some minutes</error>")
    assert seen.verdict == ("failed", SkipReason.UNSUPPORTED_FORMAT)
    assert seen.outcome.detail == "an XML file whose root element is error"


BOMB = '<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>'


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE urlset SYSTEM "http://127.0.0.1/x.dtd">',
        BOMB,
        "<!DOCTYPE urlset>",
        f"<!--{'-' * 0}{'x' * 5_000}-->" + BOMB,
        f"<!--{'x' * 200_000}-->" + BOMB,
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_X31_doctype_is_refused_wherever_it_stands(doctype, packed):
    data = f"<?xml version='1.0'?>\n{doctype}{root(entry(A) + entry('&x;&c;'))}".encode()
    seen = fetch(gzip.compress(data)) if packed else see(data)
    assert seen.verdict == ("failed", SkipReason.UNSAFE_XML)
    assert seen.outcome.detail == "the file has a DOCTYPE (urlset)"
    assert seen.rows == []


def test_X31_doctype_after_the_root_has_ended_is_just_trailing():
    seen = see(root(entry(A)) + "<!DOCTYPE urlset>")
    assert (seen.verdict, seen.locs, seen.faults) == (OK, [A], {"trailing_bytes": 1})


def test_X32_processing_instructions_are_ignored():
    sheet = '<?xml-stylesheet type="text/xsl" href="//example.com/main.xsl"?>'
    seen = see(
        f"<?xml version='1.0'?>{sheet}<urlset {NS}><?php x ?>{entry(A)}<url><?a b?><loc>{B}</loc></url></urlset>"
    )
    assert (seen.verdict, seen.locs, seen.faults) == (OK, [A, B], {})


def test_X33_text_sitemap_with_mark_comments_headings_and_crlf():
    text = f"\ufeff{A}\r\n# comment\r\n\r\nProducts:\r\n{B} \r\n  {C}\r\nhttps://example.com/a b\r\n"
    seen = see(text)
    assert (seen.verdict, str(seen.outcome.kind)) == (OK, "text")
    assert seen.locs == [A, B, C, "https://example.com/a b"]
    assert seen.faults == {"ignored_lines": 2}


def test_X33_fewer_than_half_urls_is_no_sitemap():
    assert see(f"{A}\nb\n").verdict == OK
    seen = see(f"{A}\nb\nc\n")
    assert seen.verdict == ("failed", SkipReason.UNSUPPORTED_FORMAT)
    assert seen.outcome.detail == "text of which 1 of 3 lines are URLs"
    assert see('{"urls": ["https://example.com/"]}').verdict == ("failed", SkipReason.UNSUPPORTED_FORMAT)
    assert see(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").verdict == ("failed", SkipReason.UNSUPPORTED_FORMAT)


def test_X33_only_cr_and_lf_end_a_line():
    odd = "https://example.com/a\x0b\x0c\x1c\x85\u2028\u2029b"
    assert see(f"{A}\r{odd}\r\n{B}\n\r{C}").locs == [A, odd, B, C]


@pytest.mark.parametrize("size", [None, 1, 3])
def test_X33_a_line_that_is_not_utf8_is_invalid(size):
    seen = see(f"{A}\nhttps://example.com/".encode() + b"\xe9\n\xe9\xff\n" + B.encode(), size=size)
    assert (seen.locs, seen.invalid) == ([A, B], ["https://example.com/\ufffd"])
    assert (seen.outcome.entries, seen.faults) == (3, {"ignored_lines": 1})


def test_X33_text_in_utf16_by_its_mark():
    seen = see(f"{A}\r\n{B}".encode("utf-16"), content_type="text/plain")
    assert (seen.locs, seen.faults) == ([A, B], {"encoding_mismatch": 1})


@pytest.mark.parametrize("size", [None, 5])
def test_X33_a_cut_text_file_does_not_give_its_last_line(size):
    seen = see(f"{A}\n{B}\nhttps://example.com/hal", cut=SkipReason.TIMEOUT, detail="cut", size=size)
    assert (seen.verdict, seen.locs) == (("partial", SkipReason.TIMEOUT), [A, B])
    assert see(f"{A}\n{B}", size=size).locs == [A, B]


def test_end_tag_seen_or_not_decides():
    body = f"<urlset {NS}>{entry(A)}<url><loc>{B}</loc></url"
    assert see(body).locs == [A]
    assert see(body + ">").locs == [A, B]


@pytest.mark.parametrize("tail", ["junk", "<!-- made in 0.3 s -->", "</urlset>", "\0\0\0", "&", "<urlset>"])
def test_bytes_after_the_root_are_noted_and_the_file_is_whole(tail):
    for size in (None, 1, 30):
        seen = see(root(entry(A)) + "\n" + tail, size=size)
        assert (seen.verdict, seen.locs, seen.faults) == (OK, [A], {"trailing_bytes": 1})


def test_white_space_after_the_root_is_nothing():
    assert see(root(entry(A)) + " \r\n\t" * 100_000).faults == {}


@pytest.mark.parametrize(
    "inner",
    ["<b>x</b>", "<image:loc/>", "<loc>https://example.com/inner</loc>", "<url/>"],
)
def test_a_field_with_an_element_inside_has_no_value(inner):
    seen = see(root(f"<url><loc>https://example.com/{inner}tail</loc></url>{entry(A)}"))
    assert (seen.verdict, seen.locs, seen.faults) == (OK, [A], {"empty_loc": 1})


def test_text_around_comments_is_one_text():
    assert see(root(entry("https://example.com/<!-- c -->x<?p i?>y"))).locs == ["https://example.com/xy"]


def test_invisible_characters_are_stripped_at_both_ends_only():
    seen = see(
        root(
            entry(
                "\u200b\ufeff\u00a0https://example.com/a\u200bb\u2060\u3000\x7f", "<lastmod>\u00a02024\u200e</lastmod>"
            )
        )
    )
    assert seen.rows == [("https://example.com/a\u200bb", "2024", None, None)]


def test_cdata_and_comments_between_entries_hold_no_entries():
    seen = see(root(f"<!-- {entry(B)} --><![CDATA[{entry(B)}]]>{entry(A)}<!-- {entry(B)} -->"))
    assert (seen.verdict, seen.locs) == (OK, [A])


@pytest.mark.parametrize("bad", ["\0", "\x01", "\ufffe", "\uffff", "\x1f"])
@pytest.mark.parametrize(
    "place", ["{}<url><loc>b</loc></url>", "<url>{}<loc>b</loc></url>", "<url><loc>{}b</loc></url>"]
)
def test_a_character_that_xml_forbids_ends_the_file_there(bad, place):
    for fast in (True, False):
        seen = see(root(entry(A) + place.format(bad) + entry(C)), fast=fast)
        assert (seen.verdict, seen.locs) == (BROKEN, [A])


def test_cut_reason_wins_over_what_the_cut_broke():
    body = urlset(A, B)[:-15]
    seen = see(body, cut=SkipReason.TIMEOUT, detail="the body came shorter than promised")
    assert (seen.verdict, seen.outcome.detail) == (
        ("partial", SkipReason.TIMEOUT),
        "the body came shorter than promised",
    )
    seen = see(urlset(A, "&") + "<", cut=SkipReason.TIMEOUT, detail="short")
    assert seen.verdict == BROKEN
    seen = see(urlset(A), cut=SkipReason.NETWORK_ERROR, detail="short")
    assert (seen.verdict, seen.locs) == (("partial", SkipReason.NETWORK_ERROR), [A])
    for nothing in ("", "<?x", "<?xml version='1.0'?>"):
        assert see(nothing, cut=SkipReason.TIMEOUT).verdict == ("failed", SkipReason.TIMEOUT)
