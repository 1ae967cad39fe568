"""Host migration: a sitemap that lists its pages under another scheme or another `www.` brings neither new nor removed pages.

It counts as one where every page that the sitemap lost matches one it gained; the new pages then take the place of the old.
Of a rolling sitemap each matching pair counts. In a file that was not read whole the pairs are held: it cannot be known yet.
"""

from typing import TYPE_CHECKING

from sitemap_actor.core.changes.facts import Came

if TYPE_CHECKING:
    from sitemap_actor.core.changes.compare import Comparison

HELD, MIGRATED = 1, 2
"""`hold` of a page in this run."""

_SCHEMA = """
CREATE TABLE lost(sitemap INTEGER, bare TEXT, page INTEGER, PRIMARY KEY(sitemap, bare, page)) WITHOUT ROWID;
CREATE TABLE gained(sitemap INTEGER, bare TEXT, page INTEGER, PRIMARY KEY(sitemap, bare, page)) WITHOUT ROWID;
CREATE TABLE moved(old INTEGER PRIMARY KEY, new INTEGER UNIQUE);
"""


def bare(url: str) -> str:
    """A URL without its scheme and a leading `www.`."""
    return url.partition("://")[2].removeprefix("www.")


def pair(comparison: "Comparison") -> int:
    """Let the pages of a migrated sitemap take over from those they match; return how many did."""
    db = comparison.db
    known = comparison.snapshot.known
    both = db.execute(
        "SELECT DISTINCT w.sitemap FROM absent a JOIN was w ON w.page = a.page"
        " INTERSECT SELECT DISTINCT n.sitemap FROM now n JOIN page p ON p.id = n.page WHERE n.page > ? AND p.state = 0",
        (known,),
    ).fetchall()
    if not both:
        return 0
    db.create_function("bare", 1, bare, deterministic=True)
    db.executescript(_SCHEMA)
    db.execute("BEGIN")
    for (number,) in both:
        db.execute(
            "INSERT INTO lost SELECT w.sitemap, bare(p.key), p.id FROM absent a JOIN was w ON w.page = a.page"
            " JOIN page p ON p.id = a.page WHERE w.sitemap = ? AND p.state > 0 AND p.unlisted = 0",
            (number,),
        )
        db.execute(
            "INSERT INTO gained SELECT n.sitemap, bare(p.key), p.id FROM now n JOIN page p ON p.id = n.page"
            " WHERE n.sitemap = ? AND n.page > ? AND p.state = 0",
            (number, known),
        )
        _pair_in(comparison, number)
    return _take_over(comparison)


def _pair_in(comparison: "Comparison", number: int) -> None:
    db, case = comparison.db, comparison.by_number[number]
    lost = db.execute("SELECT count(*) FROM lost WHERE sitemap = ?", (number,)).fetchone()[0]
    matched = db.execute(
        "SELECT count(*) FROM lost l WHERE sitemap = ? AND EXISTS"
        "(SELECT 1 FROM gained g WHERE g.sitemap = l.sitemap AND g.bare = l.bare)",
        (number,),
    ).fetchone()[0]
    if not matched:
        return
    if case.came is not Came.WHOLE:
        db.execute(
            "UPDATE page SET hold = ? WHERE id IN (SELECT g.page FROM gained g JOIN lost l"
            " ON l.sitemap = g.sitemap AND l.bare = g.bare WHERE g.sitemap = ?)",
            (HELD, number),
        )
    elif case.rolling or matched == lost:
        db.execute(
            "INSERT OR IGNORE INTO moved SELECT l.page, g.page FROM lost l JOIN gained g"
            " ON g.sitemap = l.sitemap AND g.bare = l.bare WHERE l.sitemap = ? ORDER BY l.page, g.page",
            (number,),
        )


def _take_over(comparison: "Comparison") -> int:
    db = comparison.db
    db.execute(
        "UPDATE page SET state = o.state, first = o.first, kept = o.kept, instant = o.instant, hold = ?"
        " FROM (SELECT m.new, p.* FROM moved m JOIN page p ON p.id = m.old) o WHERE page.id = o.new",
        (MIGRATED,),
    )
    db.execute("UPDATE page SET state = 0 WHERE id IN (SELECT old FROM moved)")
    return int(db.execute("SELECT count(*) FROM moved").fetchone()[0])
