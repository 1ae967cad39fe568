"""What every Python runner shares. Arguments: the site's origin, the sitemap's name, the file to write rows to.

A runner does what the tool offers to get from a site to its URLs, writes them as JSON lines with lastmod where the tool has
it, and prints one line of JSON: how many, how many with lastmod, and the CPU seconds after the imports.
"""

import json
import sys
import time
from collections.abc import Iterable

ORIGIN, NAME, OUT = sys.argv[1:4]
SITEMAP = f"{ORIGIN}/{NAME}"
ROBOTS = f"{ORIGIN}/robots.txt"
_started: list[float] = []


def begin() -> None:
    """Everything is imported."""
    _started.append(time.process_time())


def write(rows: Iterable[tuple[str, str | None]]) -> tuple[int, int]:
    """Write rows; return how many there were, and how many of them with lastmod."""
    count = dated = 0
    with open(OUT, "w") as file:
        for url, lastmod in rows:
            file.write(json.dumps({"url": url, "lastmod": lastmod}) + "\n")
            count += 1
            dated += lastmod is not None
    return count, dated


def end(count: int, dated: int, note: str = "") -> None:
    """Print the line."""
    print(json.dumps({"count": count, "dated": dated, "note": note, "work_cpu": time.process_time() - _started[0]}))
