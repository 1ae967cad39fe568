"""The comparison of what a run read with what is remembered: every listed page gets one verdict (spec section 7).

Every guard is a query over the snapshot. Each listed page is judged by one of its listings, the one with the newest readable
lastmod; `many` holds that choice for the pages that several files list. What no file lists any more is `missing.py`'s.
Pages without an entry in `verdict` are unchanged.
"""

# ruff: noqa: S608 - the queries are put together from constants of this package; every value is bound

from array import array
from collections.abc import Sequence

from sitemap_actor.core.changes import missing, moving
from sitemap_actor.core.changes.facts import Came, Circumstances, FileSeen, Numbers, SiteFacts
from sitemap_actor.core.changes.files import complete, judge, note_counts
from sitemap_actor.core.changes.kinds import HELD_PAGES, SILENTLY, UNJUDGED, Kind, Terms
from sitemap_actor.core.changes.snapshot import ABSENT, UNREADABLE, Snapshot

STAMP_WINDOW_SECS = 600.0
STAMP_LEAST_PAGES = 10
MASSIVE_LEAST_PAGES = 100
MASSIVE_SHARE = 10


_SCHEMA = """
CREATE TABLE verdict(kind INTEGER, page INTEGER, sitemap INTEGER, PRIMARY KEY(kind, page)) WITHOUT ROWID;
CREATE TABLE sitemap(
  number INTEGER PRIMARY KEY, url TEXT, fate INTEGER, cut INTEGER, doubt INTEGER, held INTEGER, unread INTEGER,
  fresh INTEGER, massive INTEGER DEFAULT 0);
CREATE TABLE many(
  page INTEGER PRIMARY KEY, sitemap INTEGER, cut INTEGER, doubt INTEGER, held INTEGER, unread INTEGER, fresh INTEGER);
CREATE TABLE unsaved(kind INTEGER, page INTEGER, PRIMARY KEY(kind, page)) WITHOUT ROWID;
CREATE TABLE told(page INTEGER PRIMARY KEY);
CREATE TABLE stamped(page INTEGER PRIMARY KEY, ord REAL);
CREATE TABLE changed(sitemap INTEGER, ord REAL, page INTEGER, PRIMARY KEY(sitemap, ord, page)) WITHOUT ROWID;
"""

JUDGED = (
    " FROM now n JOIN page p ON p.id = n.page JOIN sitemap s ON s.number = n.sitemap"
    " LEFT JOIN many m ON m.page = n.page WHERE (m.page IS NULL OR m.sitemap = n.sitemap)"
)
"""Each listed page once, with the listing it is judged by."""

_NEWER = (
    f"(p.kept IS NOT NULL AND ((n.ord > {UNREADABLE} AND p.instant IS NOT NULL AND n.ord > p.instant)"
    f" OR (n.ord >= {UNREADABLE} AND (n.ord = {UNREADABLE} OR p.instant IS NULL) AND n.lastmod <> p.kept)))"
)
_GAINED = f"(p.kept IS NULL AND n.ord >= {UNREADABLE})"
_NEWEST_BEFORE = "(SELECT max(w.ord) FROM was w WHERE w.page = n.page)"
_LOST = f"(p.kept IS NOT NULL AND n.ord = {ABSENT} AND ifnull({_NEWEST_BEFORE}, 0) <> {ABSENT})"
_BACK = (
    f"(p.instant IS NOT NULL AND n.ord > {UNREADABLE} AND n.ord < p.instant AND ifnull({_NEWEST_BEFORE}, 0) <> n.ord)"
)
_STAMPED = "EXISTS(SELECT 1 FROM stamped t WHERE t.page = n.page AND t.ord >= n.ord)"

_WAITS = f"ifnull(p.why = '{UNJUDGED}', 0)"
"""The page's host could not be judged: it takes no step that a row would have told of."""

