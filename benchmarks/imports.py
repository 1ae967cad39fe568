"""What a start imports, and what that takes: the one-request runs with Python's import profile, `-X importtime`."""

import os
import re
import sys
from collections import Counter
from collections.abc import Callable

from benchmarks.contest import Contest
from benchmarks.measure import Measured
from benchmarks.tables import figure, table

PROFILE = "PYTHONPROFILEIMPORTTIME"
MOST = 12
_LINE = re.compile(r"import time: +(\d+) \| +\d+ \| +(\w+)")
_STANDARD = "Python's own"


def imports(contest: Contest, *, long: bool) -> str:
    """The packages of which the imports take longest, in the product's two ways of running and in the two no-ops."""
    contenders: dict[str, Callable[[], Measured]] = {
        "Scrapy": contest.noop_scrapy,
        "**this project**, `scrapy crawl`": lambda: contest.scrapy("z"),
        "Actor SDK and Scrapy": contest.noop_actor,
        "**this project**, Actor at home": lambda: contest.actor("z", tryCommonPaths=False),
    }
    os.environ[PROFILE] = "1"
    try:
        for run in contenders.values():
            run()  # from now on everything is in the disk's cache
        found = {name: by_package(run().stderr) for name, run in contenders.items()}
    finally:
        del os.environ[PROFILE]
    longest: Counter[str] = Counter()
    for spent, _ in found.values():
        longest |= spent
    rows = [
        [
            f"`{package}`" if package != _STANDARD else package,
            *(_cell(spent[package], count[package]) for spent, count in found.values()),
        ]
        for package, _ in longest.most_common(MOST)
    ]
    rows.append(["all", *(_cell(spent.total(), count.total()) for spent, count in found.values())])
    title = "### What a start imports\n\nMilliseconds, and how many modules.\n\n"
    return title + table(["package", *found], rows)


def by_package(log: list[str]) -> tuple[Counter[str], Counter[str]]:
    """The microseconds that the modules of each package took themselves, and how many modules there were."""
    spent: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for line in log:
        if found := _LINE.match(line):
            package = _STANDARD if found[2] in sys.stdlib_module_names else found[2]
            spent[package] += int(found[1])
            count[package] += 1
    return spent, count


def _cell(micros: int, count: int) -> str:
    return f"{figure(micros / 1e3, 0)} ({count})" if count else "-"
