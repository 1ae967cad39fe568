"""The journal: what a run is about to save for a site, written before its first row goes out (spec section 7).

A run that finds one counts how many of its rows, from the front, the other run saved, moves the state on by just those, and
goes on as usual: what was not saved shows up again in its own comparison. Where that cannot be counted, delivery is at least
once, and said to be. A journal whose state was moved on already (its base is not the head's generation) is only removed.
"""

# ruff: noqa: S608 - the queries are put together from constants of this package; every value is bound

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sitemap_actor.core.changes import codec
from sitemap_actor.core.changes.codec import StateInvalidError
from sitemap_actor.core.changes.facts import SiteFacts, SitemapFacts
from sitemap_actor.core.changes.kinds import Kind
from sitemap_actor.core.changes.settling import TYPES, Plan
from sitemap_actor.core.changes.site import SiteState
from sitemap_actor.core.changes.snapshot import ACTIVE, BLOCK, MEMBER_COLUMNS, UNREADABLE, Block
from sitemap_actor.core.ports import Aside, StateStore, in_place

RECORD = "journal"
ROWS_AT_ONCE = 10_000

_KEPT = (
    f"iif(n.ord >= {UNREADABLE} AND (p.instant IS NULL OR n.ord > p.instant OR n.ord = {UNREADABLE}), {{0}}, p.{{1}})"
)
_LISTED = (
    "SELECT p.id, p.key, n.url, "
    + _KEPT.format("n.lastmod", "kept")
    + ", "
    + _KEPT.format(f"iif(n.ord > {UNREADABLE}, n.ord, NULL)", "instant")
    + ", p.first, v.page, n.sitemap, n.url, n.lastmod, n.ord, n.changefreq, n.priority, n.extras"
    " FROM verdict v JOIN page p ON p.id = v.page JOIN now n ON n.page = v.page AND n.sitemap = v.sitemap"
    " WHERE v.kind = ? AND v.page > ? ORDER BY v.page LIMIT ?"
)
_REMOVED = (
    "SELECT p.id, p.key, w.url, p.kept, p.instant, p.first, v.page, 0, w.url, NULL, 0, NULL, NULL, NULL"
    " FROM verdict v JOIN page p ON p.id = v.page LEFT JOIN was w ON w.page = v.page AND w.sitemap = v.sitemap"
    " WHERE v.kind = ? AND v.page > ? ORDER BY v.page LIMIT ?"
)


