"""`includeUrlPatterns` and `excludeUrlPatterns`: which URLs the customer wants (spec 1).

A pattern is a glob (`*` any text, `?` one character) or, after `re:`, a regular expression. Either has to match the
whole URL, letter case included. With include patterns a URL must match one of them; a URL that matches an exclude
pattern is dropped in any case.
"""

import re
from collections.abc import Callable, Sequence

_MOST_CHARACTERS = 2_000
_Matcher = Callable[[list[str], str], list[int]]


class PatternError(ValueError):
    """A pattern that cannot be used: `pattern` is the text given, `why` says what is wrong with it."""

    def __init__(self, pattern: str, why: str) -> None:
        super().__init__(f"{pattern}: {why}")
        self.pattern = pattern
        self.why = why


class Patterns:
    """The customer's two lists, compiled."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        """Compile both lists; raises PatternError for the first pattern that does not compile."""
        self._include = [_matcher(pattern) for pattern in include]
        self._exclude = [_matcher(pattern) for pattern in exclude]

    def __bool__(self) -> bool:
        """Whether there is any pattern at all."""
        return bool(self._include or self._exclude)

    def refused(self, urls: list[str]) -> list[int]:
        """Return the indices of the URLs that the patterns leave out, in order."""
        joined = "\n".join(urls)
        kept = set(range(len(urls)))
        if self._include:
            kept = {index for wanted in self._include for index in wanted(urls, joined)}
        for unwanted in self._exclude:
            kept.difference_update(unwanted(urls, joined))
        return [] if len(kept) == len(urls) else [index for index in range(len(urls)) if index not in kept]


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile one pattern, to be used with fullmatch. Raises PatternError."""
    if not pattern.strip():
        raise PatternError(pattern, "empty pattern")
    if len(pattern) > _MOST_CHARACTERS:
        raise PatternError(pattern[:100], f"longer than {_MOST_CHARACTERS:,} characters")
    source = pattern[3:] if pattern.startswith("re:") else _glob(pattern)
    try:
        return re.compile(source, re.DOTALL)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(pattern, f"not a regular expression: {error}") from None


def _matcher(pattern: str) -> _Matcher:
    """Return what finds the matching URLs of a batch, given also as one text."""
    matches = compiled(pattern).fullmatch
    if pattern.startswith("re:"):
        return lambda urls, _joined: [index for index, url in enumerate(urls) if matches(url)]
    literal = max(re.split(r"[*?]", pattern), key=len)
    if pattern == f"*{literal}*":
        return lambda urls, joined: (
            [index for index, url in enumerate(urls) if literal in url] if literal in joined else []
        )
    if pattern == f"{literal}*":
        return lambda urls, _joined: [index for index, url in enumerate(urls) if url.startswith(literal)]
    return lambda urls, joined: (
        [index for index, url in enumerate(urls) if literal in url and matches(url)] if literal in joined else []
    )


def _glob(pattern: str) -> str:
    """Translate a glob so that it cannot backtrack.

    Text between two stars is looked for once, at its first place: a later place could not match more. Hence the atomic
    groups; without them a glob with many stars would take exponential time on a URL made for it. Only the text after
    the last star is tied to the end.
    """
    first, *others = ["".join("." if c == "?" else re.escape(c) for c in piece) for piece in pattern.split("*")]
    if not others:
        return first
    *middle, last = others
    return first + "".join(f"(?>.*?{piece})" for piece in middle if piece) + f".*{last}"
