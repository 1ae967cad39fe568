"""Pages that no file lists any more: removed, held, pending, aged out or dropped.

A page is missing only if every sitemap that listed it says so (`Fate`): one that was not read whole makes it unknown, one
under suspicion holds it.
"""

# ruff: noqa: S608 - the queries are put together from constants of this package; every value is bound

from typing import TYPE_CHECKING

from sitemap_actor.core.changes.files import Fate
from sitemap_actor.core.changes.kinds import Kind
from sitemap_actor.core.changes.snapshot import ACTIVE, BLOCK

if TYPE_CHECKING:
    from sitemap_actor.core.changes.compare import Comparison

ROLLING_MEMORY_RUNS = 10
"""Runs for which a page that left a rolling sitemap is remembered, so that a server that flaps makes no news of it."""

_FATES = f"""
SELECT a.page, p.key, p.state, p.quiet, p.missing, min(ifnull(s.fate, {Fate.MISSING:d})), ifnull(w.sitemap, 0)
FROM absent a JOIN page p ON p.id = a.page LEFT JOIN was w ON w.page = a.page LEFT JOIN sitemap s ON s.number = w.sitemap
WHERE p.state > 0 GROUP BY a.page
"""


def enter(comparison: "Comparison") -> int:
    """Enter the remembered pages that no file lists into the table `absent`; return how many there are."""
    absent = comparison.snapshot.missing()
    comparison.db.execute("CREATE TABLE absent(page INTEGER PRIMARY KEY)")
    comparison.db.executemany("INSERT INTO absent VALUES(?)", zip(absent))
    return len(absent)


def judge_missing(comparison: "Comparison") -> None:
    """Give every missing page its verdict; one that may still be there gets none."""
    cursor = comparison.db.execute(_FATES)
    while rows := cursor.fetchmany(BLOCK):
        verdicts = [
            (kind, page, sitemap, key)
            for page, key, state, quiet, missing, fate, sitemap in rows
            if (kind := _verdict(comparison, state == ACTIVE and not quiet, missing, Fate(fate))) is not None
        ]
        removed = [verdict for verdict in verdicts if verdict[0] is Kind.REMOVED]
        excluded = {removed[place][1] for place in comparison.terms.refused([verdict[3] for verdict in removed])}
        comparison.db.executemany(
            "INSERT INTO verdict VALUES(?,?,?)",
            [(Kind.DROPPED if page in excluded else kind, page, sitemap) for kind, page, sitemap, _key in verdicts],
        )


def _verdict(comparison: "Comparison", told: bool, missing: int, fate: Fate) -> Kind | None:
    """`told`: a row told of the page, and nothing excluded it when it was last listed. `missing`: complete runs so far."""
    if fate is Fate.UNKNOWN:
        return None
    if fate is Fate.SILENT:
        return Kind.DROPPED
    if fate is Fate.AGED:
        return Kind.AGED if missing < ROLLING_MEMORY_RUNS else Kind.DROPPED
    if fate is Fate.HELD or not comparison.complete:
        return Kind.HELD_REMOVAL if told else None
    if missing + 1 < comparison.terms.confirm_runs:
        return Kind.PENDING
    return Kind.REMOVED if told else Kind.DROPPED
