"""What a URL is, what its canonical form is, and what the columns' fast way makes of it (faults L01 to L14; spec 5, 6)."""

import time
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sitemap_actor.core.reasons import Fault, SkipReason
from sitemap_actor.core.urls import (
    Entry,
    Judged,
    UrlError,
    UrlJudge,
    canonical,
    group_by_host,
    host_key,
    parse_entry,
    percent_encoded,
    read,
    redacted,
    resolve,
    site_of,
)

SITE = "https://www.example.com"
SITEMAP = f"{SITE}/sitemap.xml"


def judge(*urls: str, base: str = SITEMAP, allow_private: bool = False) -> Judged:
    return UrlJudge(base, allow_private=allow_private).judge(list(urls))


def reason(url: str, base: str = SITEMAP) -> SkipReason | None:
    refused = judge(url, base=base).refused
    return refused[0][1] if refused else None


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("https://example.com/", "https://example.com/"),
        ("https://example.com", "https://example.com"),
        ("HTTPS://EXAMPLE.com/A?B=C", "https://example.com/A?B=C"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("https://example.com:0443/a", "https://example.com/a"),
        ("https://example.com:/a", "https://example.com/a"),
        ("http://example.com:80", "http://example.com"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("https://example.com/a#b", "https://example.com/a"),
        ("https://example.com/a?b#c?d#e", "https://example.com/a?b"),
        ("https://example.com#a/b", "https://example.com"),
        ("https://example.com?A#b", "https://example.com?A"),
        ("https://example.com/a/../b//c/.", "https://example.com/a/../b//c/."),
        ("https://example.com/%7ea%C3%a9", "https://example.com/%7ea%C3%a9"),
        ("https://example.com/a b", "https://example.com/a b"),
        ("https://B\u00dcCHER.example/\u00c4", "https://b\u00fccher.example/\u00c4"),
        ("https://example.com./", "https://example.com./"),
        ("HTTP://[2606:4700::ABCD]:80/", "http://[2606:4700::abcd]/"),
        ("https://example.com/?", "https://example.com/?"),
    ],
)
def test_canonical_form(url: str, form: str) -> None:
    assert canonical(url) == form
    assert judge(url).keys == [form]
    assert judge(url).urls == [url]


@given(st.text(max_size=60))
@example("https://example.com:443:443/")
@example("HTTPS://A:@B:80/#")
@example("a://:00/")
def test_canonical_is_idempotent_on_anything(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text)


def test_L01_text_comes_stripped_and_white_space_inside_is_judged() -> None:
    assert reason(f"{SITE}/a\n/b") is SkipReason.INVALID_CHARACTER
    assert reason(f"{SITE}/a\tb") is SkipReason.INVALID_CHARACTER
    assert reason(f"{SITE}/a b") is None


@pytest.mark.parametrize(
    ("listed", "base", "resolved"),
    [
        ("/a", SITEMAP, f"{SITE}/a"),
        ("/a?b#c", f"{SITE}/deep/sitemap.xml?x=/y", f"{SITE}/a?b#c"),
        ("//other.example/a", SITEMAP, "https://other.example/a"),
        ("//other.example/a", "http://example.com/s.xml", "http://other.example/a"),
        ("/a", "https://example.com:8443/s.xml", "https://example.com:8443/a"),
        ("/", SITEMAP, f"{SITE}/"),
    ],
)
def test_L04_relative_urls_are_resolved_and_noted(listed: str, base: str, resolved: str) -> None:
    judged = judge(listed, base=base)
    assert resolve(base, listed) == resolved
    assert (judged.urls, judged.keys, judged.refused) == ([resolved], [canonical(resolved)], [])
    assert judged.faults[Fault.RELATIVE_LOC] == 1


