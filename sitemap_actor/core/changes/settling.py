"""After a comparison: the rows to save, and the state moved on by just those that were saved.

Rows go out in the order new, modified, removed, baseline, existing; at most a quota of changes. What was not saved keeps its
place in the state, so the next run finds it again. Silent updates (stamped, gained, gone back, excluded, ...) always move on.
"""

# ruff: noqa: S608 - the queries are put together from constants of this package; every value is bound

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sitemap_actor.core.changes.compare import JUDGED, Comparison
from sitemap_actor.core.changes.facts import UNRELIABLE_AFTER_STAMPS, Came, SiteFacts
from sitemap_actor.core.changes.kinds import CHANGES, HELD_PAGES, ROWS, Kind
from sitemap_actor.core.changes.snapshot import ACTIVE, BLOCK, LONGEST_EXTRAS, SILENT, UNREADABLE
from sitemap_actor.core.clock import iso
from sitemap_actor.core.reasons import ChangeType
from sitemap_actor.core.report import Row

TYPES = {
    Kind.NEW: ChangeType.NEW,
    Kind.MODIFIED: ChangeType.MODIFIED,
    Kind.REMOVED: ChangeType.REMOVED,
    Kind.BASELINE: ChangeType.BASELINE,
}
_STATES = {
    Kind.NEW: ACTIVE,
    Kind.BASELINE: ACTIVE,
    Kind.QUIET: ACTIVE,
    Kind.SILENT_NEW: SILENT,
    Kind.MODIFIED: ACTIVE,
    Kind.STAMPED: ACTIVE,
    Kind.GAINED: ACTIVE,
    Kind.MIGRATED: ACTIVE,
}
"""The state of pages whose verdict moves their lastmod on."""
_UNSETTLED = (*HELD_PAGES, Kind.WAITING, Kind.PENDING, Kind.HELD_REMOVAL)
_WITHOUT_ROW = (Kind.SILENT_NEW, Kind.SILENT_MOVED, Kind.SILENT, Kind.WAITING)
_ORDER = " ORDER BY v.page LIMIT :limit"
_COLUMNS = "p.key, x.url, x.lastmod, x.changefreq, x.priority, x.sitemap, x.extras, p.kept, p.first"
_LISTED = (
    f"SELECT {_COLUMNS} FROM verdict v JOIN page p ON p.id=v.page JOIN now x ON x.page=v.page AND x.sitemap=v.sitemap"
)
_REMEMBERED = (
    f"SELECT {_COLUMNS} FROM verdict v JOIN page p ON p.id=v.page"
    " LEFT JOIN was x ON x.page=v.page AND x.sitemap=v.sitemap"
)
_NOT_CHANGED = (
    " AND p.state = 1 AND p.why IS NULL"
    f" AND NOT EXISTS(SELECT 1 FROM verdict v WHERE v.kind = {Kind.MODIFIED:d} AND v.page = n.page)"
    f" AND NOT EXISTS(SELECT 1 FROM verdict v WHERE v.kind = {Kind.HELD_MODIFIED:d} AND v.page = n.page)"
    " AND NOT EXISTS(SELECT 1 FROM told t WHERE t.page = n.page)"
    f" AND NOT EXISTS(SELECT 1 FROM unsaved u WHERE u.kind = {Kind.MODIFIED:d} AND u.page = n.page)"
    " ORDER BY n.page"
)


_iso = lru_cache(maxsize=1_024)(iso)


@dataclass(frozen=True, slots=True)
class Source:
    """Where rows of a sitemap come from, as they print it: the address requested, and when."""

    url: str
    fetched_at: str


