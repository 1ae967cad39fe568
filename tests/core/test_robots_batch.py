"""The batch way, the single way and Protego's own way give the same verdicts."""

import re
import time
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from protego import Protego

from sitemap_actor.core.robots import Rules, Unreadable

SITE = "https://www.example.com"
ROBOTS = f"{SITE}/robots.txt"

ordinary_paths = st.text("ab/._-=~0", max_size=12).map(lambda text: f"/{text}")
odd_paths = st.text("ab/.?%2*$Ee5 \u00e9#&\\\n", max_size=14).map(lambda text: f"/{text}")
ordinary_rules = st.text("ab/*._-=0", max_size=8).map(lambda text: f"/{text}")
odd_rules = st.text("ab/*$.?%2Ee5 \u00e9&", max_size=10).map(lambda text: f"/{text}")


def file_of(lines: list[tuple[bool, str]], agent: str = "*") -> bytes:
    rules = "".join(f"{'Allow' if allow else 'Disallow'}: {path}\n" for allow, path in lines)
    return f"User-agent: {agent}\n{rules}".encode()


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(st.booleans(), odd_rules), max_size=8), st.lists(odd_paths, min_size=1, max_size=8))
@example([(False, "/%%341")], ["/%%341", "/A"])
@example([(False, "/a%")], ["/a%20", "/a?b", "/a\u00e9"])
@example([(False, "/*$")], ["/\n/a"])
def test_batch_and_single_agree(lines: list[tuple[bool, str]], paths: list[str]) -> None:
    rules = Rules.read(file_of(lines), ROBOTS)
    urls = [SITE + path for path in paths]
    assert rules.refused(urls) == [index for index, url in enumerate(urls) if not rules.allows(url)]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(st.booleans(), ordinary_rules), max_size=8), st.lists(ordinary_paths, min_size=1, max_size=8))
def test_protego_agrees_on_ordinary_paths(lines: list[tuple[bool, str]], paths: list[str]) -> None:
    body = file_of(lines)
    rules, protego = Rules.read(body, ROBOTS), Protego.parse(body.decode())
    plain = [path for path in paths if "/." not in path]  # dot segments are ours alone
    assert [rules.allows(SITE + path) for path in plain] == [protego.can_fetch(SITE + path, "x") for path in plain]


def by_the_book(lines: list[tuple[bool, str]], path: str) -> bool:
    """RFC 9309 2.2.2 in its plainest reading: lengths as written, a tie is an Allow."""
    lengths = {True: -1, False: -1}
    for allow, rule in lines:
        source = re.escape(rule.removesuffix("$")).replace(r"\*", ".*")
        if re.match(f"{source}\\Z" if rule.endswith("$") else source, path):
            lengths[allow] = max(lengths[allow], len(rule))
    return lengths[True] >= lengths[False]


@settings(max_examples=600, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.text("ab*$?&=", max_size=5).map(lambda text: f"/{text}")), max_size=4),
    st.text("ab?&=$/", max_size=7).map(lambda text: f"/{text}"),
)
@example([(True, "/&"), (False, "/*$")], "/&$")
@example([(True, "/x?y"), (False, "/x*yz")], "/x?yz")
def test_never_more_permissive_than_the_plainest_reading(lines: list[tuple[bool, str]], path: str) -> None:
    if Rules.read(file_of(lines), ROBOTS).allows(SITE + path):
        assert by_the_book(lines, path)


@settings(max_examples=200, deadline=None)
@given(st.lists(ordinary_rules, min_size=1, max_size=6), st.lists(ordinary_paths, min_size=1, max_size=30))
def test_both_ways_of_finding_prefixes_agree(prefixes: list[str], paths: list[str]) -> None:
    few = Rules.read(file_of([(False, path) for path in prefixes]), ROBOTS)
    filler = [(False, f"/zz{number}/") for number in range(400)]  # past what one pattern holds
    many = Rules.read(file_of([(False, path) for path in prefixes] + filler), ROBOTS)
    urls = [SITE + path for path in paths]
    assert few.refused(urls) == many.refused(urls)


@settings(max_examples=200, deadline=None)
@given(st.lists(odd_rules, max_size=5), st.lists(odd_rules, max_size=5), odd_paths)
def test_a_path_must_pass_both_groups(ours: list[str], apify: list[str], path: str) -> None:
    own = file_of([(False, rule) for rule in ours])
    other = file_of([(False, rule) for rule in apify], "apify")
    both = Rules.read(own + b"\n" + other, ROBOTS)
    alone = [Rules.read(own, ROBOTS), Rules.read(other, ROBOTS)]
    assert both.allows(SITE + path) == all(rules.allows(SITE + path) for rules in alone)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_unreadable(body: bytes) -> None:
    if b"\0" in body and not body.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
        with pytest.raises(Unreadable):
            Rules.read(body, ROBOTS)
        return
    with suppress(Unreadable):
        assert Rules.read(body, ROBOTS).allows(ROBOTS)


@pytest.mark.parametrize(
    "urls",
    [
        [f"{SITE}/a/{number}" for number in range(50)],
        [f"{SITE}/a/%D0%B0{number}?x=1&y=%20" for number in range(50)],
        [f"{SITE}/a/%d0%b0{number}" for number in range(50)],
        [f"{SITE}/a/\u0430{number} b" for number in range(50)],
        [f"{SITE}/a/{number}#private" for number in range(50)],
        [f"HTTPS://www.EXAMPLE.com/a/{number}" for number in range(50)],
    ],
)
def test_one_refused_among_many(urls: list[str]) -> None:
    rules = Rules.read(b"User-agent: *\nDisallow: /private\nDisallow: /*.pdf$\nAllow: /private/not", ROBOTS)
    assert rules.refused(urls) == []
    mixed = [*urls[:7], f"{SITE}/private", *urls[7:9], f"{SITE}/x.pdf", f"{SITE}/private/not/this"]
    assert rules.refused(mixed) == [7, 10]


def test_an_ordinary_batch_costs_little() -> None:
    prefixes = [
        f"Disallow: /{word}{number}/" for word in ("admin", "cart", "search", "tmp", "user") for number in range(7)
    ]
    starred = ["Disallow: /*.pdf$", "Disallow: /*?sort=", "Disallow: /*/print/", "Disallow: /*;sid", "Disallow: /x*y"]
    rules = Rules.read("\n".join(["User-agent: *", *prefixes, *starred]).encode(), ROBOTS)
    urls = [f"{SITE}/category/some-product-name-{number}?ref={number}" for number in range(1_000)]
    assert rules.refused(urls) == []
    best = min(timed(rules, urls) for _ in range(20))
    # About 0.5 microseconds a URL on an idle core; ten times that means that a batch is judged URL by URL.
    assert best < 5e-6 * len(urls)


def timed(rules: Rules, urls: list[str]) -> float:
    start = time.process_time()
    rules.refused(urls)
    return time.process_time() - start