@pytest.mark.parametrize(
    "text",
    [
        "example.com/a",
        "www.example.com",
        "a",
        "?a=b",
        "#top",
        "./a",
        "../a",
        "",
        "example.com:8080/a",
        "localhost:3000",
        "\\\\a\\b",
        "http:example.com",
        "https:/example.com/a",
        "https:",
        "https://",
        "https:///a",
        "https://?a",
        "http//example.com",
        ":a",
    ],
)
def test_L04_other_text_without_scheme_or_host_is_invalid(text: str) -> None:
    assert reason(text) is SkipReason.INVALID_URL


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:3000/",
        "http://127.0.0.1/",
        "http://intranet/",
        "http://127.1/a",
        "http://[::1]/",
        "http://0x7f.1/",
        "https://printer.local/",
        "http://169.254.169.254/latest/meta-data/",
        "//10.0.0.1/a",
        "http://\u2460\u2461\u2466.0.0.1/",
    ],
)
def test_L05_private_and_local_hosts(url: str) -> None:
    assert reason(url) is SkipReason.PRIVATE_ADDRESS
    assert UrlJudge(SITEMAP, allow_private=True).judge([url]).refused == []


def test_L05_relative_urls_of_a_private_sitemap_are_private() -> None:
    assert reason("/a", base="http://127.0.0.1:8000/sitemap.xml") is SkipReason.PRIVATE_ADDRESS


def test_L06_the_row_keeps_the_text_and_the_checks_use_the_encoded_form() -> None:
    url = "https://b\u00fccher.example/\u00e4 b?\u00f6=\u00fc"
    assert judge(url).urls == [url]
    assert percent_encoded(url) == "https://xn--bcher-kva.example/%C3%A4%20b?%C3%B6=%C3%BC"
    assert host_key(url) == site_of(url) == "https://xn--bcher-kva.example"


@pytest.mark.parametrize(
    ("url", "encoded"),
    [
        ("https://example.com", "https://example.com/"),
        ("https://example.com?a", "https://example.com/?a"),
        ("https://example.com:443/a#b", "https://example.com/a"),
        ("https://example.com/%c3%a4%zz%", "https://example.com/%C3%A4%zz%"),
        ("https://example.com/ver%25C3%25B6ff", "https://example.com/ver%25C3%25B6ff"),
        ('https://example.com/"<>\\^`{|}', "https://example.com/%22%3C%3E%5C%5E%60%7B%7C%7D"),
        ("https://example.com/!$&'()*+,;=:@[]~-._", "https://example.com/!$&'()*+,;=:@[]~-._"),
    ],
)
def test_L07_percent_encoding_touches_only_what_no_url_may_hold(url: str, encoded: str) -> None:
    assert percent_encoded(url) == encoded
    assert percent_encoded(encoded) == encoded


def test_L09_letter_case_of_paths_is_kept() -> None:
    assert judge("HTTPS://WWW.EXAMPLE.COM/SiteMap_A.xml").keys == [f"{SITE}/SiteMap_A.xml"]


@pytest.mark.parametrize(
    "url",
    [
        "https://u:secret@example.com/a",
        "https://u@example.com/",
        "https://:secret@example.com/",
        "//u:secret@example.com/",
        "https://@example.com",
        "https://example.com:secret@10.0.0.1/",
        "https://a@b:secret@example.com/",
        "HTTP://U:secret@EXAMPLE.com/#x",
    ],
)
def test_L10_userinfo_is_refused_and_never_shown(url: str) -> None:
    judged = judge(f"{SITE}/a", url)
    assert [(index, why) for index, why, _ in judged.refused] == [(1, SkipReason.USERINFO)]
    assert "secret" not in repr(judged)


@pytest.mark.parametrize(
    "text",
    [
        "https://u:secret@h/a",
        "https://u:secret@h\u200b/",
        "https://u:sec/ret@h/",
        "https://u:secret#@h/",
        "u:secret@h.com",
        "//u:secret@h",
        "ftp://u:secret@h/",
        "https:u:secret@h/",
        "https://u:secret?@h:x/",
        "https://u:p@secret@h/",
        "https://u:secret@h\\x",
    ],
)
def test_L10_nothing_refused_shows_a_password(text: str) -> None:
    shown = redacted(text)
    assert "secret" not in shown
    assert "ret@" not in shown
    assert "***@" in shown
    assert "secret" not in repr(judge(text).refused) + repr(judge(text).urls)