@dataclass(slots=True)
class Plan:
    """The rows to save of one site: how many of each kind, what is deferred, and where they come from."""

    comparison: Comparison
    site_key: str
    sources: Mapping[int, Source]
    quota: int
    include_existing: bool
    aside: int = 0
    """Listed pages whose row cannot be saved in this run (`set_aside`)."""
    existing_aside: int = 0

    def set_aside(self, saved_before: Callable[[str], bool]) -> None:
        """Leave out the rows of pages (canonical URLs) of which an earlier life of this run saved a row. What moves the
        state on waits for the next run; an existing row is simply there already.
        """
        db = self.comparison.db
        for kind in ROWS:
            rows = db.execute(
                "SELECT v.page, p.key FROM verdict v JOIN page p ON p.id = v.page WHERE v.kind = ?", (kind,)
            )
            again = [(kind, page) for page, key in rows.fetchall() if saved_before(key)]
            db.executemany("INSERT INTO unsaved VALUES(?, ?)", again)
            db.executemany("DELETE FROM verdict WHERE kind = ? AND page = ?", again)
            self.comparison.counts[kind] = self.comparison.counts.get(kind, 0) - len(again)
            self.aside += len(again) if kind is not Kind.REMOVED else 0
        if self.include_existing:
            rows = db.execute(f"SELECT n.page, p.key {JUDGED}{_NOT_CHANGED}")
            there = [(page,) for page, key in rows.fetchall() if saved_before(key)]
            db.executemany("INSERT INTO told VALUES(?)", there)
            self.existing_aside = len(there)

    def saved_by_kind(self, saved: int) -> dict[Kind, int]:
        """Of the first `saved` rows of the plan, how many are of each kind."""
        done = {}
        for kind, planned in self.planned.items():
            done[kind] = min(saved, planned)
            saved -= done[kind]
        return done

    def silent_by_reason(self) -> Counter[str]:
        """How many listed pages are remembered silently, or wait, for each reason."""
        return Counter(
            dict(
                self.comparison.db.execute(
                    "SELECT p.why, count(*) FROM verdict v JOIN page p ON p.id = v.page"
                    f" WHERE v.kind IN ({','.join(map(str, map(int, _WITHOUT_ROW)))}) GROUP BY p.why"
                )
            )
        )

    @property
    def planned(self) -> dict[Kind, int]:
        """How many rows of each kind are to be saved."""
        left, planned = self.quota, {}
        for kind in CHANGES:
            planned[kind] = min(left, self.comparison.counts.get(kind, 0))
            left -= planned[kind]
        planned[Kind.BASELINE] = self.comparison.counts.get(Kind.BASELINE, 0)
        return planned

    @property
    def total(self) -> int:
        """How many rows are to be saved that move the state on (existing ones do not)."""
        return sum(self.planned.values())

    @property
    def existing(self) -> int:
        """How many existing rows are to be saved."""
        if not self.include_existing:
            return 0
        return self.comparison.unchanged - self.aside - self.existing_aside

    def rows(self) -> Iterator[list[Row]]:
        """The rows in the order of saving, up to 1,000 at a time; existing ones last."""
        for kind, count in self.planned.items():
            if not count:
                continue
            query = (_REMEMBERED if kind is Kind.REMOVED else _LISTED) + " WHERE v.kind = :kind" + _ORDER
            yield from self._read(query, {"kind": kind, "limit": count}, kind)
        if self.include_existing:
            yield from self._read(f"SELECT {_COLUMNS.replace('x.', 'n.')} {JUDGED}{_NOT_CHANGED}", {}, None)

    def _read(self, query: str, values: dict[str, Any], kind: Kind | None) -> Iterator[list[Row]]:
        cursor = self.comparison.db.execute(query, values)
        while rows := cursor.fetchmany(BLOCK):
            yield [self._row(kind, row) for row in rows]

    def _row(self, kind: Kind | None, values: tuple[Any, ...]) -> Row:
        key, url, lastmod, changefreq, priority, sitemap, extras, kept, first = values
        now = self.comparison.terms.now
        source = self.sources.get(sitemap or 0)
        if source is None:
            case = self.comparison.by_number.get(sitemap or 0)
            source = Source(case.url, "") if case is not None else None
        removed = kind is Kind.REMOVED
        row: Row = {
            "url": url or key,
            "lastmod": kept if removed else lastmod,
            "changefreq": changefreq,
            "priority": priority,
            "sourceSitemap": source.url if source is not None else None,
            "site": self.site_key,
            "fetchedAt": (source.fetched_at if source is not None and not removed else "") or _iso(now),
            "changeType": TYPES[kind] if kind is not None else ChangeType.EXISTING,
            "previousLastmod": kept if kind is Kind.MODIFIED else None,
            "firstSeenAt": _iso(first if first is not None else now),
        }
        if extras:
            row.update(json.loads(extras))
        return row


def settle(plan: Plan, saved: int, fingerprint: str, *, capped: bool) -> SiteFacts:
    """Move the state on by the first `saved` rows of the plan; return the site's facts as they are from now on.

    `fingerprint`: of the settings under which validators hold. `capped`: `maxUrlsPerSite` cut the reading.
    """
    comparison = plan.comparison
    _mark_saved(plan, saved)
    _move_pages(comparison)
    return _move_facts(comparison, fingerprint, capped=capped)


def _mark_saved(plan: Plan, saved: int) -> None:
    """Enter into `unsaved` the pages whose row was planned or due, and is not saved."""
    db = plan.comparison.db
    left = saved
    for kind, planned in plan.planned.items():
        done = min(left, planned)
        left -= done
        if done < plan.comparison.counts.get(kind, 0):
            db.execute(
                "INSERT INTO unsaved SELECT kind, page FROM verdict WHERE kind = ? ORDER BY page LIMIT -1 OFFSET ?",
                (kind, done),
            )


