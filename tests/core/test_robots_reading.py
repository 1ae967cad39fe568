"""From bytes to groups: what a robots.txt says before any path is matched (faults R01 to R13, R25, R26)."""

import codecs

import pytest

from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.core.robots import MOST_BYTES, NO_RULES, Rules, Unreadable

ROBOTS = "https://www.example.com/robots.txt"


def rules(text: str | bytes, url: str = ROBOTS) -> Rules:
    return Rules.read(text.encode() if isinstance(text, str) else text, url)


def allowed(text: str | bytes, *paths: str) -> list[bool]:
    read = rules(text)
    return [read.allows(f"https://www.example.com{path}") for path in paths]


CLOSED = "User-agent: *\nDisallow: /\n"


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, b""])
def test_R01_mark_in_front_of_the_first_group(mark: bytes) -> None:
    assert allowed(mark + CLOSED.encode(), "/a") == [False]


def test_R01_mark_in_front_of_a_sitemap_line() -> None:
    assert rules(codecs.BOM_UTF8 + b"Sitemap: https://www.example.com/s.xml\n").sitemaps == [
        "https://www.example.com/s.xml"
    ]


def test_R01_a_second_mark_does_not_hide_the_first_line() -> None:
    assert allowed(codecs.BOM_UTF8 * 2 + CLOSED.encode(), "/a") == [False]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-8"])
def test_R02_encodings_with_a_mark_are_decoded(encoding: str) -> None:
    body = "\ufeffUser-agent: *\r\nDisallow: /priv\u00e9\r\n".encode(encoding)
    assert allowed(body, "/priv%C3%A9/x", "/priv\u00e9", "/public") == [False, False, True]


@pytest.mark.parametrize(
    "body", [CLOSED.encode("utf-16-le"), CLOSED.encode("utf-16-be"), b"User-agent: *\n\0\n", b"\0"]
)
def test_R02_nuls_without_a_mark_are_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable) as raised:
        rules(body)
    assert raised.value.reason is SkipReason.ROBOTS_TXT_SERVER_ERROR
    assert "NUL" in raised.value.detail


def test_R02_nuls_after_decoding_are_unreadable() -> None:
    with pytest.raises(Unreadable):
        rules("\ufeffUser-agent: *\n\0".encode("utf-16-le"))


def test_R02_bytes_that_are_no_utf8_harm_only_themselves() -> None:
    body = b"# caf\xe9\nUser-agent: *\nDis\xffallow: /x\nDisallow: /caf\xe9/\nDisallow: /private\n"
    assert allowed(body, "/private", "/caf%E9/menu", "/caf%E8/menu", "/cafe/", "/x") == [False, False, True, True, True]


def test_R02_an_allow_in_an_old_encoding_opens_no_other_byte() -> None:
    body = b"User-agent: *\nDisallow: /\nAllow: /\xe9/\n"
    assert allowed(body, "/%E9/a", "/%e9/a", "/%E8/a") == [True, True, False]


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\u0085", "\v", "\f", "\x1c", "\x1d", "\x1e"])
def test_R04_only_cr_and_lf_end_a_line(character: str) -> None:
    text = f"User-agent: *\nDisallow: /\n# note {character}Allow: /secret\n"
    assert allowed(text, "/secret", "/other") == [False, False]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\n\r", "\r\r\n"])
def test_R04_each_of_the_real_line_ends(end: str) -> None:
    assert allowed(f"User-agent: *{end}Disallow: /a{end}Disallow: /b", "/a", "/b", "/c") == [False, False, True]


def test_R05_comment_after_a_value() -> None:
    text = "Sitemap: https://www.example.com/a.xml # main\nUser-agent: *# all\nDisallow: /a#b\n"
    assert rules(text).sitemaps == ["https://www.example.com/a.xml"]
    assert allowed(text, "/a", "/ax", "/b") == [False, False, True]


