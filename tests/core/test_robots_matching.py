"""From groups to verdicts: which group, which rule, which path (faults R15 to R18, R27 to R29; RFC 9309, 2.2)."""

import pytest

from sitemap_actor.core.robots import Rules
from sitemap_actor.core.urls import host_key

SITE = "https://www.example.com"


def rules(*lines: str, agent: str = "*") -> Rules:
    return Rules.read("\n".join((f"User-agent: {agent}", *lines)).encode(), f"{SITE}/robots.txt")


def allows(read: Rules, *paths: str) -> list[bool]:
    return [read.allows(SITE + path) for path in paths]


@pytest.mark.parametrize(
    "lines", [("Disallow: /admin", "Allow: /admin/public"), ("Allow: /admin/public", "Disallow: /admin")]
)
def test_R15_the_longest_match_wins(lines: tuple[str, str]) -> None:
    assert allows(rules(*lines), "/admin", "/admin/public/a", "/admin/x", "/") == [False, True, False, True]


@pytest.mark.parametrize("lines", [("Disallow: /page", "Allow: /page"), ("Allow: /page", "Disallow: /page")])
def test_R15_a_tie_is_an_allow(lines: tuple[str, str]) -> None:
    assert allows(rules(*lines), "/page", "/page/1") == [True, True]


@pytest.mark.parametrize(
    ("rule", "refused", "allowed"),
    [
        ("/*s=", ["/?s=x", "/a/b?x=1&s=2", "/items=3"], ["/s", "/?q=s"]),
        ("/*q=*relevance*", ["/search?q=a&sort=relevance", "/?q=relevance"], ["/search?q=a", "/relevance?q="]),
        ("/*.pdf$", ["/a.pdf", "/a/b.pdf", "/x?f=.pdf"], ["/a.pdf?x=1", "/a.pdfx", "/a.PDF"]),
        ("/fish$", ["/fish"], ["/fish/", "/fish?x", "/fishes"]),
        ("/$", ["/", ""], ["/a", "/?x"]),
        ("/a*b*c", ["/abc", "/a/b/c/d", "/axxbxxc"], ["/acb", "/ab", "/xabc"]),
        ("/a**b", ["/ab", "/axb"], ["/a"]),
        ("*/private", ["/private", "/x/private/y"], ["/privat"]),
        ("*.gif$", ["/a.gif"], ["/a.gif?1"]),
        ("/price$list", ["/price$list/a", "/price%24list"], ["/price", "/price$"]),
        ("/a?b", ["/a?b", "/a?bc"], ["/a", "/axb"]),
        ("/a%2Ab", ["/a*b", "/a%2ab"], ["/axb", "/ab"]),
        ("/~user", ["/~user/", "/%7Euser/", "/%7euser"], ["/user"]),
        ("/%7Euser", ["/~user/"], ["/user"]),
        ("/a%2Fb", ["/a%2Fb", "/a%2fb"], ["/a/b"]),
        ("/caf\u00e9", ["/caf\u00e9", "/caf%C3%A9", "/caf%c3%a9s"], ["/cafe"]),
        ("/caf%c3%a9", ["/caf\u00e9", "/caf%C3%A9"], ["/cafe"]),
        ("/a b", ["/a b", "/a%20b/c"], ["/a", "/a+b"]),
        ("/a%20b", ["/a b", "/a%20b/c"], ["/a"]),
        ('/x"<>|', ['/x"<>|', "/x%22%3C%3e%7c"], ["/x"]),
        ("/100%", ["/100%", "/100%25"], ["/100"]),
        ("//x", ["//x/y"], ["/x"]),
        ("/a.b+c(d)[e]", ["/a.b+c(d)[e]f"], ["/axb+c(d)[e]", "/a.bbc(d)e"]),
        ("/*", ["/", "/a", "/?x"], []),
        ("/ver%25C3", ["/ver%25C3%25B6"], ["/ver%C3"]),
    ],
)
def test_R16_stars_anchors_queries_and_escapes(rule: str, refused: list[str], allowed: list[str]) -> None:
    read = rules(f"Disallow: {rule}")
    assert allows(read, *refused) == [False] * len(refused)
    assert allows(read, *allowed) == [True] * len(allowed)


def test_R16_an_anchored_allow_opens_one_page() -> None:
    read = rules("Disallow: /", "Allow: /$", "Allow: /*/page=*/$")
    paths = ["/", "/a/page=2/", "/a", "/a/page=2/x", "/$", "/$secret", "/%24secret"]
    assert allows(read, *paths) == [True, True, False, False, False, False, False]


def test_R18_rules_that_can_match_no_path_do_nothing_and_are_counted() -> None:
    read = rules("Disallow: private/", "Disallow: https://www.example.com/x", "Allow: y", "Disallow:")
    assert allows(read, "/private/", "/x", "/y") == [True, True, True]
    assert (read.unparsed_rules, read.can_refuse) == (3, False)


def test_R24_rules_belong_to_scheme_host_and_port() -> None:
    urls = ["http://example.com/", "https://example.com/", "https://example.com:8443/", "https://EXAMPLE.com:443/a"]
    assert [host_key(url) for url in urls] == [
        "http://example.com",
        "https://example.com",
        "https://example.com:8443",
        "https://example.com",
    ]