_VERDICTS = f"""
INSERT INTO verdict SELECT kind, page, sitemap FROM (SELECT CASE
  WHEN p.state = 0 THEN CASE
    WHEN p.why IS NOT NULL AND NOT {_WAITS} THEN {Kind.SILENT_NEW:d}
    WHEN p.hold = 1 OR (ifnull(m.doubt, s.doubt) AND ifnull(m.held, s.held))
      THEN iif({_WAITS}, {Kind.WAITING:d}, {Kind.HELD_NEW:d})
    WHEN :whole AND NOT ifnull(m.unread, s.unread) AND NOT (ifnull(m.fresh, s.fresh) AND s.massive)
      THEN iif({_WAITS}, {Kind.WAITING:d}, {Kind.NEW:d})
    WHEN :quiet THEN {Kind.QUIET:d}
    ELSE iif({_WAITS}, {Kind.SILENT_NEW:d}, {Kind.BASELINE:d}) END
  WHEN {_WAITS} THEN CASE
    WHEN p.state = 2 OR NOT {_NEWER} THEN {Kind.SILENT:d}
    WHEN p.hold = 2 OR {_STAMPED} THEN {Kind.SILENT_MOVED:d}
    ELSE {Kind.WAITING:d} END
  WHEN p.why IS NOT NULL THEN CASE WHEN {_NEWER} OR {_GAINED} THEN {Kind.SILENT_MOVED:d} ELSE {Kind.SILENT:d} END
  WHEN p.state = 2 THEN CASE WHEN :quiet THEN {Kind.QUIET:d} ELSE {Kind.BASELINE:d} END
  WHEN {_NEWER} THEN CASE
    WHEN p.hold = 2 THEN {Kind.MIGRATED:d}
    WHEN {_STAMPED} THEN {Kind.STAMPED:d}
    WHEN ifnull(m.cut, s.cut) THEN {Kind.HELD_MODIFIED:d}
    ELSE {Kind.MODIFIED:d} END
  WHEN {_GAINED} THEN {Kind.GAINED:d}
  WHEN {_LOST} THEN {Kind.LOST:d}
  WHEN {_BACK} THEN {Kind.BACK:d}
  END AS kind, n.page AS page, n.sitemap AS sitemap {JUDGED}) WHERE kind IS NOT NULL
"""

_MANY = """
INSERT INTO many SELECT n.page,
  (SELECT b.sitemap FROM now b JOIN sitemap t ON t.number = b.sitemap WHERE b.page = n.page
   ORDER BY b.ord DESC, b.lastmod, t.url LIMIT 1),
  min(s.cut), min(s.doubt), max(s.held), max(s.unread), min(s.fresh)
FROM now n JOIN sitemap s ON s.number = n.sitemap GROUP BY n.page HAVING count(*) > 1
"""

_CHANGED = f"""
INSERT INTO changed SELECT n.sitemap, n.ord, n.page FROM now n JOIN was w ON w.page = n.page AND w.sitemap = n.sitemap
JOIN page p ON p.id = n.page AND p.unlisted = 0
WHERE n.ord > {UNREADABLE} AND w.ord <> n.ord AND w.ord > {ABSENT}
"""

_CHANGED_ELSEWHERE = f"""
INSERT INTO changed SELECT sitemap, ord, page FROM (SELECT w.sitemap AS sitemap, n.ord AS ord, n.page AS page,
  {_NEWEST_BEFORE} AS before
  FROM was w LEFT JOIN now o ON o.page = w.page AND o.sitemap = w.sitemap JOIN page p ON p.id = w.page AND p.unlisted = 0
  CROSS JOIN now n ON n.page = w.page LEFT JOIN many m ON m.page = w.page
  WHERE o.page IS NULL AND n.ord > {UNREADABLE} AND (m.page IS NULL OR m.sitemap = n.sitemap))
WHERE before > {ABSENT} AND before <> ord
"""
"""The same for pages that another file lists now: a deployment may rename the files as well."""