@pytest.mark.parametrize(
    "line",
    ["SITEMAP : {}", "sitemap:{}", "  sitemap: {}", "Site-map: {}", "Sitemap {}", "\tSiteMap\t:\t{}", "Sitemaps: {}"],
)
def test_R06_sitemap_spellings(line: str) -> None:
    url = "https://www.example.com/s.xml"
    assert rules(line.format(url)).sitemaps == [url]


@pytest.mark.parametrize(
    "line",
    [
        *("Disallow: /a", "disallow:/a", "DISALLOW : /a", "  Disallow: /a", "Dissallow: /a", "Disalow: /a"),
        *(
            "Disallow /a",
            "Disallow\t/a",
            "Disallowed: /a",
            "\u00a0Disallow: /a",
            "\u200bDisallow: /a",
            "Disallow: /a  ",
        ),
    ],
)
def test_R06_disallow_spellings_count(line: str) -> None:
    assert allowed(f"User-agent: *\n{line}\n", "/a/b", "/b") == [False, True]


@pytest.mark.parametrize(
    "line", ["Alow: /a", "Allow /a", "Allowed: /a", "\u200bAllow: /a", "Allow: \u00a0/a", "All ow: /a"]
)
def test_R06_an_allow_counts_only_as_the_grammar_has_it(line: str) -> None:
    assert allowed(f"User-agent: *\nDisallow: /\n{line}\n", "/a/b") == [False]


@pytest.mark.parametrize(
    "line", ["User-agent: *", "user-agent:*", "User agent: *", "Useragent: *", "User-agent *", "USER-AGENT : *"]
)
def test_R06_user_agent_spellings(line: str) -> None:
    assert allowed(f"{line}\nDisallow: /a\n", "/a") == [False]


def test_R06_a_colon_inside_a_path_without_a_field_colon() -> None:
    assert allowed("User-agent: *\nDisallow /a:b\n", "/a:b", "/a") == [False, True]


def test_R06_a_sentence_is_no_rule() -> None:
    assert not rules("User-agent: *\nDisallow robots from this site\n").can_refuse


def test_R07_relative_sitemap() -> None:
    assert rules("Sitemap: /maps/s.xml\nSitemap: s2.xml\nSitemap: //cdn.example.net/s.xml").sitemaps == [
        "https://www.example.com/maps/s.xml",
        "https://www.example.com/s2.xml",
        "https://cdn.example.net/s.xml",
    ]


@pytest.mark.parametrize(
    ("host", "value", "expected"),
    [
        ("www.example.com", "www.example.com/s.xml", "https://www.example.com/s.xml"),
        ("www.example.com", "example.com/s.xml", "https://example.com/s.xml"),
        ("www.example.com", "CDN.Example.com/s.xml", "https://CDN.Example.com/s.xml"),
        ("www.example.com", "example.com:8443/s.xml", "https://example.com:8443/s.xml"),
        ("www.example.com", "notexample.com/s.xml", "https://www.example.com/notexample.com/s.xml"),
        ("www.example.com", "sitemap.xml/part", "https://www.example.com/sitemap.xml/part"),
        ("www.example.co.uk", "example.co.uk/s.xml", "https://example.co.uk/s.xml"),
        ("www.example.co.uk", "other.co.uk/s.xml", "https://www.example.co.uk/other.co.uk/s.xml"),
        ("8.8.8.8", "9.8.8.8/s.xml", "https://8.8.8.8/9.8.8.8/s.xml"),
        ("8.8.8.8", "8.8.8.8/s.xml", "https://8.8.8.8/s.xml"),
    ],
)
def test_R08_sitemap_without_a_scheme(host: str, value: str, expected: str) -> None:
    assert rules(f"Sitemap: {value}", f"https://{host}/robots.txt").sitemaps == [expected]


