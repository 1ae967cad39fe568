"""The verdicts on a page, and the terms of a comparison."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

UNJUDGED = "unjudged"
"""Why a page waits: nobody could say in this run what the robots.txt of its host allows."""


class Kind(IntEnum):
    """A verdict on a page. The first four are rows to save, in the order of saving."""

    NEW = 1
    MODIFIED = 2
    REMOVED = 3
    BASELINE = 4
    STAMPED = 10
    """Newer only by a deploy stamp."""
    GAINED = 11
    LOST = 12
    BACK = 13
    MIGRATED = 14
    """Newer, but it came over from another host in this run."""
    SILENT_NEW = 15
    SILENT_MOVED = 16
    """Remembered silently, its kept lastmod moves on."""
    SILENT = 17
    QUIET = 18
    """Enters a new state that replaces an unreadable one, without a row."""
    HELD_NEW = 19
    HELD_MODIFIED = 20
    WAITING = 21
    """Its host could not be judged: it stays as it was, and what changed of it is told by a run that can judge it."""
    PENDING = 30
    """Missing, but not in enough complete runs yet."""
    HELD_REMOVAL = 31
    AGED = 32
    """Left a rolling sitemap; remembered for some runs in case it flaps."""
    DROPPED = 33
    """Forgotten without a row."""


CHANGES = (Kind.NEW, Kind.MODIFIED, Kind.REMOVED)
ROWS = (*CHANGES, Kind.BASELINE)
SILENTLY = (Kind.SILENT_NEW, Kind.SILENT_MOVED, Kind.SILENT, Kind.QUIET, Kind.WAITING)
HELD_PAGES = (Kind.HELD_NEW, Kind.HELD_MODIFIED)


@dataclass(frozen=True, slots=True)
class Terms:
    """How to compare. `now` in POSIX seconds; `refused` gives, of canonical URLs, the places of those that the job's filters
    exclude today.
    """

    now: float
    confirm_runs: int = 1
    shrink_percent: int = 50
    refused: Callable[[Sequence[str]], Sequence[int]] = lambda keys: ()
