"""What is remembered of a site besides its pages, and what one run saw of each sitemap file.

Sitemaps are known by their canonical URL. A namer is what names a sitemap: the canonical URL of an index, or one of
`ROBOTS`, `INPUT`, `GUESS`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from sitemap_actor.core.reading import GUESS, INPUT
from sitemap_actor.core.reading import ROBOTS_TXT as ROBOTS

__all__ = ["GUESS", "INPUT", "ROBOTS"]

DEAD_AFTER_NOT_THERE = 3
DEAD_AFTER_FAILED = 10
GONE_AFTER_MISSING = 3
FULL_READING_EVERY = 10
UNRELIABLE_AFTER_STAMPS = 3


class Came(StrEnum):
    """What came of a sitemap file in one run, as far as the comparison cares."""

    WHOLE = "whole"
    PARTIAL = "partial"
    """Read in part: broken, or cut on the way."""
    CUT = "cut"
    """Read in part because a limit or the end of the run cut it off."""
    NOT_THERE = "not_there"
    """Answered 404 or 410."""
    FAILED = "failed"
    """Failed in any other way."""
    UNREAD = "unread"
    """Not asked for: disallowed, past a limit, its host closed, the run over."""
    LEFT_OUT = "left_out"
    """Not asked for by a rule of the job; it holds nothing."""
    MISSING = "missing"
    """No longer named by any of its namers that could be read."""
    UNKNOWN = "unknown"
    """Not named, but a namer could not be read."""


@dataclass(slots=True)
class SitemapFacts:
    """What is remembered of one sitemap. The counters count runs running."""

    url: str
    number: int = 0
    """Its number among the site's sitemaps, as pages refer to it."""
    named_by: tuple[str, ...] = ()
    index: bool = False
    known: bool = True
    """Seen by an earlier run; false while only delivered rows tell of it."""
    whole: bool = False
    """Read whole at some time, with every baseline row of it saved."""
    confirmed: int | None = None
    """Pages at the last reading that was whole and not under suspicion."""
    shrunk: bool = False
    not_there: int = 0
    failed: int = 0
    missing: int = 0
    stamped: int = 0
    rolling: bool = False
    """Its content marked it as rolling."""
    gone: bool = False
    """Dead or dropped for good; it holds nothing until it is read whole again."""
    etag: str | None = None
    last_modified: str | None = None
    answered_by: str | None = None
    """The address whose answer the validators are of."""
    terms: str | None = None
    """Fingerprint of the settings under which the validators hold."""

    def to_dict(self) -> dict[str, Any]:
        """The facts that differ from a fresh sitemap's, for the head record."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        blank = SitemapFacts(self.url)
        return {name: value for name, value in values.items() if name == "url" or value != getattr(blank, name)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "SitemapFacts":
        """The facts as `to_dict` gave them. Raises TypeError or KeyError on anything else."""
        facts = cls(**values)
        facts.named_by = tuple(facts.named_by)
        return facts

    def forget_validators(self) -> None:
        """Ask for it in full next time."""
        self.etag = self.last_modified = self.answered_by = self.terms = None


@dataclass(slots=True)
class SiteFacts:
    """What is remembered of one site. `generation` 0 is a site never remembered before."""

    entry: str
    generation: int = 0
    runs: int = 0
    whole: bool = False
    """Read whole at some time, with every baseline row saved."""
    quiet: bool = False
    """Its earlier state could not be read: pages enter without a row until it was read whole."""
    floor: int = 0
    """Shards of generations up to this one belong to an earlier state that could not be read; they are never deleted."""
    run: str | None = None
    """The run that moved it on last; a later life of that run does not do so again."""
    sitemaps: dict[str, SitemapFacts] = field(default_factory=dict)

    def copy(self) -> "SiteFacts":
        """A copy that may be changed without changing this one."""
        return replace(self, sitemaps={url: replace(facts) for url, facts in self.sitemaps.items()})


class Numbers:
    """The numbers of a site's sitemaps: those remembered keep theirs, others get the next."""

    def __init__(self, site: SiteFacts) -> None:
        self._of = {url: facts.number for url, facts in site.sitemaps.items()}
        self._last = max(self._of.values(), default=0)

    def of(self, url: str) -> int:
        """The number of the sitemap with that canonical URL."""
        number = self._of.get(url)
        if number is None:
            self._last += 1
            number = self._of[url] = self._last
        return number


@dataclass(slots=True)
class FileSeen:
    """One sitemap file in this run. `url` is canonical; `came` is never MISSING or UNKNOWN."""

    url: str
    came: Came
    named_by: tuple[str, ...] = ()
    rolling: bool = False
    index: bool = False
    unchanged: bool = False
    """Answered 304, its remembered content read in its place."""
    etag: str | None = None
    last_modified: str | None = None
    answered_by: str | None = None


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What else decides what an absent sitemap means.

    `readable` are the namers that could be read in this run; `dropped_by_settings` those that the job no longer uses.
    `ended` : a limit on URLs or the end of the run left something unread. `name_rolls`: substrings that mark a sitemap as
    rolling when its path or query holds one.
    """

    readable: frozenset[str]
    dropped_by_settings: frozenset[str] = frozenset()
    ended: bool = False
    name_rolls: tuple[str, ...] = ()


def is_named(facts: SitemapFacts) -> bool:
    """Whether the sitemap was read whole, and robots.txt or the input named it."""
    return facts.whole and not facts.gone and not {ROBOTS, INPUT}.isdisjoint(facts.named_by)


def rolls_by_name(url: str, substrings: Iterable[str]) -> bool:
    """Whether the sitemap's path or query, not its host, holds `news` or one of the substrings (any letter case)."""
    rest = url.partition("://")[2]
    start = min((at for at in (rest.find("/"), rest.find("?")) if at >= 0), default=len(rest))
    path = rest[start:].lower()
    return any(part.lower() in path for part in ("news", *substrings) if part)
