"""Globs and regular expressions on whole URLs (spec 1)."""

import fnmatch
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_actor.core.patterns import PatternError, Patterns, compiled

URLS = [
    "https://example.com/",
    "https://example.com/blog/one",
    "https://example.com/blog/two?page=2",
    "https://example.com/shop/Blog/three",
    "https://other.example/blog/four",
]


@pytest.mark.parametrize(
    ("include", "exclude", "kept"),
    [
        ([], [], [0, 1, 2, 3, 4]),
        (["*/blog/*"], [], [1, 2, 4]),
        (["https://example.com/*"], [], [0, 1, 2, 3]),
        (["*blog*"], ["*page=*"], [1, 4]),
        ([], ["*/blog/*", "*/Blog/*"], [0]),
        (["*/blog/*"], ["*/blog/*"], []),
        (["https://example.com/", "*four"], [], [0, 4]),
        (["blog"], [], []),
        (["https://example.com/blog/???"], [], [1]),
        (["https://example.com/blog/two?page=2"], [], [2]),
        (["*"], [], [0, 1, 2, 3, 4]),
        (["re:.*/blog/(one|two).*"], [], [1, 2]),
        (["re:blog"], [], []),
        (["re:(?i).*/blog/.*"], [], [1, 2, 3, 4]),
        ([], ["re:https://example\\.com/.*"], [4]),
        ([r"re:https://([a-z]+)\.example/(?P<x>b).*"], [r"re:.*(one|four)$"], []),
        (["*.example.com/*"], [], []),
        (["*example.com*", "re:.*four"], ["re:.*three", "*one"], [0, 2, 4]),
    ],
)
def test_which_urls_are_wanted(include: list[str], exclude: list[str], kept: list[int]) -> None:
    assert Patterns(include, exclude).refused(URLS) == [index for index in range(len(URLS)) if index not in kept]


@pytest.mark.parametrize(
    "pattern", ["re:(", "re:[", "re:*a", "re:(?P<a>x)(?P<a>y)", "re:a{99999999999}", "", "  ", "a" * 2_001]
)
def test_a_pattern_that_cannot_be_used_is_named(pattern: str) -> None:
    with pytest.raises(PatternError) as raised:
        Patterns([], ["*ok*", pattern])
    assert raised.value.why
    assert pattern.startswith(raised.value.pattern[:100])


@pytest.mark.parametrize("text", ["[a]", "a.b", "a+b", "(a)", "a|b", "^a$", "a\\d", "{2}", "!a"])
def test_in_a_glob_only_star_and_question_mark_are_special(text: str) -> None:
    assert compiled(f"*{text}*").fullmatch(f"https://example.com/{text}/x")
    assert not compiled(f"*{text}").fullmatch("https://example.com/ab2")


def test_whether_there_are_any() -> None:
    assert not Patterns([], [])
    assert Patterns(["*"], [])
    assert Patterns([], ["*"])


@given(st.text("ab*?/", max_size=12), st.text("ab/\n", max_size=12))
def test_globs_mean_what_they_mean_elsewhere(pattern: str, text: str) -> None:
    if pattern.strip():
        elsewhere = re.compile(fnmatch.translate(pattern))
        assert bool(compiled(pattern).fullmatch(text)) == bool(elsewhere.match(text))


@given(st.text("ab*?/", min_size=1, max_size=8), st.lists(st.text("ab/", max_size=8), max_size=6))
def test_a_batch_is_matched_like_single_urls(pattern: str, urls: list[str]) -> None:
    matching = [index for index, url in enumerate(urls) if compiled(pattern).fullmatch(url)]
    assert Patterns([], [pattern]).refused(urls) == matching
    assert Patterns([pattern], []).refused(urls) == [index for index in range(len(urls)) if index not in matching]


def test_many_stars_cannot_stall() -> None:
    patterns = Patterns(["*a" * 500 + "*b"], ["?*" * 400 + "c"])
    start = time.process_time()
    assert patterns.refused(["a" * 8_000] * 5) == [0, 1, 2, 3, 4]
    assert time.process_time() - start < 5.0
