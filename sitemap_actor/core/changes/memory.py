"""Monitor mode's memory while a run lasts: one `Session` per site between its opening and its closing.

It answers what the spider asks (`core/memory.py`), takes in what the pipelines pass on, and has the steps that closing a
site is made of. It does no scheduling: `extensions/site_close.py` says when.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sitemap_actor.core.changes.codec import StateInvalidError
from sitemap_actor.core.changes.facts import FULL_READING_EVERY, FileSeen, SiteFacts, is_named
from sitemap_actor.core.changes.journal import Journal, JournalBook, apply, blocks_of, sitemaps_of
from sitemap_actor.core.changes.kinds import Terms
from sitemap_actor.core.changes.observe import circumstances, files_seen, note_validators
from sitemap_actor.core.changes.profiles import is_profile_sitemap, profile_pages
from sitemap_actor.core.changes.settling import Plan
from sitemap_actor.core.changes.site import Listing, SiteState, Staged
from sitemap_actor.core.changes.vault import Prepared, Vault
from sitemap_actor.core.job import Job
from sitemap_actor.core.patterns import Patterns
from sitemap_actor.core.ports import Aside, StateStore, in_place
from sitemap_actor.core.reading import SiteReading
from sitemap_actor.core.reasons import FileKind
from sitemap_actor.core.report import FileStatus, SitemapReport
from sitemap_actor.core.sitemaps import Entries
from sitemap_actor.core.urls import canonical

STATE_WAS_INVALID = "stateWasInvalid"
AT_LEAST_ONCE = "deliveredAtLeastOnce"
RECOVERED = "recoveredFromJournal"

_LONGEST_VALIDATOR = 1_024


@dataclass(slots=True, eq=False)
class Session:
    """One site between opening and closing. `flags` are those of SUMMARY that its state gave rise to."""

    reading: SiteReading
    state: SiteState
    vault: Vault
    book: JournalBook
    flags: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    """Files asked for with validators (canonical URLs)."""
    answers: dict[str, tuple[str | None, str | None, str]] = field(default_factory=dict)
    keys: dict[SitemapReport, str] = field(default_factory=dict)
    seen: list[FileSeen] = field(default_factory=list)
    journalled: bool = False
    """A journal of this run stands in the store."""
    closing: bool = False
    """Nothing more is taken in."""

    def key_of(self, file: SitemapReport) -> str:
        """The canonical URL of a file of this site."""
        key = self.keys.get(file)
        if key is None:
            key = self.keys[file] = canonical(file.url)
        return key

    def stage(self, listing: Listing) -> Staged:
        """Take in what a file lists; past the limit the reading is capped."""
        staged = self.state.stage(listing)
        if self.state.capped:
            self.reading.capped = True
        return staged

    async def compare(self, job: Job, now: float, quota: int) -> Plan:
        """Judge what was read, with a quota of change rows."""
        self.seen = files_seen(self.reading, self.state.facts, self.state.cut)
        note_validators(self.seen, self.answers)
        terms = Terms(now, job.removal_confirm_runs, job.shrink_guard_percent, _excluded(job))
        compare = partial(
            self.state.compare,
            self.seen,
            circumstances(self.reading, self.seen),
            terms,
            site_key=self.reading.site.key,
            quota=quota,
            include_existing=job.include_existing,
        )
        return await self.vault.aside(compare)

    @property
    def settled_before(self) -> bool:
        """An earlier life of this run moved the site's state on; counters of runs must not count it twice."""
        return self.state.facts.run == self.book.store.identity()[0]

    async def write_journal(self, plan: Plan, offset: int) -> None:
        """Write down what is about to be saved; `offset`: rows that stand where this run's rows go, at least."""
        run, place = self.book.store.identity()
        journal = Journal(
            run, place, offset, self.state.facts.generation, self.reading.site.key, plan.total, sitemaps_of(plan)
        )
        self.journalled = True
        await self.book.write(journal, blocks_of(plan) if place is not None else ())

    async def prepare(self, saved: int, fingerprint: str) -> Prepared:
        """Move the state on by the first `saved` rows of the plan, and write it up to the flip."""
        aside = self.vault.aside
        facts = await aside(self.state.settle, saved, fingerprint)
        facts.run = self.book.store.identity()[0]
        return await self.vault.prepare(facts, None if await aside(self.state.is_as_loaded) else self.state.blocks())

    async def flip(self, prepared: Prepared) -> None:
        """Make the prepared state the one that counts; the journal has done its duty."""
        await self.vault.flip(prepared)
        if self.journalled:
            await self.book.remove()


