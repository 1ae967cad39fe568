"""What this run's reading means for each sitemap: read whole, dead, dropped, holding removals, gone (spec section 7).

Pure bookkeeping over `SitemapFacts`; pages are not looked at here, only counted by whoever calls `note_counts`.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import IntEnum

from sitemap_actor.core.changes.facts import (
    DEAD_AFTER_FAILED,
    DEAD_AFTER_NOT_THERE,
    GONE_AFTER_MISSING,
    GUESS,
    INPUT,
    ROBOTS,
    Came,
    Circumstances,
    FileSeen,
    SiteFacts,
    SitemapFacts,
    is_named,
    rolls_by_name,
)

_READ_IN_PART = frozenset({Came.PARTIAL, Came.CUT})
_NEVER_HOLD = frozenset({Came.WHOLE, Came.LEFT_OUT})


class Fate(IntEnum):
    """What a sitemap says of a remembered page of it that no file lists in this run."""

    UNKNOWN = 0
    """It was not read whole: the page may still be there."""
    HELD = 1
    """The page is missing, but the sitemap's word is not taken yet."""
    MISSING = 2
    """The page is missing."""
    AGED = 3
    """The page left a rolling sitemap."""
    SILENT = 4
    """The sitemap went without ever being read whole, or was rolling: its pages go without a row."""


@dataclass(slots=True)
class SitemapCase:
    """One sitemap in this run. `facts` is this run's copy, moved on; `before` what an earlier run left, if any."""

    facts: SitemapFacts
    came: Came
    before: SitemapFacts | None
    rolling: bool
    listed: int = 0
    """Pages it lists in this run."""
    known: int = 0
    """Pages remembered of it."""
    shrink_held: bool = False
    massive: bool = False
    """It is new and brings so many unknown pages that they are a baseline."""
    stamped: int = 0
    """Pages whose lastmod a deploy stamped in this run."""
    behind: bool = False
    """Seen for the first time, but only because what names it was left unread so far, or because the input now names it."""
    stopgap: bool = False
    """Never read whole, and found by guessing only because robots.txt no longer names what it did, which may be a mistake: what
    it lists is no news until the sitemaps that were named count as gone.
    """
    seen: FileSeen | None = None

    @property
    def number(self) -> int:
        """Its number among the site's sitemaps."""
        return self.facts.number

    @property
    def url(self) -> str:
        """Its canonical URL."""
        return self.facts.url

    @property
    def fresh(self) -> bool:
        """No earlier run saw it."""
        return self.before is None or not self.before.known

    @property
    def was_whole(self) -> bool:
        """An earlier run read it whole."""
        return self.before is not None and self.before.whole

    @property
    def left_unread(self) -> bool:
        """Known to an earlier run, but never read whole by one; or out of sight of earlier runs behind such a one."""
        return self.behind if self.fresh else not self.was_whole

    @property
    def doubtful(self) -> bool:
        """Its unknown pages are not news yet: a limit cut it off, it is dead and came back in part only, or is a stopgap."""
        return self.came is Came.CUT or (self.came is Came.PARTIAL and self.facts.gone) or self.stopgap

    @property
    def holds_unknown(self) -> bool:
        """Its unknown pages are neither told nor remembered yet, because a later reading may tell them as what they are."""
        return self.doubtful and (self.was_whole or self.stopgap)

    @property
    def holds(self) -> bool:
        """It is not fully read, so no sitemap of the site emits removals."""
        return self.came not in _NEVER_HOLD and not self.facts.gone

    @property
    def fate(self) -> Fate:
        """What becomes of pages of it that no file lists any more."""
        if self.facts.gone and self.came is not Came.LEFT_OUT:
            return Fate.MISSING if self.was_whole and not self.rolling else Fate.SILENT
        if self.came is Came.MISSING:
            return Fate.AGED if self.rolling else Fate.HELD
        if self.came is not Came.WHOLE:
            return Fate.UNKNOWN
        if self.rolling:
            return Fate.AGED
        return Fate.HELD if self.shrink_held else Fate.MISSING


def judge(site: SiteFacts, seen: Iterable[FileSeen], circumstances: Circumstances) -> list[SitemapCase]:
    """The case of every sitemap that this run saw or an earlier one remembered; remembered ones first, in their order."""
    now = {file.url: file for file in seen}
    missing = _missing(site.sitemaps, now, circumstances)
    cases = []
    for url, before in site.sitemaps.items():
        cases.append(_case(before, now.get(url), url in missing, circumstances))
    cases += [_case(None, file, False, circumstances) for url, file in now.items() if url not in site.sitemaps]
    _note_behind(cases)
    _note_stopgaps(cases)
    return cases


def complete(cases: Iterable[SitemapCase], circumstances: Circumstances) -> bool:
    """Whether the site was read whole: nothing was left unread and no sitemap holds removals."""
    return not circumstances.ended and not any(case.holds for case in cases)


def _note_behind(cases: Iterable[SitemapCase]) -> None:
    """Mark the sitemaps that earlier runs could not see: their pages may have been there all the time."""
    fresh = [case for case in cases if case.fresh and case.seen is not None and case.seen.named_by]
    unread = {INPUT, *(case.url for case in cases if case.left_unread)}
    if any(case.before is not None and is_named(case.before) for case in cases):
        unread.add(GUESS)  # nothing was guessed so far
    while found := [
        case for case in fresh if not case.behind and unread.issuperset(case.seen.named_by if case.seen else ())
    ]:
        for case in found:
            case.behind = True
            unread.add(case.url)


