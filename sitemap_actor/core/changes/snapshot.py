"""One site's pages in a SQLite file while a run lasts: what is remembered of them, and what this run's files list.

Strategy: everything that grows with the site is in the file, in tables that are written in batches; in memory stay the page
cache, one byte a page, and the index of pages by hash (`index.py`). Page numbers follow the order in which pages were first
listed, so rows and shards come out in the site's own order.

The file belongs to one run and is thrown away: no journal, no syncing.
"""

# ruff: noqa: S608 - the queries are put together from constants of this package; every value is bound

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from sitemap_actor.core.changes.index import PageIndex
from sitemap_actor.core.changes.kinds import UNJUDGED, Kind

CACHE_KIB = 24_576
BLOCK = 1_000

UNREADABLE = -1e15
"""`ord` of a lastmod that cannot be read; above stand instants (POSIX seconds), below what says nothing."""
AHEAD = -2e15
"""`ord` of a lastmod more than 24 h ahead of the run: never kept, never a change."""
ABSENT = -3e15
"""`ord` of no lastmod."""
AHEAD_SECS = 86_400.0

LONGEST_EXTRAS = 65_536
"""Longer extension fields of a page are printed, but not remembered (and their sitemap is asked for in full next time)."""

UNSEEN, ACTIVE, SILENT = 0, 1, 2
"""`state` of a page: not remembered; remembered and told of; remembered silently, without a row so far."""

Block: TypeAlias = dict[str, list[Any]]
"""Up to 1,000 pages as columns (`PAGE_COLUMNS`, `MEMBER_COLUMNS`), as the codec writes them."""

PAGE_COLUMNS = ("key", "state", "first", "kept", "instant", "missing", "unlisted", "quiet")
MEMBER_COLUMNS = ("page", "sitemap", "url", "lastmod", "ord", "changefreq", "priority", "extras")
"""`page` is the place of the page in its block; `url` None where the text listed is the canonical one."""

_SCHEMA = """
CREATE TABLE page(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, state INTEGER NOT NULL, first INTEGER, kept TEXT, instant REAL,
  missing INTEGER NOT NULL DEFAULT 0, unlisted INTEGER NOT NULL DEFAULT 0, quiet INTEGER NOT NULL DEFAULT 0,
  why TEXT, hold INTEGER NOT NULL DEFAULT 0);
CREATE TABLE was(
  page INTEGER, sitemap INTEGER, url TEXT, lastmod TEXT, ord REAL NOT NULL, changefreq TEXT, priority TEXT, extras TEXT,
  PRIMARY KEY(page, sitemap)) WITHOUT ROWID;
CREATE TABLE now(
  page INTEGER, sitemap INTEGER, url TEXT, lastmod TEXT, ord REAL NOT NULL, changefreq TEXT, priority TEXT, extras TEXT,
  PRIMARY KEY(page, sitemap)) WITHOUT ROWID;
CREATE TABLE settled(sitemap INTEGER PRIMARY KEY);
CREATE TABLE stale(page INTEGER PRIMARY KEY);
"""
_PRAGMAS = ("journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE", f"cache_size=-{CACHE_KIB}")
_STAGE = (
    "INSERT INTO now VALUES(?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET url=excluded.url, lastmod=excluded.lastmod,"
    " ord=excluded.ord, changefreq=excluded.changefreq, priority=excluded.priority, extras=excluded.extras"
    " WHERE excluded.ord > ord"
)
_NOW_MEMBERS = "SELECT * FROM now WHERE page BETWEEN :a AND :b"
_MEMBERS = (
    _NOW_MEMBERS + " UNION ALL SELECT w.* FROM was w WHERE w.page BETWEEN :a AND :b"
    " AND NOT EXISTS(SELECT 1 FROM now n WHERE n.page = w.page AND n.sitemap = w.sitemap)"
    " AND (w.sitemap NOT IN (SELECT sitemap FROM settled) OR w.page IN (SELECT page FROM stale))"
    " ORDER BY 1, 2"
)

_QUIET = f"iif(why = '{UNJUDGED}', quiet, why IS NOT NULL)"
"""`quiet` of a listed page from now on: whether a rule excluded it when it was last judged."""