@dataclass(slots=True)
class Journal:
    """What the journal's own record says. `place`: where the rows went, None where a later run cannot look.

    `base`: the generation of the state that the rows were found against. `sitemaps`: number -> (canonical URL, whether its
    rows are a baseline). `rows` counts the planned ones.
    """

    run: str
    place: str | None
    offset: int
    base: int
    site: str
    rows: int
    sitemaps: dict[int, tuple[str, bool]] = field(default_factory=dict)
    shards: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class JournalBook:
    """A site's journal in the state store. `mark` is what the site's keys begin with."""

    store: StateStore
    mark: str
    entry: str
    aside: Aside = in_place
    """Does what takes long for a large site."""

    @property
    def key(self) -> str:
        """The key of the journal's own record."""
        return f"{self.mark}-journal"

    async def write(self, journal: Journal, blocks: Iterable[Block]) -> None:
        """Write the journal: its shards first, its own record last."""
        journal.shards = []
        bodies = codec.write_shards(blocks, RECORD, self.entry)
        while (body := await self.aside(next, bodies, None)) is not None:
            key = f"{self.key}-{len(journal.shards):05}"
            await self.store.write(key, body)
            journal.shards.append((key, codec.digest_of(body)))
        await self.store.write(self.key, _packed(journal, self.entry))

    async def base(self) -> int | None:
        """The generation that the journal goes on from; None where there is no journal, -1 where it cannot be read."""
        try:
            journal = await self.read()
        except StateInvalidError:
            return -1
        return journal.base if journal is not None else None

    async def read(self) -> Journal | None:
        """The journal, None where there is none. Raises StateInvalidError where it cannot be read."""
        body = await self.store.read(self.key)
        return None if body is None else _unpacked(body, self.entry)

    async def bodies(self, journal: Journal) -> list[bytes]:
        """The records of the planned rows. Raises StateInvalidError where they cannot be read."""
        bodies: list[bytes] = []
        for key, digest in journal.shards:
            body = await self.store.read(key)
            if body is None or codec.digest_of(body) != digest:
                raise StateInvalidError("a part of the journal is missing or damaged")
            bodies.append(body)
        return bodies

    def blocks(self, bodies: Iterable[bytes]) -> Iterator[Block]:
        """The planned rows that the records hold."""
        for body in bodies:
            yield from codec.read_shard(body, RECORD, self.entry, None)

    async def count_saved(self, journal: Journal, bodies: Sequence[bytes]) -> int | None:
        """How many of the planned rows, from the front, the other run saved; None where nobody can tell."""
        if journal.place is None:
            return None
        saved: set[int] = set()
        offset = journal.offset
        while rows := await self.store.rows_of(journal.place, offset, ROWS_AT_ONCE):
            offset += len(rows)
            saved.update(
                hash((row.get("url"), row.get("changeType"))) for row in rows if row.get("site") == journal.site
            )
        if rows is None:
            return None
        count = 0
        for url, kind in urls_of(self.blocks(bodies)):
            if hash((url, TYPES[Kind(kind)].value)) not in saved:
                break
            count += 1
        return count

    async def remove(self) -> None:
        """Remove the journal: its own record last, so that a crash leaves nothing that nobody would look for. By then the
        state was moved on, or nothing of the journal was of use.
        """
        for key in await self.store.keys(f"{self.key}-"):
            await self.store.delete(key)
        await self.store.delete(self.key)

    async def set_aside(self) -> None:
        """Keep a journal that cannot be read under another key."""
        body = await self.store.read(self.key)
        if body is not None:
            await self.store.write(f"{self.mark}-aside-journal-{codec.digest_of(body)[:16]}", body)
        await self.remove()


def sitemaps_of(plan: Plan) -> dict[int, tuple[str, bool]]:
    """The sitemaps of a comparison, each with whether its unknown pages are a baseline."""
    comparison = plan.comparison
    rows = comparison.db.execute("SELECT DISTINCT sitemap FROM verdict WHERE kind = ?", (Kind.BASELINE,))
    baseline = {row[0] for row in rows}
    return {case.number: (case.url, case.number in baseline) for case in comparison.cases}


def blocks_of(plan: Plan) -> Iterator[Block]:
    """The planned rows in the order of saving, each with its page as it is to be remembered once the row is saved."""
    db, now = plan.comparison.db, int(plan.comparison.terms.now)
    for kind, count in plan.planned.items():
        last, left = 0, count
        while left > 0:
            query = _REMOVED if kind is Kind.REMOVED else _LISTED
            rows = db.execute(query, (kind, last, min(left, BLOCK))).fetchall()
            if not rows:
                break
            left -= len(rows)
            last = rows[-1][0]
            yield _block(kind, rows, now)


def _block(kind: Kind, rows: list[tuple[Any, ...]], now: int) -> Block:
    """Rows of one kind as a block, each page with the listing that it was judged by."""
    _numbers, keys, shown, kepts, instants, firsts, *members = map(list, zip(*rows, strict=True))
    size = len(rows)
    members[0] = list(range(size))
    block: Block = dict(zip(MEMBER_COLUMNS, members, strict=True))
    block["key"], block["kept"], block["instant"] = keys, kepts, instants
    block["shown"] = shown
    block["kind"] = [int(kind)] * size
    block["state"] = [ACTIVE] * size
    block["first"] = [now if first is None else first for first in firsts]
    for name in ("missing", "unlisted", "quiet"):
        block[name] = [0] * size
    return block