def _note_stopgaps(cases: Iterable[SitemapCase]) -> None:
    """Mark the sitemaps that were guessed, and those found through them, while ones that robots.txt named are only missing."""
    cases = list(cases)
    if not any(_is_missed(case) for case in cases):
        return
    unnamed = {GUESS}
    candidates = [case for case in cases if case.seen is not None and case.seen.named_by and not case.was_whole]
    while found := [
        case for case in candidates if not case.stopgap and case.seen and unnamed.issuperset(case.seen.named_by)
    ]:
        for case in found:
            case.stopgap = True
            unnamed.add(case.url)


def _is_missed(case: SitemapCase) -> bool:
    """Whether robots.txt named it and does not any more, which may be a mistake."""
    before = case.before
    return case.came is Came.MISSING and not case.facts.gone and before is not None and ROBOTS in before.named_by


def _missing(known: Mapping[str, SitemapFacts], now: Mapping[str, FileSeen], given: Circumstances) -> set[str]:
    """The sitemaps that nobody names any more: each of their namers was read, or is itself missing or gone."""
    missing: set[str] = set()
    candidates = {url for url in known if url not in now}
    while True:
        silent = given.readable | missing | {url for url, facts in known.items() if facts.gone}
        found = {url for url in candidates - missing if _is_named_by_none(known[url], silent, given)}
        if not found:
            return missing
        missing |= found


def _is_named_by_none(facts: SitemapFacts, silent: AbstractSet[str], given: Circumstances) -> bool:
    namers = _namers_in_use(facts, given)
    return all(namer in silent for namer in namers) and (bool(namers) or not facts.named_by)


def _namers_in_use(facts: SitemapFacts, given: Circumstances) -> tuple[str, ...]:
    return tuple(namer for namer in facts.named_by if namer not in given.dropped_by_settings)


def _case(before: SitemapFacts | None, seen: FileSeen | None, missing: bool, given: Circumstances) -> SitemapCase:
    url = seen.url if seen is not None else before.url if before is not None else ""
    facts = SitemapFacts.from_dict(before.to_dict()) if before is not None else SitemapFacts(url)
    facts.known = True
    if seen is not None:
        came = seen.came
        _note_seen(facts, seen, given)
    elif missing:
        came = Came.MISSING
        facts.missing += 1
        facts.gone = facts.gone or facts.missing >= GONE_AFTER_MISSING
    elif facts.named_by and not _namers_in_use(facts, given):
        came = Came.LEFT_OUT
    else:
        came = Came.UNKNOWN
        # Those that were read name it no more.
        facts.named_by = tuple(namer for namer in facts.named_by if namer not in given.readable)
    if came is not Came.WHOLE:
        facts.forget_validators()
    # What left it since the last run left while it was rolling.
    rolling = facts.rolling or (before is not None and before.rolling) or rolls_by_name(url, given.name_rolls)
    return SitemapCase(facts, came, before, rolling, seen=seen)


def _note_seen(facts: SitemapFacts, seen: FileSeen, given: Circumstances) -> None:
    """Move on the counters of a sitemap that is named in this run."""
    facts.missing = 0
    unread_namers = [namer for namer in facts.named_by if namer not in given.readable and namer not in seen.named_by]
    kept = [namer for namer in unread_namers if namer not in given.dropped_by_settings and namer != INPUT]
    facts.named_by = (*seen.named_by, *kept)
    if seen.came is Came.WHOLE:
        facts.not_there = facts.failed = 0
        facts.gone = False
        facts.rolling, facts.index = seen.rolling, seen.index
    elif seen.came is Came.NOT_THERE:
        facts.not_there, facts.failed = facts.not_there + 1, 0
    elif seen.came in {Came.FAILED, Came.PARTIAL}:
        facts.not_there, facts.failed = 0, facts.failed + 1
    if seen.came in _READ_IN_PART:
        facts.rolling = facts.rolling or seen.rolling
        facts.index = facts.index or seen.index
    if facts.not_there >= DEAD_AFTER_NOT_THERE or facts.failed >= DEAD_AFTER_FAILED:
        facts.gone = True


def note_counts(case: SitemapCase, listed: int, shrink_percent: int, *, site_complete: bool) -> None:
    """Compare what a whole sitemap lists with its last confirmed count (the shrink guard).

    A drop of more than `shrink_percent` holds its removals until a second run that is complete finds it so too; that
    count is then the confirmed one. A rolling sitemap without pages stays rolling.
    """
    case.listed = listed
    facts = case.facts
    if case.came is not Came.WHOLE or case.seen is None:
        return
    if not listed and case.before is not None and case.before.rolling:
        facts.rolling = True  # nothing in it today that could show it
    confirmed = facts.confirmed
    dropped = confirmed is not None and (confirmed - listed) * 100 > shrink_percent * confirmed
    if dropped and not (facts.shrunk and site_complete):
        facts.shrunk = True
        case.shrink_held = not case.rolling
        return
    facts.shrunk = False
    facts.confirmed = listed