class MonitorMemory:
    """The memory of a run. `folder`: a temporary one for the sites' files. `now`: when the run began, POSIX seconds.
    `aside` does what takes long for a large site.
    """

    def __init__(self, job: Job, store: StateStore, folder: Path, *, now: float, aside: Aside = in_place) -> None:
        self.job = job
        self.now = now
        self.sessions: dict[SiteReading, Session] = {}
        self.fingerprint = fingerprint(job)
        self.begin: Callable[[], Awaitable[None]] | None = None
        """Awaited before anything of the state is read; it raises where the run must not begin."""
        self._store = store
        self._aside = aside
        self._folder = folder
        self._files = 0

    # --- what the spider asks

    async def open(self, reading: SiteReading) -> None:
        """Load what is remembered of the site; a journal that another run left is worked off first."""
        if self.begin is not None:
            await self.begin()
        entry = reading.site.entry
        vault = Vault(self._store, entry, self._aside)
        book = JournalBook(self._store, vault.mark, entry, self._aside)
        flags: set[str] = set()
        state = await vault.open(self._make, journal_base=await book.base())
        if vault.invalid is not None:
            flags.add(STATE_WAS_INVALID)
        try:
            state = await self._work_off(book, vault, state, flags)
        except BaseException:
            state.close()
            raise
        reading.named_only = any(map(is_named, state.facts.sitemaps.values()))
        self.sessions[reading] = Session(reading, state, vault, book, flags)

    def validators(self, reading: SiteReading, file: SitemapReport) -> dict[str, str]:
        """The conditional headers to ask for the file with; none where it is to be read in full."""
        session = self.sessions[reading]
        facts = session.state.facts.sitemaps.get(session.key_of(file))
        due_in_full = (session.state.facts.runs + 1) % FULL_READING_EVERY == 0
        if facts is None or due_in_full or facts.terms != self.fingerprint:
            return {}
        headers = {"If-None-Match": facts.etag, "If-Modified-Since": facts.last_modified}
        given = {name: value for name, value in headers.items() if value is not None}
        if given:
            session.asked.add(facts.url)
        return given

    def unchanged(self, reading: SiteReading, file: SitemapReport) -> None:
        """The file was answered 304: it counts as read whole, if it was asked so and by the same address."""
        session = self.sessions[reading]
        key = session.key_of(file)
        facts = session.state.facts.sitemaps.get(key)
        if facts is None or key not in session.asked or facts.answered_by != (file.final_url or file.url):
            file.fail_as_unasked_304()
            return
        file.conclude(FileStatus.UNCHANGED, None, None)
        file.rolling = facts.rolling
        file.kind = FileKind.INDEX if facts.index else FileKind.URLSET
        session.answers[key] = (facts.etag, facts.last_modified, facts.answered_by)

    def remembered(self, reading: SiteReading, file: SitemapReport) -> Iterator[Entries]:
        """What an unchanged file listed when it was last read, in its place."""
        session = self.sessions[reading]
        facts = session.state.facts.sitemaps.get(session.key_of(file))
        if facts is None or file.status is not FileStatus.UNCHANGED:
            return
        for rows in session.state.snapshot.remembered(facts.number):
            keys, urls, lastmods, changefreqs, priorities, extras = map(list, zip(*rows, strict=True))
            yield Entries(
                [url or key for key, url in zip(keys, urls, strict=True)],
                lastmods,
                changefreqs,
                priorities,
                [json.loads(text) if text else None for text in extras] if self.job.extensions else None,
            )

    def children(self, reading: SiteReading, file: SitemapReport) -> list[str]:
        """The children that an unchanged index had when it was last read. One that it had dropped by then still remembers it
        as its namer, but is counted as missing.
        """
        session = self.sessions[reading]
        key = session.key_of(file)
        known = session.state.facts.sitemaps.values()
        return [facts.url for facts in known if key in facts.named_by and not facts.missing]

    def read_whole(self, reading: SiteReading, file: SitemapReport, headers: Mapping[str, str]) -> None:
        """Keep the validators of a file that was read whole."""
        etag, modified = (_usable(headers.get(name)) for name in ("etag", "last-modified"))
        session = self.sessions[reading]
        session.answers[session.key_of(file)] = (etag, modified, file.final_url or file.url)

    def leaves_out(self, reading: SiteReading, url: str, parent: SitemapReport) -> bool:
        """Whether a child sitemap looks like people's profile pages, and is left out for that."""
        if self.job.include_profile_urls or not is_profile_sitemap(url):
            return False
        reading.leave_out(url, parent)
        return True

    def close(self) -> None:
        """Let go of the files of sites that were never closed."""
        for session in self.sessions.values():
            session.closing = True
            session.state.close()
        self.sessions.clear()

    # --- opening

    def _make(self, facts: SiteFacts) -> SiteState:
        self._files += 1
        return SiteState(self._folder / f"site-{self._files}.sqlite", facts, now=self.now, cap=self.job.urls_per_site)

    async def _work_off(self, book: JournalBook, vault: Vault, state: SiteState, flags: set[str]) -> SiteState:
        """Apply what the journal of another run says was saved; return the state to go on with."""
        try:
            journal = await book.read()
            if journal is None:
                return state
            await vault.sweep(state.facts.floor)
            if vault.invalid is None and journal.base != state.facts.generation:
                await book.remove()
                return state
            bodies = await book.bodies(journal)
            saved = await book.count_saved(journal, bodies) if vault.invalid is None else None
        except StateInvalidError:
            flags.add(AT_LEAST_ONCE)
            await book.set_aside()
            return state
        if saved is None:
            flags.add(AT_LEAST_ONCE)
        elif saved:
            facts = await self._aside(apply, state, journal, book.blocks(bodies), saved)
            prepared = await vault.prepare(facts, state.blocks())
            await vault.flip(prepared)
            state.close()
            state = await vault.open(self._make, journal_base=None)
        if saved is not None:
            flags.add(RECOVERED)
        if vault.invalid is None:
            await vault.clear()  # without the journal they would look like a lost head
        await book.remove()
        return state


def fingerprint(job: Job) -> str:
    """Of the settings under which validators hold: filters, limits, extensions."""
    chosen = [
        job.include_url_patterns,
        job.exclude_url_patterns,
        job.include_profile_urls,
        job.extensions,
        job.rolling_sitemaps,
        job.urls_per_site,
        job.sitemap_cap,
        job.max_sitemap_depth,
    ]
    return hashlib.sha256(json.dumps(chosen).encode()).hexdigest()[:16]


def _excluded(job: Job) -> Callable[..., list[int]]:
    """Of canonical URLs, the places of those that today's patterns or profile rule exclude."""
    patterns = Patterns(job.include_url_patterns, job.exclude_url_patterns)

    def excluded(keys: list[str]) -> list[int]:
        if not keys:
            return []
        profiles = [] if job.include_profile_urls else profile_pages(keys)
        return sorted({*patterns.refused(keys), *profiles})

    return excluded


def _usable(validator: str | None) -> str | None:
    """A validator that can be sent back as it is."""
    if validator and len(validator) <= _LONGEST_VALIDATOR and validator.isascii() and validator.isprintable():
        return validator
    return None