@pytest.mark.parametrize(
    "text",
    ["https://example.com/@user", "https://example.com/a?b=c@d", "mailto:a@example.com", "https://example.com:80/x@y"],
)
def test_L10_an_at_sign_elsewhere_is_no_secret(text: str) -> None:
    assert redacted(text) == text


@pytest.mark.parametrize(
    ("url", "scheme"),
    [
        ("javascript:void(0)", "javascript"),
        ("mailto:a@example.com", "mailto"),
        ("ftp://example.com/a", "ftp"),
        ("android-app://com.example/http/a", "android-app"),
        ("tel:123", "tel"),
        ("data:text/html,x", "data"),
        ("FILE:///etc/passwd", "file"),
        ("ws://example.com/", "ws"),
        ("httpx://example.com/", "httpx"),
    ],
)
def test_L12_other_schemes(url: str, scheme: str) -> None:
    refused = judge(url).refused
    assert [(index, why, detail) for index, why, detail in refused] == [
        (0, SkipReason.UNSUPPORTED_SCHEME, f"scheme {scheme}")
    ]


@pytest.mark.parametrize(
    ("length", "noted", "kept"), [(2_048, False, True), (2_049, True, True), (8_192, True, True), (8_193, False, False)]
)
def test_L14_long_urls(length: int, noted: bool, kept: bool) -> None:
    url = f"{SITE}/".ljust(length, "a")
    judged = judge(url)
    assert (judged.faults[Fault.LONG_URL] == 1, not judged.refused) == (noted, kept)
    if not kept:
        assert judged.refused == [(0, SkipReason.INVALID_URL, "longer than 8,192 characters")]


@pytest.mark.parametrize(
    "character",
    [
        "\x00",
        "\t",
        "\n",
        "\r",
        "\x1f",
        "\x7f",
        "\x80",
        "\x85",
        "\xad",
        "\u034f",
        "\u061c",
        "\u115f",
        "\u17b5",
        "\u180e",
        "\u200b",
        "\u200c",
        "\u200d",
        "\u200e",
        "\u2028",
        "\u2029",
        "\u202e",
        "\u2060",
        "\u2066",
        "\u206f",
        "\u3164",
        "\ud800",
        "\ufe0f",
        "\ufeff",
        "\uffa0",
        "\ufffa",
        "\U0001d173",
        "\U000e0001",
        "\U000e0041",
        "\U000e01ef",
    ],
)
def test_invisible_characters_are_invalid_and_named(character: str) -> None:
    for url in (
        f"{SITE}/a{character}b",
        f"{SITE}/\u00e4{character}",
        f"https://exa{character}mple.com/",
        f"/{character}",
    ):
        judged = judge(f"{SITE}/ok", url)
        assert [(index, why) for index, why, _ in judged.refused] == [(1, SkipReason.INVALID_CHARACTER)]
        assert f"U+{ord(character):04X}" in judged.refused[0][2]


@pytest.mark.parametrize(
    "character",
    [
        " ",
        "\u00a0",
        "\u3000",
        "\u2003",
        "\u00e4",
        "\u0430",
        "\u4e2d",
        "\U0001f600",
        "\ufffd",
        "\u0601",
        "\\",
        '"',
        "<",
        "%",
        "'",
    ],
)
def test_visible_characters_are_kept_as_listed(character: str) -> None:
    url = f"{SITE}/a{character}b"
    judged = judge(url)
    assert (judged.urls, judged.keys, judged.refused) == ([url], [url], [])


@pytest.mark.parametrize(
    "url",
    [
        "https://exa mple.com/",
        "https://example.com:0/",
        "https://example.com:65536/",
        "https://example.com:x/",
        "https://a..b/",
        "https://example.com:99999999999999999999/",
        "https://example.com\\evil.example/",
        "https://[::1/",
        "https://[::g]/",
        "https://1.2.3.4.5/",
        "https://256.1.1.1/",
        "https://*.example.com/",
        "https://.example.com/",
        "https://exa%mple.com/",
        "https://example.com:80:80/",
        f"https://{'a' * 64}.com/",
        f"https://{'a.' * 127}com/",
        "https://example.com:\uff11/",
    ],
)
def test_impossible_hosts_and_ports(url: str) -> None:
    assert reason(url) is SkipReason.INVALID_URL


