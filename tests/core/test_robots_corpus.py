"""Other people's files: 400 real robots.txt with another parser's 9,522 verdicts, and crawler-commons' own cases."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from sitemap_actor.core.robots import Rules

CORPUS = Path(__file__).parent.parent / "corpus"
ROBOTS = "https://example.com/robots.txt"

# Where spec 5 decides otherwise than the other parser: a raw space or lower-case hex in a rule is percent-normalised
# like the URL (we are stricter), and /robots.txt itself is always allowed.
SPELLED_LIKE_THE_URL = {f"r{number:03}.txt" for number in (30, 103, 112, 136, 150, 181, 200, 267, 272, 347, 358)}
CLOSES_ROBOTS_TXT = {"r027.txt", "r271.txt"}


def verdicts() -> dict[str, list[tuple[str, bool]]]:
    table = defaultdict(list)
    for line in (CORPUS / "robots-real" / "verdicts.tsv").read_text("utf-8").splitlines()[1:]:
        file, url, allowed = line.split("\t")
        table[file].append((url, allowed == "1"))
    return table


VERDICTS = verdicts()


def test_the_table_is_whole() -> None:
    assert (len(VERDICTS), sum(map(len, VERDICTS.values()))) == (400, 9_522)


@pytest.mark.parametrize("file", sorted(set(VERDICTS) - SPELLED_LIKE_THE_URL - CLOSES_ROBOTS_TXT))
def test_agrees_with_the_other_parser(file: str) -> None:
    rules = Rules.read((CORPUS / "robots-real" / file).read_bytes(), ROBOTS)
    urls = [url for url, _ in VERDICTS[file]]
    assert rules.refused(urls) == [index for index, (_, allowed) in enumerate(VERDICTS[file]) if not allowed]


@pytest.mark.parametrize("file", sorted(SPELLED_LIKE_THE_URL))
def test_is_stricter_only_where_a_rule_holds_a_space_or_lower_case_hex(file: str) -> None:
    body = (CORPUS / "robots-real" / file).read_bytes()
    rules = Rules.read(body, ROBOTS)
    differing = [url for url, allowed in VERDICTS[file] if rules.allows(url) != allowed]
    assert differing
    for url in differing:
        assert not rules.allows(url)
        assert "%20" in url or "%3d" in url, "no other reason to differ"


@pytest.mark.parametrize("file", sorted(CLOSES_ROBOTS_TXT))
def test_robots_txt_itself_is_the_only_difference(file: str) -> None:
    rules = Rules.read((CORPUS / "robots-real" / file).read_bytes(), ROBOTS)
    assert [url for url, allowed in VERDICTS[file] if rules.allows(url) != allowed] == [ROBOTS]


@pytest.mark.parametrize(
    ("file", "agent", "refused", "allowed"),
    [
        ("cc-crawl-delay-group-merging", "mybot", ["/private/"], ["/login/", "/"]),
        ("cc-crawl-delay-group-merging", "yourbot", ["/private/", "/login/"], ["/"]),
        ("cc-extensions-group-merging", "mybot", ["/private/", "/login/"], ["/"]),
        ("cc-extensions-group-merging", "yourbot", ["/private/", "/login/"], ["/"]),
        ("cc-extensions-group-merging", None, ["/", "/a"], ["/llms.txt"]),
        ("cc-directive-typos-robots", "bot1", ["/dissalow/"], ["/desallow/"]),
        ("cc-directive-typos-robots", "bot2", ["/useragent/"], ["/"]),
        ("cc-directive-typos-robots", "bot4", ["/useragent-no-colon/"], ["/"]),
        ("cc-format-errors-robots", "bot1", ["/whitespace-before-colon/", "/no-colon/"], ["/"]),
        ("cc-format-errors-robots", "bot2", ["/no-colon-useragent/"], ["/"]),
        ("cc-format-errors-robots", "bot3", ["/", "/a"], ["/whitespace-before-colon"]),
        ("cc-merge-rules", "wget", ["/tmp/bar"], ["/foo/bar", "/ckh/bar"]),
        ("cc-precedence-of-rules", "testy", ["/foo", "/foo/baz"], ["/foo/bar/a"]),
        ("cc-precedence-of-rules", "wget", ["/bar"], ["/foo", "/index.html"]),
        ("cc-rfc9309-example-simple-robots", None, ["/a.gif", "/example/x"], ["/publications/", "/a.gif?x"]),
        ("cc-rfc9309-example-simple-robots", "foobot", ["/", "/a"], ["/example/page.html", "/example/allowed.gif"]),
        ("cc-rfc9309-example-simple-robots", "bazbot", ["/example/page.html"], ["/"]),
        ("cc-rfc9309-example-simple-robots", "quxbot", [], ["/example/", "/a.gif"]),
        ("cc-rfc9309-example-longest-match-robots", "foobot", ["/example/page/disallowed.gif"], ["/example/page/a"]),
        ("cc-rfc9309-example-rule-group-merging", "ExampleBot", ["/foo", "/bar", "/baz"], ["/"]),
        ("cc-rfc9309-example-rule-group-merging", "BazBot", ["/baz"], ["/foo"]),
        ("cc-malformed-path", None, ["/wiki/Wikipedia_talk:Mediation_Committee/"], ["/wiki/"]),
        ("cc-many-user-agents", "wget", ["/", "/a"], []),
        ("cc-wildcards", None, ["/gp/cart/x", "/dp/shipping/"], ["/gp/bestsellers"]),
    ],
)
def test_cases_of_crawler_commons(file: str, agent: str | None, refused: list[str], allowed: list[str]) -> None:
    body = (CORPUS / "robots" / f"{file}.txt").read_bytes()
    if agent:  # these files speak to other agents: give us their name
        body, changed = re.subn(rb"(?i)(user-?agent:? )%b\b" % agent.encode(), rb"\1SitemapUrlExtractor", body)
        assert changed
    rules = Rules.read(body, ROBOTS)
    assert [path for path in refused + allowed if not rules.allows(f"https://example.com{path}")] == refused


@pytest.mark.parametrize("mark", ["utf8", "utf16be", "utf16le"])
def test_R02_files_with_marks_say_the_same(mark: str) -> None:
    rules = Rules.read((CORPUS / "robots" / f"cc-robots-with-{mark}-bom.txt").read_bytes(), ROBOTS)
    assert rules.sitemaps == ["http://www.newsweek.com/sitemap_index.xml"]
    assert (rules.group, rules.can_refuse) == ("*", True)


def test_R09_sitemap_lines_of_crawler_commons() -> None:
    found = [
        Rules.read((CORPUS / "robots" / f"cc-sitemap-robots{rest}.txt").read_bytes(), ROBOTS) for rest in ("", "-dedup")
    ]
    assert [rules.sitemaps for rules in found] == [
        ["http://domain.com/sitemap.xml", "http://domain.com/dir/MixedCased-sitemap.xml"],
        ["http://example.org/sitemap.xml"],
    ]