def urls_of(blocks: Iterable[Block]) -> Iterator[tuple[str, int]]:
    """(URL as printed, number of its verdict) of each planned row, in order."""
    for block in blocks:
        for key, shown, kind in zip(block["key"], block["shown"], block["kind"], strict=True):
            yield (shown or key), kind


def apply(state: SiteState, journal: Journal, blocks: Iterable[Block], saved: int) -> SiteFacts:
    """Move a freshly loaded state on by the first `saved` rows; return its facts for the next generation."""
    facts = state.facts.copy()
    facts.generation += 1
    numbers = {number: _known(state, facts, url, baseline) for number, (url, baseline) in journal.sitemaps.items()}
    left = saved
    for block in blocks:
        take = min(left, len(block["key"]))
        left -= take
        _apply_block(state, block, take, numbers)
    used = {row[0] for row in state.snapshot.db.execute("SELECT DISTINCT sitemap FROM was")}
    facts.sitemaps = {
        url: item for url, item in facts.sitemaps.items() if item.number in used or url in state.facts.sitemaps
    }
    for item in facts.sitemaps.values():
        item.forget_validators()
    return facts


def _known(state: SiteState, facts: SiteFacts, url: str, baseline: bool) -> int:
    """The number of a sitemap that the journal names. One the state does not know is entered: as never read whole where
    its pages are a baseline, as not seen yet where they are new.
    """
    number = state.numbers.of(url)
    if url not in facts.sitemaps:
        facts.sitemaps[url] = SitemapFacts(url, number, known=baseline)
    return number


def _apply_block(state: SiteState, block: Block, take: int, numbers: dict[int, int]) -> None:
    snapshot = state.snapshot
    pages = snapshot.find(block["key"][:take])
    rows = list(zip(pages, *(block[name][:take] for name in ("kind", "first", "kept", "instant")), strict=True))
    snapshot.db.executemany(
        "UPDATE page SET state = 0 WHERE id = ?", [(page,) for page, kind, *_rest in rows if kind == Kind.REMOVED]
    )
    snapshot.db.executemany(
        "UPDATE page SET state = 1, first = ifnull(first, ?), kept = ?, instant = ?, missing = 0, unlisted = 0, quiet = 0"
        " WHERE id = ?",
        [(first, kept, instant, page) for page, kind, first, kept, instant in rows if kind != Kind.REMOVED],
    )
    entered = []
    for place, *rest in zip(*(block[name] for name in MEMBER_COLUMNS), strict=True):
        if place < take and block["kind"][place] in {Kind.NEW, Kind.BASELINE}:
            entered.append((pages[place], numbers[rest[0]], *rest[1:]))
    snapshot.db.executemany("INSERT OR REPLACE INTO was VALUES(?,?,?,?,?,?,?,?)", entered)


def _packed(journal: Journal, entry: str) -> bytes:
    values = {
        "format": codec.FORMAT,
        "version": codec.VERSION,
        "record": "journal-head",
        "entry": entry,
        "run": journal.run,
        "place": journal.place,
        "offset": journal.offset,
        "base": journal.base,
        "site": journal.site,
        "rows": journal.rows,
        "sitemaps": [[number, url, baseline] for number, (url, baseline) in journal.sitemaps.items()],
        "shards": journal.shards,
    }
    return json.dumps(values).encode()


def _unpacked(body: bytes, entry: str) -> Journal:
    try:
        values = json.loads(body)
        if (values["format"], values["record"], values["entry"]) != (codec.FORMAT, "journal-head", entry):
            raise StateInvalidError("not a journal of this site")
        if values["version"] != codec.VERSION:
            raise StateInvalidError("a journal of a version not known to this program")
        sitemaps = {number: (url, baseline) for number, url, baseline in values["sitemaps"]}
        shards = [(key, digest) for key, digest in values["shards"]]
        return Journal(
            values["run"],
            values["place"],
            values["offset"],
            values["base"],
            values["site"],
            values["rows"],
            sitemaps,
            shards,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StateInvalidError(f"the journal cannot be read: {type(error).__name__}") from error