def test_bad_entries_do_not_touch_the_others() -> None:
    urls = [f"{SITE}/a", "nonsense", f"{SITE}/b#c", "ftp://x/", "/d", f"{SITE}/e"]
    judged = judge(*urls)
    assert judged.urls == [f"{SITE}/a", "nonsense", f"{SITE}/b#c", "ftp://x/", f"{SITE}/d", f"{SITE}/e"]
    assert [index for index, _, _ in judged.refused] == [1, 3]
    assert [judged.keys[index] for index in (0, 2, 4, 5)] == [f"{SITE}/{letter}" for letter in "abde"]


def test_an_ordinary_batch_is_its_own_canonical_form() -> None:
    urls = [f"{SITE}/{number}?a=%20" for number in range(1_000)]
    judged = UrlJudge(SITEMAP).judge(urls)
    assert judged.urls is urls
    assert judged.keys is urls
    assert (judged.refused, judged.faults) == ([], Counter())


def test_an_empty_batch() -> None:
    assert judge() == Judged([], [], [], Counter())


@pytest.mark.parametrize(
    ("base", "url", "faults"),
    [
        (SITEMAP, f"{SITE}/a", set()),
        (SITEMAP, "https://example.com/a", {Fault.OTHER_HOST}),
        (SITEMAP, f"{SITE}:8443/a", {Fault.OTHER_HOST}),
        (SITEMAP, f"{SITE}:443/a", set()),
        (SITEMAP, "http://www.example.com/a", {Fault.HTTP_ON_HTTPS}),
        (SITEMAP, "http://other.example/a", {Fault.OTHER_HOST, Fault.HTTP_ON_HTTPS}),
        ("http://www.example.com/s.xml", f"{SITE}/a", set()),
        (f"{SITE}/deep/s.xml", f"{SITE}/deep/a", set()),
        (f"{SITE}/deep/s.xml", f"{SITE}/deep/er/a", set()),
        (f"{SITE}/deep/s.xml", f"{SITE}/deep", {Fault.OUTSIDE_PATH}),
        (f"{SITE}/deep/s.xml", f"{SITE}/", {Fault.OUTSIDE_PATH}),
        (f"{SITE}/deep/s.xml", SITE, {Fault.OUTSIDE_PATH}),
        (f"{SITE}/deep/s.xml", "/deeper", {Fault.OUTSIDE_PATH, Fault.RELATIVE_LOC}),
        (f"{SITE}/deep/s.xml", "https://other.example/a", {Fault.OTHER_HOST}),
        (f"{SITE}/s.xml?a=/b/c", f"{SITE}/a", set()),
        (SITE, f"{SITE}/a", set()),
    ],
)
def test_faults_against_the_protocol(base: str, url: str, faults: set[Fault]) -> None:
    expected = Counter(faults)
    assert judge(url, base=base).faults == expected
    assert judge(url, f"{url}#x", base=base).faults == expected + expected  # the batch way and the exact one


def test_faults_of_a_whole_batch_are_counted() -> None:
    urls = ["http://other.example/deep/a"] * 7
    assert judge(*urls, base=f"{SITE}/deep/s.xml").faults == Counter({Fault.OTHER_HOST: 7, Fault.HTTP_ON_HTTPS: 7})
    urls = [f"{SITE}/deep/a"] * 5 + [f"{SITE}/a"] * 2
    assert judge(*urls, base=f"{SITE}/deep/s.xml").faults == Counter({Fault.OUTSIDE_PATH: 2})