def test_R27_a_disallowed_sitemap_is_named_and_disallowed() -> None:
    read = rules("Disallow: /sitemap", "Sitemap: /sitemap.xml")
    assert read.sitemaps == [f"{SITE}/sitemap.xml"]
    assert read.refused(read.sitemaps) == [0]
    assert read.rule(read.sitemaps[0]) == "group *: Disallow: /sitemap"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/a/b/c", "group SitemapUrlExtractor: Disallow: /a/b"),
        ("/a/x", "group SitemapUrlExtractor: Disallow: /a"),
        ("/z.pdf", "group SitemapUrlExtractor: Disallow: /*.pdf$"),
        ("/y", "group apify: Disallow: /y"),
        ("/q/../a", "group SitemapUrlExtractor: Disallow: /a"),
    ],
)
def test_R28_the_group_and_the_deciding_rule_are_told(path: str, said: str) -> None:
    text = "User-agent: SitemapUrlExtractor\nDisallow: /a\nDisallow: /a/b\nDisallow: /*.pdf$\n"
    text += "\nUser-agent: apify\nDisallow: /y\n"
    read = Rules.read(text.encode(), f"{SITE}/robots.txt")
    assert read.refused([SITE + path]) == [0]
    assert read.rule(SITE + path) == said


def test_R28_a_rule_as_long_as_a_url() -> None:
    read = rules(f"Disallow: /{'a' * 9_000}", "Disallow: /b")
    assert allows(read, "/" + "a" * 8_000, "/b") == [True, False]


def test_R29_an_empty_disallow_is_a_group_of_our_own() -> None:
    text = "User-agent: SitemapUrlExtractor\nDisallow:\n\nSitemap: /s.xml\n\nUser-agent: *\nDisallow: /\n"
    read = Rules.read(text.encode(), f"{SITE}/robots.txt")
    assert (read.group, read.disallows_all, read.can_refuse) == ("SitemapUrlExtractor", False, False)
    assert allows(read, "/a") == [True]


def test_a_group_for_apify_binds_as_well() -> None:
    text = "User-agent: *\nDisallow: /a\n\nUser-agent: apify\nDisallow: /b\nAllow: /a\n"
    read = Rules.read(text.encode(), f"{SITE}/robots.txt")
    assert allows(read, "/a", "/b", "/c") == [False, False, True]


def test_an_apify_group_alone_binds() -> None:
    read = rules("Disallow: /b", agent="Apify")
    assert (read.group, allows(read, "/b", "/c"), read.rule(f"{SITE}/b")) == (
        "",
        [False, True],
        "group apify: Disallow: /b",
    )


def test_everyones_group_does_not_stand_in_for_apify() -> None:
    text = "User-agent: SitemapUrlExtractor\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n"
    read = Rules.read(text.encode(), f"{SITE}/robots.txt")
    assert (read.disallows_all, allows(read, "/a", "/b")) == (False, [False, True])


@pytest.mark.parametrize("rule", ["/", "/*", "*", "/**", "*/*", "/*$", "*$", "*/", "/ # all"])
def test_disallows_all_even_with_allow_lines(rule: str) -> None:
    read = rules(f"Disallow: {rule}", "Allow: /public/")
    assert read.disallows_all
    assert allows(read, "/public/a", "/a") == [True, False]


@pytest.mark.parametrize("rule", ["/$", "/a", "/*a", "/*/", "//", "/%2A", "/?", "", "all", "/*?*"])
def test_other_rules_do_not_disallow_all(rule: str) -> None:
    assert not rules(f"Disallow: {rule}").disallows_all


@pytest.mark.parametrize(("agent", "closed"), [("apify", True), ("SitemapUrlExtractor", True), ("otherbot", False)])
def test_whose_group_disallows_all(agent: str, closed: bool) -> None:
    assert rules("Disallow: /", agent=agent).disallows_all is closed


def test_robots_txt_itself_is_always_allowed() -> None:
    read = rules("Disallow: /")
    assert allows(read, "/robots.txt", "/robots.txt.bak", "/a/robots.txt", "/Robots.txt") == [True, False, False, False]


@pytest.mark.parametrize(
    "path",
    [
        "/public/../private/a",
        "/./private/a",
        "/public/%2e%2E/private/a",
        "/x/y/../../private/",
        "/private/.",
        "/../private/",
    ],
)
def test_dot_segments_open_no_closed_path(path: str) -> None:
    assert allows(rules("Disallow: /private/"), path) == [False]


@pytest.mark.parametrize("path", ["/.well-known/a", "/a..b/private/", "/...", "/a/..private/", "/?x=/../private/"])
def test_dots_that_are_no_segments(path: str) -> None:
    assert allows(rules("Disallow: /private/"), path) == [True]


def test_a_url_is_judged_in_any_spelling() -> None:
    read = rules("Disallow: /a")
    urls = [
        f"{SITE}/a",
        "HTTPS://WWW.Example.com:443/a",
        "https://www.example.com/%61#top",
        f"{SITE}/b#/a",
        f"{SITE}?a",
    ]
    assert read.refused(urls) == [0, 1, 2]


def test_no_path_is_the_root() -> None:
    read = rules("Disallow: /$")
    assert read.refused([SITE, f"{SITE}/", f"{SITE}#x", f"{SITE}?x", f"{SITE}/a"]) == [0, 1, 2]


@pytest.mark.parametrize(
    "rule", ["/" + "*a" * 20_000 + "*b$", "/" + "a*" * 200 + "b", "*" * 50_000 + "x", "/*" + "a" * 100_000]
)
def test_hostile_rules_cannot_stall(rule: str) -> None:
    read = rules(f"Disallow: {rule}", "Allow: /" + "a*" * 200 + "c$")
    assert read.refused([f"{SITE}/{'a' * 8_000}"] * 100) == []


def test_hundreds_of_nested_prefixes_compile() -> None:
    lines = [f"Disallow: /{'a' * count}b" for count in range(300)]
    assert rules(*lines).refused([f"{SITE}/aaab", f"{SITE}/aaac", f"{SITE}/{'a' * 299}b"]) == [0, 2]