class Comparison:
    """One site's comparison. Building it judges the sitemaps, `run` the pages; `settle` (settling.py) moves the state on."""

    def __init__(
        self,
        snapshot: Snapshot,
        site: SiteFacts,
        seen: Sequence[FileSeen],
        *,
        circumstances: Circumstances,
        terms: Terms,
        numbers: Numbers,
    ) -> None:
        self.snapshot = snapshot
        self.db = snapshot.db
        self.site = site
        self.circumstances = circumstances
        self.terms = terms
        self.cases = judge(site, seen, circumstances)
        for case in self.cases:
            case.facts.number = numbers.of(case.url)
        self.by_number = {case.number: case for case in self.cases}
        self.complete = complete(self.cases, circumstances)
        self.migrated = 0
        self.counts: dict[Kind, int] = {}

    def run(self) -> None:
        """Judge every page, listed or missing."""
        self.snapshot.compared = True
        self.db.executescript(_SCHEMA)
        self.db.execute("BEGIN")
        self._count_sitemaps()
        self._enter_sitemaps()
        self.db.execute(_MANY)
        absent = missing.enter(self)
        if absent:
            self.migrated = moving.pair(self)
        self._find_stamps()
        self._find_massive()
        self.db.execute(_VERDICTS, {"whole": self.site.whole, "quiet": self.site.quiet})
        if absent:
            missing.judge_missing(self)
        self.counts = {
            Kind(kind): count for kind, count in self.db.execute("SELECT kind, count(*) FROM verdict GROUP BY kind")
        }

    def count(self, *kinds: Kind) -> int:
        """How many pages have one of these verdicts."""
        return sum(self.counts.get(kind, 0) for kind in kinds)

    @property
    def unchanged(self) -> int:
        """Listed pages that bring no row and are neither silent nor held."""
        others = self.count(Kind.NEW, Kind.MODIFIED, Kind.BASELINE, *SILENTLY, *HELD_PAGES)
        return self.snapshot.listed_count - others

    # --- sitemaps

    def _count_sitemaps(self) -> None:
        listed = dict(self.db.execute("SELECT sitemap, count(*) FROM now GROUP BY sitemap"))
        known = dict(
            self.db.execute(
                "SELECT w.sitemap, count(*) FROM was w JOIN page p ON p.id = w.page AND p.unlisted = 0 GROUP BY w.sitemap"
            )
        )
        for case in self.cases:
            case.known = known.get(case.number, 0)
            note_counts(case, listed.get(case.number, 0), self.terms.shrink_percent, site_complete=self.complete)

    def _enter_sitemaps(self) -> None:
        self.db.executemany(
            "INSERT INTO sitemap(number,url,fate,cut,doubt,held,unread,fresh) VALUES(?,?,?,?,?,?,?,?)",
            [
                (
                    case.number,
                    case.url,
                    case.fate,
                    case.came is Came.CUT,
                    case.doubtful,
                    case.holds_unknown,
                    case.left_unread,
                    case.fresh,
                )
                for case in self.cases
            ],
        )

    def _find_massive(self) -> None:
        """Sitemaps never seen before that bring more than 100 unknown pages, and more than a tenth of those known."""
        if not self.site.whole or not any(case.fresh for case in self.cases):
            return
        query = (
            f"SELECT n.sitemap, count(*) {JUDGED} AND p.state = 0 AND (p.why IS NULL OR {_WAITS}) AND p.hold = 0"
            " AND ifnull(m.fresh, s.fresh) GROUP BY n.sitemap"
        )
        for number, count in self.db.execute(query).fetchall():
            if count > MASSIVE_LEAST_PAGES and count * MASSIVE_SHARE > self.snapshot.known:
                self.by_number[number].massive = True
                self.db.execute("UPDATE sitemap SET massive = 1 WHERE number = ?", (number,))

    # --- deploy stamps

    def _find_stamps(self) -> None:
        """Mark the pages whose lastmod changed to within one window with more than half of the known pages of their sitemap,
        in whichever file they stand now.
        """
        if not self.snapshot.known:
            return
        self.db.execute(_CHANGED)
        self.db.execute(_CHANGED_ELSEWHERE)
        counts = self.db.execute("SELECT sitemap, count(*) FROM changed GROUP BY sitemap").fetchall()
        for number, count in counts:
            case = self.by_number[number]
            if count < STAMP_LEAST_PAGES or count * 2 <= case.known:
                continue
            ords = array(
                "d",
                (row[0] for row in self.db.execute("SELECT ord FROM changed WHERE sitemap=? ORDER BY ord", (number,))),
            )
            size, low, high = fullest_window(ords, STAMP_WINDOW_SECS)
            if size >= STAMP_LEAST_PAGES and size * 2 > case.known:
                case.stamped = size
                self.db.execute(
                    "INSERT INTO stamped SELECT page, ord FROM changed WHERE sitemap = ? AND ord BETWEEN ? AND ?"
                    " ON CONFLICT DO UPDATE SET ord = max(ord, excluded.ord)",
                    (number, low, high),
                )


def fullest_window(values: Sequence[float], width: float) -> tuple[int, float, float]:
    """Of sorted `values`: how many at most lie within one window of `width`, and its first and last value."""
    best, first = (0, 0.0, 0.0), 0
    for last, value in enumerate(values):
        while value - values[first] > width:
            first += 1
        if last - first + 1 > best[0]:
            best = (last - first + 1, values[first], value)
    return best