def _move_pages(comparison: Comparison) -> None:
    """Apply the verdicts: those with a row only where it was saved, the silent ones always."""
    db, now = comparison.db, int(comparison.terms.now)
    newest = (
        f"iif(n.ord >= {UNREADABLE} AND (page.instant IS NULL OR n.ord > page.instant OR n.ord = {UNREADABLE}),"
        " {listed}, page.{kept})"
    )
    update = (
        f"UPDATE page SET kept = {newest.format(listed='n.lastmod', kept='kept')},"
        f" instant = {newest.format(listed=f'iif(n.ord > {UNREADABLE}, n.ord, NULL)', kept='instant')},"
        " state = ?, first = ifnull(page.first, ?)"
        " FROM verdict v JOIN now n ON n.page = v.page AND n.sitemap = v.sitemap WHERE v.kind = ? AND page.id = v.page"
    )
    saved = " AND NOT EXISTS(SELECT 1 FROM unsaved u WHERE u.kind = v.kind AND u.page = v.page)"
    for kind, state in _STATES.items():
        if comparison.counts.get(kind):
            db.execute(update + (saved if kind in ROWS else ""), (state, now, kind))
    db.execute(  # a page that is remembered silently moves on, and stays what it is
        update.replace("state = ?", "state = page.state"), (now, Kind.SILENT_MOVED)
    )
    leaving = f"SELECT v.page FROM verdict v WHERE v.kind IN ({Kind.DROPPED:d}, {Kind.REMOVED:d}){saved}"
    db.execute(f"UPDATE page SET state = 0 WHERE id IN ({leaving})")
    db.execute(
        "UPDATE page SET missing = missing + 1 WHERE id IN"
        f" (SELECT page FROM verdict WHERE kind IN ({Kind.PENDING:d}, {Kind.AGED:d}))"
    )
    # What aged out is not told of later either, when the sitemap rolls no more.
    db.execute(f"UPDATE page SET quiet = 1 WHERE id IN (SELECT page FROM verdict WHERE kind = {Kind.AGED:d})")


def _move_facts(comparison: Comparison, fingerprint: str, *, capped: bool) -> SiteFacts:
    db, site = comparison.db, comparison.site
    db.execute(
        f"INSERT INTO unsaved SELECT kind, page FROM verdict WHERE kind IN ({','.join(map(str, map(int, _UNSETTLED)))})"
    )
    lacking = {row[0] for row in db.execute(_SITEMAPS_OF.format(kind=f"= {Kind.BASELINE:d}"))}
    unsettled = {row[0] for row in db.execute(_SITEMAPS_OF.format(kind="> 0"))}
    unsettled |= {row[0] for row in db.execute(_LONG_EXTRAS, (LONGEST_EXTRAS,))}
    after = SiteFacts(site.entry, site.generation + 1, site.runs + 1)
    after.floor = site.floor
    after.whole = site.whole or (comparison.complete and not lacking)
    after.quiet = site.quiet and not after.whole and not capped
    for case in comparison.cases:
        facts, seen = case.facts, case.seen
        if case.came is Came.WHOLE and seen is not None:
            facts.whole = facts.whole or not (case.stopgap or case.number in lacking)
            facts.forget_validators()
            if case.number not in unsettled:
                facts.etag, facts.last_modified = seen.etag, seen.last_modified
                facts.answered_by, facts.terms = seen.answered_by, fingerprint
        if case.came in {Came.WHOLE, Came.PARTIAL, Came.CUT}:
            facts.stamped = facts.stamped + 1 if case.stamped else 0
        settled = case.came is Came.WHOLE or facts.gone
        if settled:
            db.execute("INSERT INTO settled VALUES(?)", (case.number,))
    _mark_stale(comparison)
    for case in comparison.cases:
        forgotten = case.facts.gone and case.came is Came.MISSING
        if not forgotten or _is_needed(comparison, case.number):
            after.sitemaps[case.url] = case.facts
    return after


def _mark_stale(comparison: Comparison) -> None:
    """Pages that no file lists, and whose sitemaps were all read whole or are gone, are known to be missing."""
    comparison.db.execute(
        "INSERT INTO stale SELECT a.page FROM absent a WHERE NOT EXISTS"
        "(SELECT 1 FROM was w WHERE w.page = a.page AND w.sitemap NOT IN (SELECT sitemap FROM settled))"
    )
    comparison.db.execute("UPDATE page SET unlisted = 0 WHERE unlisted")
    comparison.db.execute("UPDATE page SET unlisted = 1 WHERE id IN (SELECT page FROM stale)")


_LONG_EXTRAS = "SELECT DISTINCT sitemap FROM now WHERE extras IS NOT NULL AND length(extras) > ?"
_SITEMAPS_OF = (
    "SELECT DISTINCT n.sitemap FROM unsaved u JOIN now n ON n.page = u.page WHERE u.kind {kind}"
    " UNION SELECT DISTINCT w.sitemap FROM unsaved u JOIN was w ON w.page = u.page WHERE u.kind {kind}"
)


def _is_needed(comparison: Comparison, number: int) -> bool:
    """Whether a page that is remembered as missing refers to the sitemap."""
    query = (
        "SELECT 1 FROM was w JOIN stale s ON s.page = w.page JOIN page p ON p.id = w.page AND p.state > 0"
        " WHERE w.sitemap = ? LIMIT 1"
    )
    return comparison.db.execute(query, (number,)).fetchone() is not None


def unreliable(stamped_runs: int) -> bool:
    """Whether a sitemap stamped in so many runs running is flagged `lastmodUnreliable`."""
    return stamped_runs >= UNRELIABLE_AFTER_STAMPS