def test_R09_sitemaps_anywhere_once_each_in_order() -> None:
    text = "Sitemap: /0.xml\nUser-agent: a\nSitemap: /1.xml\nUser-agent: *\nDisallow: /x\nSitemap: /2.xml\n"
    text += "".join(f"Sitemap: /{number}.xml\n" for number in range(60))
    assert rules(text).sitemaps == [f"https://www.example.com/{number}.xml" for number in range(60)]
    assert allowed(text, "/x") == [False]


@pytest.mark.parametrize("line", ["Sitemap:", "Sitemap: # none", "Sitemap: /robots.txt", f"Sitemap: {ROBOTS}"])
def test_S03_robots_txt_is_no_sitemap(line: str) -> None:
    assert rules(line).sitemaps == []


def test_other_schemes_and_letter_case_are_left_for_the_judge() -> None:
    assert rules("Sitemap: ftp://example.com/s.xml\nSitemap: HTTPS://example.com/SiteMap_A.xml").sitemaps == [
        "ftp://example.com/s.xml",
        "HTTPS://example.com/SiteMap_A.xml",
    ]


@pytest.mark.parametrize(
    "between",
    ["Crawl-delay: 1", "Sitemap: /s.xml", "Noindex: /x", "Host: example.com", "", "Content-Signal: search=yes", "???"],
)
def test_R11_only_rules_close_a_run_of_user_agent_lines(between: str) -> None:
    text = f"User-agent: SitemapUrlExtractor\n{between}\nUser-agent: other\nDisallow: /\n\nUser-agent: *\nAllow: /\n"
    assert allowed(text, "/a") == [False]


@pytest.mark.parametrize("rule", ["Disallow:", "Allow:", "Allow: /", "Disallow: private/"])
def test_R11_any_rule_closes_it(rule: str) -> None:
    assert allowed(f"User-agent: SitemapUrlExtractor\n{rule}\nUser-agent: other\nDisallow: /\n", "/a") == [True]


def test_R12_repeated_groups_are_one() -> None:
    text = (
        "User-agent: *\n\nDisallow: /a\nUser-agent: b\nDisallow: /b\n\n\nUser-agent: x\n\nUser-agent: *\nDisallow: /c\n"
    )
    assert allowed(text, "/a", "/b", "/c") == [False, True, False]


@pytest.mark.parametrize(
    ("agent", "applies"),
    [
        ("SitemapUrlExtractor", True),
        ("sitemapurlextractor", True),
        ("SitemapUrlExtractor/1.0", True),
        ("SitemapUrlExtractor (any version)", True),
        ("SitemapUrlExtractor*", True),
        ("Sitemap", False),
        ("Extractor", False),
        ("SitemapUrlExtractor-legacy", False),
        ("mySitemapUrlExtractor", False),
        ("Sitemap UrlExtractor", False),
        ("", False),
        ("*", True),
        ("* # all", True),
        ("* and others", True),
        ("*bot", False),
    ],
)
def test_R13_agents_are_one_product_token(agent: str, applies: bool) -> None:
    assert allowed(f"User-agent: {agent}\nDisallow: /\n", "/a") == [not applies]


def test_R13_the_user_agent_header_is_not_what_counts() -> None:
    # Our header holds "Apify Actor sitemap-url-extractor"; groups for such words are not groups for us.
    assert allowed("User-agent: actor\nDisallow: /\nUser-agent: sitemap-url-extractor\nDisallow: /\n", "/") == [True]


def test_R25_the_decisive_rule_late_in_a_large_file() -> None:
    filler = "".join(f"Disallow: /dir{number:05}/\n" for number in range(25_000))
    body = f"User-agent: *\n{filler}".encode()[: MOST_BYTES - 40] + b"\nDisallow: /late\n"
    read = rules(body)
    assert [read.allows(f"https://www.example.com{p}") for p in ("/late", "/dir00000/x", "/dir1/")] == [
        False,
        False,
        True,
    ]
    assert read.refused([f"https://www.example.com/dir{number:05}/x" for number in range(100)]) == list(range(100))


