"""Which of many URLs any Disallow touches, at a cost that hardly depends on the number of rules.

An ordinary batch is mostly untouched, so it is searched as one text, a line per URL: all rules that are plain prefixes
together, by one pattern with their common beginnings factored out (or, for very many, by looking up the path's own
beginnings in a set); a rule with stars only if its longest literal piece occurs in the text at all. Stars are matched
by hand, piece after piece, each at its first place: a later place could not match more, and so nothing backtracks.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

_MOST_IN_PATTERN = 300  # prefixes; compiling a pattern of thousands takes seconds
_FEW_LINES = 20  # up to which looking line by line is cheaper than having a pattern
_DEEPEST = 4  # levels of factoring; more gain nothing
_rare = re.compile(r"[^A-Za-z0-9/_-]").search


class _Starred(NamedTuple):
    """A rule with stars or an anchored end."""

    text: str
    pieces: tuple[str, ...]  # what stands between the stars
    anchored: bool  # by a final `$`
    literal: str  # the longest piece: a URL without it does not match
    rare: str  # a character of it, if possible an unusual one: looked for ten times as fast as several

    def matches(self, line: str, start: int) -> bool:
        """Whether the rule matches the path that begins at `start` of a line."""
        first, *others = self.pieces
        if not line.startswith(first, start):
            return False
        position = start + len(first)
        last = others.pop() if others and self.anchored else None
        for piece in others:
            position = line.find(piece, position)
            if position < 0:
                return False
            position += len(piece)
        if not self.anchored:
            return True
        if last is None:
            return position == len(line)
        return line.endswith(last) and len(line) - len(last) >= position


class Finder:
    """The Disallow patterns of one group, in the spelling of `paths`."""

    def __init__(self, patterns: Iterable[str], origin: str) -> None:
        """Take patterns that begin with `/` or `*`, and the `scheme://host[:port]` that lines begin with."""
        self._origin = origin
        written: dict[str, str] = {}  # prefixes, and the longest way each is written: "/a" also as "/a*" or "/a*$"
        self._starred: list[_Starred] = []
        for pattern in sorted(set(patterns), key=len):
            rule = _read(pattern)
            if len(rule.pieces) == 1 and not rule.anchored:
                written[rule.literal] = pattern
            else:
                self._starred.append(rule)
        self._prefixes = tuple(sorted(written))
        self._written = {prefix: pattern for prefix, pattern in written.items() if prefix != pattern}
        self._lookup = frozenset(written) if len(written) > _MOST_IN_PATTERN else frozenset[str]()
        self._lengths = sorted({len(prefix) for prefix in self._lookup})
        self._pattern: re.Pattern[str] | None = None

    def touched(self, text: str) -> list[int]:
        r"""Return the line numbers, from 0 and in order, of the URLs that some pattern matches.

        Each line of the text follows a newline: "\nhttps://example.com/a\nhttps://example.com/b".
        """
        found = set(self._with_prefix(text))
        lines: list[str] = []
        start = len(self._origin)
        for rule in self._starred:
            if rule.rare in text and rule.literal in text:
                lines = lines or text.split("\n")[1:]
                matching = (i for i, line in enumerate(lines) if rule.literal in line and rule.matches(line, start))
                found.update(matching)
        return sorted(found)

    def longest(self, line: str) -> str | None:
        """Return the longest pattern that matches the URL in a line, None where there is none."""
        start = len(self._origin)
        path = line[start:]
        if self._lookup:
            prefixes = [path[:length] for length in self._lengths if path[:length] in self._lookup]
        else:
            prefixes = [prefix for prefix in self._prefixes if path.startswith(prefix)]
        matching = [self._written.get(prefix, prefix) for prefix in prefixes]
        matching += [rule.text for rule in self._starred if rule.literal in line and rule.matches(line, start)]
        return max(matching, key=len, default=None)

    def _with_prefix(self, text: str) -> Iterator[int]:
        if not self._prefixes:
            return
        start = len(self._origin)
        if self._lookup:
            known = self._lookup
            for number, line in enumerate(text.split("\n")[1:]):
                path = line[start:]
                if any(path[:length] in known for length in self._lengths):
                    yield number
        elif self._pattern is None and text.count("\n") <= _FEW_LINES:
            for number, line in enumerate(text.split("\n")[1:]):
                if line.startswith(self._prefixes, start):
                    yield number
        else:
            yield from self._searched(text)

    def _searched(self, text: str) -> Iterator[int]:
        if self._pattern is None:
            words = _alternatives(_without_longer(self._prefixes))
            self._pattern = re.compile(f"\n{re.escape(self._origin)}(?:{words})")
        number, counted = 0, 1
        for found in self._pattern.finditer(text):
            number += text.count("\n", counted, found.start() + 1)
            counted = found.start() + 1
            yield number


def _read(pattern: str) -> _Starred:
    """Split a pattern at its stars; a final star, anchored or not, says nothing."""
    anchored = pattern.endswith("$")
    first, *others = re.split(r"\*+", pattern.removesuffix("$"))
    if others and not others[-1]:
        others.pop()
        anchored = False
    pieces = (first, *others)
    literal = max(pieces, key=len)
    rare = _rare(literal)
    return _Starred(pattern, pieces, anchored, literal, rare[0] if rare else literal)


def _without_longer(prefixes: Iterable[str]) -> list[str]:
    """Leave out of sorted prefixes every one that begins with another: it touches nothing more."""
    kept: list[str] = []
    for prefix in prefixes:
        if not kept or not prefix.startswith(kept[-1]):
            kept.append(prefix)
    return kept


def _alternatives(words: Iterable[str], depth: int = 0) -> str:
    """Write words (none of which begins with another) as one expression, common beginnings factored out."""
    alternatives = []
    for _, same in groupby(sorted(words), key=lambda word: word[:1]):
        group = list(same)
        common = _common(group[0], group[-1])
        if len(group) == 1 or depth >= _DEEPEST:
            alternatives += [re.escape(word) for word in group]
        else:
            rest = _alternatives((word[len(common) :] for word in group), depth + 1)
            alternatives.append(f"{re.escape(common)}(?:{rest})")
    return "|".join(alternatives)


def _common(first: str, last: str) -> str:
    """Return what the first and the last of sorted words, and so all of them, begin with."""
    for position, character in enumerate(first):
        if last[position : position + 1] != character:
            return first[:position]
    return first