pieces = st.sampled_from(
    [
        "https://",
        "HTTP://",
        "http://",
        "//",
        "/",
        "www.example.com",
        "WWW.example.com",
        "example.net",
        "127.0.0.1",
        "localhost",
        ":443",
        ":80",
        ":8443",
        ":",
        "#",
        "?",
        "@",
        "a",
        "deep/",
        " ",
        "\u00e4",
        "\u200b",
        "\n",
        "%20",
        "..",
        "\\",
        "b" * 1100,
        "\U000e0001",
    ]
)
urls = st.one_of(
    st.lists(pieces, max_size=6).map("".join),
    st.lists(pieces, max_size=4).map(lambda parts: f"{SITE}/{''.join(parts)}"),
    st.lists(pieces, max_size=4).map(lambda parts: f"http://example.net/deep/{''.join(parts)}"),
    st.text("ab/-?=", max_size=10).map(lambda text: f"{SITE}/{text}"),
)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(urls, min_size=1, max_size=6),
    st.sampled_from([SITEMAP, f"{SITE}/deep/s.xml", "http://example.net/s.xml"]),
    st.booleans(),
)
def test_batches_are_judged_like_single_urls(batch: list[str], base: str, allow_private: bool) -> None:
    together = UrlJudge(base, allow_private=allow_private).judge(batch)
    exact: Counter[Fault] = Counter()
    for index, url in enumerate(batch):
        refused = [(why, detail) for number, why, detail in together.refused if number == index]
        judged = UrlJudge(base, allow_private=allow_private)
        if refused:
            with pytest.raises(UrlError) as raised:
                judged._exact(url, exact)
            assert refused == [(raised.value.reason, raised.value.detail)]
        else:
            resolved, key = judged._exact(url, exact)
            assert (together.urls[index], together.keys[index]) == (resolved, key)
            assert key == canonical(resolved)
    assert +together.faults == +exact


def test_the_exact_way_counts_nothing_for_a_refused_url() -> None:
    assert judge("//127.0.0.1/a", "http://localhost/", f"{SITE}/\u200b".ljust(3_000, "a")).faults == Counter()


def test_grouping_by_host() -> None:
    urls = [
        f"{SITE}/a",
        "http://www.example.com/",
        "https://WWW.example.com:443/b",
        f"{SITE}/c",
        "https://www.example.com./",
    ]
    assert group_by_host(urls) == {SITE: [0, 2, 3, 4], "http://www.example.com": [1]}
    assert group_by_host([f"{SITE}/a"] * 3) == {SITE: [0, 1, 2]}
    assert group_by_host([]) == {}
    assert group_by_host([SITE, f"{SITE}?a", f"{SITE}/"]) == {SITE: [0, 1, 2]}


@pytest.mark.parametrize("spelling", ["http://8.8.8.8/", "http://134744072/", "http://8.8.2056/", "http://0x8.8.8.8./"])
def test_one_host_has_one_key_in_every_spelling(spelling: str) -> None:
    assert host_key(spelling) == "http://8.8.8.8"


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("example.com", Entry(site="https://example.com", url="https://example.com/", is_sitemap=False)),
        ("  https://docs.apify.com \n", Entry("https://docs.apify.com", "https://docs.apify.com/", False)),
        ("EXAMPLE.com/Some/Path?x#y", Entry("https://example.com", "https://example.com/", False)),
        ("http://example.com:80/a b", Entry("http://example.com", "http://example.com/", False)),
        ("example.com:8443", Entry("https://example.com:8443", "https://example.com:8443/", False)),
        ("//example.com/a", Entry("https://example.com", "https://example.com/", False)),
        ("https://example.com/Map.XML", Entry("https://example.com", "https://example.com/Map.XML", True)),
        ("example.com/a/s.xml.gz?x=1#y", Entry("https://example.com", "https://example.com/a/s.xml.gz?x=1", True)),
        ("HTTP://Example.com/urls.TXT", Entry("http://example.com", "http://example.com/urls.TXT", True)),
        ("example.com/a.gz", Entry("https://example.com", "https://example.com/a.gz", True)),
        ("example.com/a?b=c.xml", Entry("https://example.com", "https://example.com/", False)),
        ("example.com/a.xml/", Entry("https://example.com", "https://example.com/", False)),
        ("b\u00fccher.example", Entry("https://xn--bcher-kva.example", "https://xn--bcher-kva.example/", False)),
        ("8.8.8.8", Entry("https://8.8.8.8", "https://8.8.8.8/", False)),
        ("[2606:4700::1111]:8080/x", Entry("https://[2606:4700::1111]:8080", "https://[2606:4700::1111]:8080/", False)),
    ],
)
def test_entries_of_the_input(text: str, entry: Entry) -> None:
    assert parse_entry(text) == entry