def test_R25_what_lies_past_the_limit_is_cut_at_a_line_end() -> None:
    start = b"User-agent: *\nDisallow: /a\n"
    padding = b"#" * (MOST_BYTES - len(start) - 20) + b"\n"
    body = start + padding + b"Disallow: /bcdefghijklmnop\nDisallow: /past\n"
    assert len(start + padding) < MOST_BYTES < len(body)
    assert allowed(body, "/a", "/bcdefgh", "/bcdefghijklmnop", "/past") == [False, True, True, True]


def test_R25_half_a_line_at_the_limit_is_no_rule() -> None:
    body = b"User-agent: *\nDisallow: /\n" + b"#" * MOST_BYTES
    assert allowed(body[: MOST_BYTES - 8] + b"\nAllow: /", "/a") == [False]


@pytest.mark.parametrize(
    ("value", "delay"),
    [("0.5", 0.5), ("10", 10.0), ("0", 0.0), (".5", 0.5), ("5.", 5.0), ("1e9", 1e9), ("61", 61.0), (" 7 # s", 7.0)]
    + [(bad, None) for bad in ("10s", "abc", "-5", "nan", "inf", "1e999", "", "1_0", "\uff11", "1,5", "0x10", "10 20")],
)
def test_R26_crawl_delay_values(value: str, delay: float | None) -> None:
    assert rules(f"User-agent: *\nCrawl-delay: {value}\n").crawl_delay == delay


def test_R26_crawl_delay_before_any_group_belongs_to_nobody() -> None:
    assert rules("Crawl-delay: 5\nUser-agent: *\nDisallow: /a\n").crawl_delay is None


def test_R26_crawl_delay_belongs_to_the_whole_run() -> None:
    text = "User-agent: a\nCrawl-delay: 5\nUser-agent: SitemapUrlExtractor\nDisallow: /a\n"
    assert rules(text).crawl_delay == 5.0


def test_R26_crawl_delay_after_the_rules_belongs_to_the_group_too() -> None:
    assert rules("User-agent: *\nDisallow: /a\nCrawl-delay: 3\nUser-agent: b\nCrawl-delay: 9\n").crawl_delay == 3.0


@pytest.mark.parametrize("order", [("2", "8"), ("8", "2")])
def test_R26_of_several_the_longest_holds(order: tuple[str, str]) -> None:
    first, second = order
    text = f"User-agent: *\nCrawl-delay: {first}\nDisallow: /a\n\nUser-agent: *\nCrawl-delay: {second}\n"
    assert rules(text).crawl_delay == 8.0


def test_R26_crawl_delay_of_the_group_that_applies_only() -> None:
    text = "User-agent: SitemapUrlExtractor\nDisallow:\n\nUser-agent: *\nCrawl-delay: 30\nDisallow: /\n"
    assert rules(text).crawl_delay is None


def test_R26_crawl_delay_of_an_apify_group_counts() -> None:
    text = "User-agent: *\nCrawl-delay: 2\nDisallow: /x\n\nUser-agent: apify\nCrawl-delay: 20\nDisallow: /y\n"
    assert rules(text).crawl_delay == 20.0


def test_no_rules_refuses_nothing() -> None:
    assert NO_RULES.allows("https://www.example.com/a")
    assert NO_RULES.refused(["https://www.example.com/a"]) == []
    assert (NO_RULES.can_refuse, NO_RULES.disallows_all, NO_RULES.crawl_delay, NO_RULES.sitemaps, NO_RULES.group) == (
        False,
        False,
        None,
        [],
        "",
    )


@pytest.mark.parametrize("body", [b"", b"\n\n", b"hello", b"<html><body>User-agent: *</body></html>", codecs.BOM_UTF8])
def test_a_file_without_records_has_no_rules(body: bytes) -> None:
    read = rules(body)
    assert (read.group, read.can_refuse, read.sitemaps) == ("", False, [])
