"""`python -m benchmarks`: measures, and writes the tables of docs/benchmarks.md. It ends by itself and stays on loopback.

Every round runs each contender once, one after the other, so that what the machine does meanwhile falls on all of them; the
tables have medians over the rounds, and ratios of medians. Compare within a table.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import heavy, tables, workloads
from benchmarks.contest import Contest
from benchmarks.measure import Measured
from benchmarks.tools import BUILD, ROOT, TOOLS, install

DOCUMENT = ROOT / "docs" / "benchmarks.md"


class Results:
    """What was measured, by section, contender and workload; kept as JSON lines, too."""

    def __init__(self, path: Path, *, more: bool = False) -> None:
        self._path = path
        self._runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
        if not more:
            path.write_text("")
        for line in path.read_text().splitlines():
            run = json.loads(line)
            self._runs.setdefault((run.pop("name"), run.pop("letter")), []).append(run)

    def add(self, name: str, letter: str, measured: Measured, **more: Any) -> None:
        run = {"cpu": measured.cpu, "wall": measured.wall, "peak": measured.peak_mb, "code": measured.code}
        run |= measured.said | {"error": measured.error} | more
        self._runs.setdefault((name, letter), []).append(run)
        with self._path.open("a") as file:
            file.write(json.dumps({"name": name, "letter": letter} | run) + "\n")
        problem = f"  !! {measured.code} {measured.error}" if measured.code else ""
        print(
            f"{name:18} {letter} {measured.cpu:7.2f} s CPU {measured.peak_mb:5.0f} MB{problem}",
            file=sys.stderr,
            flush=True,
        )

    def runs(self, name: str, letter: str) -> list[dict[str, Any]]:
        return self._runs.get((name, letter), [])

    def median(self, name: str, letter: str, figure: str = "cpu") -> float | None:
        values = [run[figure] for run in self.runs(name, letter) if run.get(figure) is not None and not run["code"]]
        return median(values) if values else None

    def first(self, name: str, letter: str, figure: str) -> Any:
        runs = self.runs(name, letter)
        return runs[0].get(figure) if runs else None


def peers(contest: Contest, results: Results, letters: str, number: int) -> None:
    """One round: the product and every tool on every workload."""
    for letter in letters:
        _add(contest, results, "scrapy", letter, number, contest.scrapy(letter))
        if letter in "ac":
            _add(contest, results, "actor", letter, number, contest.actor(letter))
        for tool in TOOLS:
            if tool.installed() and letter in tool.letters and not (letter in tool.once and number):
                _add(contest, results, tool.name, letter, number, contest.tool(tool, letter))


def _add(contest: Contest, results: Results, name: str, letter: str, number: int, measured: Measured) -> None:
    more = {}
    if not number and not measured.code:
        more["missing"], more["extra"] = contest.agreement(name, letter)
    results.add(name, letter, measured, **more)


def limits(contest: Contest, results: Results, letters: str) -> None:
    """One round: what cannot be avoided."""
    results.add("noop_scrapy", "z", contest.noop_scrapy())
    results.add("noop_actor", "z", contest.noop_actor())
    results.add("own_noop_actor", "z", contest.actor("z", tryCommonPaths=False))
    for letter in letters:
        techniques = ["text_lines"] if letter == "e" else ["lxml_xpath", "expat_append", "own_reader", "expat_empty"]
        for technique in (*techniques, "rows_as_json", *(["gunzip"] if letter in "bc" else [])):
            results.add(technique, letter, contest.limit(technique, letter))
    if "c" in letters and contest.rows("scrapy").exists():
        results.add("push", "c", contest.noop_actor(contest.rows("scrapy")))


def main() -> None:
    options = _options()
    started = time.monotonic()
    if not options.offline:
        install()
    out = options.work / "out"
    out.mkdir(parents=True, exist_ok=True)
    contest = Contest(options.work / "data", out, options.port, options.size)
    results = Results(out / "raw.jsonl", more=options.more)
    with contest.open():
        contest.scrapy("z")  # everything is compiled and in the disk's cache after this
        first = int(options.more)  # the first round of all is the one in which agreement is looked at
        for number in range(first, first + options.rounds):
            if "peers" in options.sections:
                peers(contest, results, options.letters, number)
            if "limits" in options.sections:
                contest.scrapy("c" if "c" in options.letters else options.letters[0])
                limits(contest, results, options.letters)
        extra = [section for section in options.sections if section not in {"peers", "limits"}]
        told = {section: heavy.SECTIONS[section](contest, long=options.long) for section in extra}
    shown = workloads.LETTERS.rstrip("z") if options.more else options.letters
    text = tables.render(results, told, letters=shown, size=options.size)
    print(text)
    if options.document:
        tables.put_into(options.document, text)
    disagree = tables.disagreements(results, shown)
    print(f"{time.monotonic() - started:.0f} s", *disagree, sep="\n", file=sys.stderr)
    sys.exit(bool(disagree))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--small", action="store_true", help="2,000 URLs a sitemap, one round, nothing installed or written"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--more", action="store_true", help="add rounds to what was measured last")
    parser.add_argument("--letters", default=workloads.LETTERS.rstrip("z"))
    parser.add_argument(
        "--sections", default="peers,limits,imports,stages,memory,starved", type=lambda text: text.split(",")
    )
    parser.add_argument("--offline", action="store_true", help="install nothing, run what is there")
    parser.add_argument("--long", action="store_true", help="20 million filtered URLs instead of two")
    parser.add_argument("--size", type=int, default=50_000)
    parser.add_argument("--port", type=int, default=workloads.FIRST_PORT)
    parser.add_argument("--work", type=Path, default=BUILD)
    parser.add_argument("--document", type=Path, default=DOCUMENT)
    options = parser.parse_args()
    if options.small:
        options.size, options.rounds, options.offline, options.document = 2_000, 1, True, None
        options.letters, options.sections = "acde", ["peers", "limits"]
    return options


if __name__ == "__main__":
    main()