def orders(lastmods: Sequence[str | None], instants: Sequence[float | None], now: float) -> list[float]:
    """The `ord` of each lastmod: its instant, or which kind of nothing it says."""
    horizon = now + AHEAD_SECS
    return [
        (instant if instant <= horizon else AHEAD) if instant is not None else ABSENT if text is None else UNREADABLE
        for text, instant in zip(lastmods, instants, strict=True)
    ]


class Snapshot:
    """The file of one site in one run. `path` must not exist yet; `close` leaves the file to whoever made its folder.

    Any thread may use it, but no two at a time.
    """

    def __init__(self, path: Path) -> None:
        self.db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for pragma in _PRAGMAS:
            self.db.execute(f"PRAGMA {pragma}")
        self.db.executescript(_SCHEMA)
        self.db.execute("BEGIN")
        self.known = 0
        """Pages that an earlier run remembered; they have the numbers from 1 on."""
        self.pages = 0
        self.listed_count = 0
        """Distinct pages that this run's files list."""
        self.compared = False
        self._listed = bytearray(1)
        self._index = PageIndex()
        self._some_missing = False

    def close(self) -> None:
        """Let go of the file."""
        self.db.close()

    # --- what is remembered

    def load(self, blocks: Iterable[Block]) -> None:
        """Take in what the state holds, before anything is staged."""
        for block in blocks:
            first = self.pages + 1
            count = len(block["key"])
            numbers = range(first, first + count)
            self._index.add(list(map(hash, block["key"])), numbers)
            columns = [block[name] for name in PAGE_COLUMNS]
            self.db.executemany(
                "INSERT INTO page(id,key,state,first,kept,instant,missing,unlisted,quiet) VALUES(?,?,?,?,?,?,?,?,?)",
                zip(numbers, *columns, strict=True),
            )
            places = [first + place for place in block["page"]]
            rest = [block[name] for name in MEMBER_COLUMNS[1:]]
            self.db.executemany("INSERT INTO was VALUES(?,?,?,?,?,?,?,?)", zip(places, *rest, strict=True))
            self._some_missing = self._some_missing or any(block["missing"]) or any(block["unlisted"])
            self.pages += count
        self.known = self.pages
        self._listed = bytearray(self.pages + 1)

    def remembered(self, sitemap: int) -> Iterator[list[tuple[Any, ...]]]:
        """What the sitemap listed when it was last read whole: (key, url, lastmod, changefreq, priority, extras)."""
        self.db.execute("CREATE INDEX IF NOT EXISTS was_of_sitemap ON was(sitemap)")
        last = 0
        while True:
            rows = self.db.execute(
                "SELECT p.id, p.key, w.url, w.lastmod, w.changefreq, w.priority, w.extras FROM was w"
                " JOIN page p ON p.id = w.page WHERE w.sitemap = ? AND w.page > ? AND p.unlisted = 0"
                " ORDER BY w.page LIMIT ?",
                (sitemap, last, BLOCK),
            ).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            yield [row[1:] for row in rows]

    # --- what this run lists

    def find(self, keys: Sequence[str]) -> list[int]:
        """The numbers of the pages, new ones entered."""
        hashes = list(map(hash, keys))
        found = self._index.find(hashes)
        if 0 not in found:
            return found
        entered: dict[int, int] = {}
        rows = []
        for place in [place for place, number in enumerate(found) if not number]:
            digest = hashes[place]
            if digest not in entered:
                self.pages += 1
                entered[digest] = self.pages
                rows.append((self.pages, keys[place]))
            found[place] = entered[digest]
        self.db.executemany("INSERT INTO page(id,key,state) VALUES(?,?,0)", rows)
        self._index.add(list(entered), entered.values())
        self._listed.extend(bytes(self.pages + 1 - len(self._listed)))
        return found

    def unlisted_among(self, numbers: Sequence[int]) -> int:
        """How many distinct pages among `numbers` were not listed before in this run."""
        listed = self._listed
        return len({number for number in numbers if not listed[number]})

    def stage(
        self,
        sitemap: int,
        numbers: Sequence[int],
        columns: Sequence[Sequence[Any]],
        why: Sequence[str | None] | None = None,
    ) -> int:
        """Enter pages that `sitemap` lists; return how many entries were repeats of pages listed already in this run.

        `columns`: url (None where the text is the canonical one), lastmod, ord (as `orders` gives it), changefreq, priority,
        extras (JSON text). `why` tells of each page why it is remembered silently. Of a page listed twice in one file the
        newest readable lastmod counts.
        """
        self.db.executemany(_STAGE, zip(numbers, [sitemap] * len(numbers), *columns, strict=True))
        if why is not None:
            marked = [(reason, number) for reason, number in zip(why, numbers, strict=True) if reason is not None]
            self.db.executemany("UPDATE page SET why=? WHERE id=?", marked)
        listed, fresh = self._listed, 0
        for number in numbers:
            if not listed[number]:
                listed[number] = 1
                fresh += 1
        self.listed_count += fresh
        return len(numbers) - fresh

    def missing(self) -> list[int]:
        """The numbers of the remembered pages that no file of this run lists."""
        absent = self._listed.translate(_FLIP)
        places, at = [], absent.find(1, 1, self.known + 1)
        while at >= 0:
            places.append(at)
            at = absent.find(1, at + 1, self.known + 1)
        return places

    # --- what is remembered from now on

    def blocks(self) -> Iterator[Block]:
        """What the state is to hold, once the comparison was settled.

        A membership from before stays where its sitemap was not read whole in this run (`settled` holds the others), and
        where the page is missing from all of its sitemaps (`stale`), so that it is known where it stood.
        """
        members, last = self._members_query(), 0
        while True:
            pages = self.db.execute(
                f"SELECT id,key,state,first,kept,instant,missing,unlisted,quiet,{_QUIET} FROM page"
                " WHERE id > ? AND state > 0 ORDER BY id LIMIT ?",
                (last, BLOCK),
            ).fetchall()
            if not pages:
                return
            last = pages[-1][0]
            rows = self.db.execute(members, {"a": pages[0][0], "b": last}).fetchall()
            yield self._block(pages, rows)

    def _members_query(self) -> str:
        """Mostly every sitemap was read whole and no page is missing; then what was listed before says nothing more."""
        kept = self.db.execute(
            "SELECT EXISTS(SELECT 1 FROM stale) OR EXISTS"
            "(SELECT 1 FROM was WHERE sitemap NOT IN (SELECT sitemap FROM settled))"
        ).fetchone()[0]
        return _MEMBERS if kept or not self.compared else _NOW_MEMBERS + " ORDER BY page, sitemap"

    def is_as_loaded(self) -> bool:
        """Whether what is to be remembered is what was loaded, page by page: the comparison found nothing, and this run
        lists what the last one did.
        """
        if self.pages > self.known or self._some_missing:
            return False
        listings = (
            "SELECT 1 FROM now n LEFT JOIN was w ON w.page = n.page AND w.sitemap = n.sitemap WHERE w.ord IS NOT n.ord"
            " OR w.lastmod IS NOT n.lastmod OR w.url IS NOT n.url OR w.changefreq IS NOT n.changefreq"
            " OR w.priority IS NOT n.priority OR w.extras IS NOT n.extras"
        )
        differences = (
            f"SELECT 1 FROM verdict WHERE kind <> {Kind.SILENT:d}",
            "SELECT 1 FROM absent",
            f"SELECT 1 FROM page WHERE quiet <> {_QUIET}",
            "SELECT 1 WHERE (SELECT count(*) FROM was) <> (SELECT count(*) FROM now)",
            listings,
        )
        return all(self.db.execute(query + " LIMIT 1").fetchone() is None for query in differences)

    def _block(self, pages: list[tuple[Any, ...]], rows: list[tuple[Any, ...]]) -> Block:
        numbers, *columns = map(list, zip(*pages, strict=True))
        block: Block = dict(zip((*PAGE_COLUMNS, "silent"), columns, strict=True))
        silent = block.pop("silent")
        if self.listed_count or self.compared:
            listed = [self._listed[number] for number in numbers]
            block["missing"] = [0 if here else count for here, count in zip(listed, block["missing"], strict=True)]
            block["quiet"] = [
                now if here else before for here, now, before in zip(listed, silent, block["quiet"], strict=True)
            ]
        places = {number: place for place, number in enumerate(numbers)}
        rows = [row for row in rows if row[0] in places]
        members: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in MEMBER_COLUMNS]
        members[0] = [places[number] for number in members[0]]
        members[-1] = [extras if extras is None or len(extras) <= LONGEST_EXTRAS else None for extras in members[-1]]
        return block | dict(zip(MEMBER_COLUMNS, members, strict=True))


_FLIP = bytes([1, 0]) + bytes(254)