def test_entries_of_sitemap_urls_are_sitemaps_whatever_their_path() -> None:
    assert parse_entry("example.com/index.php?type=1", direct=True) == Entry(
        "https://example.com", "https://example.com/index.php?type=1", True
    )
    assert parse_entry("example.com", direct=True).url == "https://example.com/"
    assert parse_entry("example.com?x", direct=True).url == "https://example.com/?x"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", SkipReason.INVALID_URL),
        ("   ", SkipReason.INVALID_URL),
        ("https://", SkipReason.INVALID_URL),
        ("/sitemap.xml", SkipReason.INVALID_URL),
        ("not a site", SkipReason.INVALID_URL),
        ("example.com:99999", SkipReason.INVALID_URL),
        ("https://example.com:port/", SkipReason.INVALID_URL),
        ("http:/example.com", SkipReason.INVALID_URL),
        ("a" * 9_000 + ".com", SkipReason.INVALID_URL),
        ("example.com/\u200b", SkipReason.INVALID_CHARACTER),
        ("\ufeffexample.com", SkipReason.INVALID_CHARACTER),
        ("exam\x00ple.com", SkipReason.INVALID_CHARACTER),
        ("https://example.com/ignored\u202epath", SkipReason.INVALID_CHARACTER),
        ("https://u:secret@example.com/\u200b", SkipReason.INVALID_CHARACTER),
        ("ftp://example.com", SkipReason.UNSUPPORTED_SCHEME),
        ("file:///etc/passwd", SkipReason.UNSUPPORTED_SCHEME),
        ("mailto:a@example.com", SkipReason.UNSUPPORTED_SCHEME),
        ("javascript:alert(1)", SkipReason.UNSUPPORTED_SCHEME),
        ("https://u:secret@example.com", SkipReason.USERINFO),
        ("u:secret@example.com", SkipReason.USERINFO),
        ("u@example.com", SkipReason.USERINFO),
        ("localhost", SkipReason.PRIVATE_ADDRESS),
        ("localhost:3000/x", SkipReason.PRIVATE_ADDRESS),
        ("http://127.1", SkipReason.PRIVATE_ADDRESS),
        ("2130706433", SkipReason.PRIVATE_ADDRESS),
        ("intranet", SkipReason.PRIVATE_ADDRESS),
        ("[::1]", SkipReason.PRIVATE_ADDRESS),
    ],
)
def test_bad_entries_of_the_input(text: str, why: SkipReason) -> None:
    with pytest.raises(UrlError) as raised:
        parse_entry(text)
    assert raised.value.reason is why
    assert raised.value.detail
    assert "secret" not in str(raised.value) + redacted(text)


def test_private_entries_pass_where_the_operator_allows_them() -> None:
    assert parse_entry("http://127.0.0.1:8000/s.xml", allow_private=True) == Entry(
        "http://127.0.0.1:8000", "http://127.0.0.1:8000/s.xml", True
    )


@given(st.text(max_size=50))
def test_any_text_is_an_entry_or_refused_with_a_reason(text: str) -> None:
    with suppress(UrlError):
        entry = parse_entry(text)
        assert entry.site == site_of(entry.url)
        assert read(entry.url).site == entry.site


def test_many_hosts_do_not_grow_the_memory_and_stay_cheap() -> None:
    judging = UrlJudge(SITEMAP)
    start = time.process_time()
    for first in range(0, 30_000, 1_000):
        judging.judge([f"https://h{number}.example/a" for number in range(first, first + 1_000)])
    assert len(judging._origins) <= 10_000
    assert time.process_time() - start < 10.0


def test_an_ordinary_batch_costs_little() -> None:
    judging = UrlJudge(SITEMAP)
    urls = [f"{SITE}/category/some-product-name-{number}?ref={number}" for number in range(1_000)]
    best = min(_timed(judging, urls) for _ in range(20))
    # About 0.2 microseconds a URL on an idle core; ten times that means that the batch is judged URL by URL.
    assert best < 2e-6 * len(urls)


def _timed(judging: UrlJudge, urls: list[str]) -> float:
    start = time.process_time()
    judging.judge(urls)
    return time.process_time() - start
