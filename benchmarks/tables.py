"""Makes Markdown of what was measured."""

import os
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import workloads
from benchmarks.tools import TOOLS

if TYPE_CHECKING:
    from benchmarks.__main__ import Results

BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
OWN = ("scrapy", "actor")
LABELS = {"scrapy": "**this project**, `scrapy crawl`", "actor": "**this project**, Actor at home"}
PARSERS = ("lxml_xpath", "expat_append", "own_reader", "text_lines")
TITLES = {
    "a": "urlset",
    "b": "the same, gzipped",
    "c": "index of ten gzipped urlsets",
    "d": "urlset with hreflang, image and news elements",
    "e": "text",
    "n": "urlset without lastmod",
    "h": "urlset, lastmod on every second URL",
}
# What a tool does to URLs by design, so that a difference is no disagreement.
_REWRITES = {"trafilatura_search"}
# What a tool gets wrong now and then, at the border of two chunks of a text file.
_BREAKS = {"npm_crawlee": "e"}
_READS_NOTHING = {"scrapy_items": "e", "scrapy_filter": "e", "advertools_df": "e", "npm_sitemap": "e", "npm_sitemapper": "e",
                  "npm_stream_parser": "bce"}  # fmt: skip


def machine() -> str:
    """The machine in a line: no name, no path."""
    model = "unknown processor"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists() and (found := re.search(r"model name\s*: (.+)", cpuinfo.read_text())):
        model = found[1]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[2]
    return (
        f"{platform.system()} on {len(os.sched_getaffinity(0))} cores of {model}, {memory:.0f} GB; "
        f"Python {platform.python_version()}; load {load:.1f} over the last 15 minutes"
    )


def figure(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def render(results: "Results", told: dict[str, str], *, letters: str, size: int) -> str:
    """Everything between the marks of the document."""
    counts = [len(runs) for letter in letters if (runs := results.runs("scrapy", letter))] or [0]
    rounds = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else f"{counts[0]}"
    parts = [f"Measured on {machine()}. Medians of interleaved rounds, {rounds} of each workload."]
    parts += [_contest(results, letter, size) for letter in letters if results.runs("scrapy", letter)]
    if results.runs("noop_scrapy", "z"):
        parts += [_floors(results, letters, size), _techniques(results, letters, size), _start(results)]
    return "\n\n".join([*parts, *told.values()]) + "\n"


def _contest(results: "Results", letter: str, size: int) -> str:
    count = workloads.count(letter, size)
    own = results.median("scrapy", letter)
    rows = []
    for name in (*OWN, *(tool.name for tool in TOOLS)):
        cpu = results.median(name, letter)
        if cpu is None:
            continue
        if name in OWN:
            found = count - (results.first(name, letter, "missing") or 0)
        else:
            found = results.first(name, letter, "count") or 0
        missing, extra = results.first(name, letter, "missing") or 0, results.first(name, letter, "extra") or 0
        differs = f"{missing:,} missing, {extra:,} of its own" if found and (missing or extra) else ""
        note = results.first(name, letter, "note") or ""
        lacks = next((f"no {tool.without}" for tool in TOOLS if tool.name == name and tool.without), "")
        ratio = figure(cpu / own) if own and found else "-"
        line = [
            LABELS.get(name, f"`{name}`"),
            f"{found:,}",
            figure(cpu),
            ratio,
            figure(results.median(name, letter, "wall")),
        ]
        line += [figure(results.median(name, letter, "peak"), 0), ", ".join(filter(None, (lacks, differs, note)))]
        rows.append((cpu if found else 1e9, line))
    header = ["tool", "URLs", "CPU s", "CPU, ratio to ours", "wall s", "peak MB", "remarks"]
    return f"### {letter}: {TITLES[letter]}, {count:,} URLs\n\n{table(header, [line for _, line in sorted(rows)])}"


def floor(results: "Results", letter: str, *, actor: bool = False) -> tuple[float, dict[str, float]] | None:
    """What a workload costs at least, with its parts in seconds."""
    parses = [cpu for name in PARSERS if (cpu := results.median(name, letter, "work_cpu")) is not None]
    noop, writing = (
        results.median("noop_actor" if actor else "noop_scrapy", "z"),
        results.median("rows_as_json", letter, "work_cpu"),
    )
    if not parses or noop is None or writing is None:
        return None
    parts = {
        "no-op": noop,
        "gunzip": results.median("gunzip", letter, "work_cpu") or 0.0,
        "parse": min(parses),
        "JSON": writing,
    }
    if actor:
        parts["push"] = results.median("push", letter, "work_cpu") or 0.0
    return sum(parts.values()), parts


def _floors(results: "Results", letters: str, size: int) -> str:
    rows = []
    for letter in letters:
        for name in OWN:
            found, own = floor(results, letter, actor=name == "actor"), results.median(name, letter)
            if found is None or own is None or (name == "actor" and letter != "c"):
                continue
            least, parts = found
            others = [cpu for tool in TOOLS if (cpu := _complete(results, tool.name, letter, size)) is not None]
            best = f"{own / min(others):.2f}" if others else "-"
            summands = " + ".join(f"{value:.2f} {part}" for part, value in parts.items() if value)
            rows.append([letter, LABELS[name], figure(own), f"{summands} = {least:.2f}", figure(own / least), best])
    header = ["workload", "", "CPU s", "floor, CPU s", "ratio to the floor", "ratio to the best other tool"]
    return f"### Beside the limits\n\n{table(header, rows)}"


def _complete(results: "Results", name: str, letter: str, size: int) -> float | None:
    """The CPU of a tool that gave every URL with its lastmod."""
    lacks = next(tool.without for tool in TOOLS if tool.name == name)
    whole = results.first(name, letter, "count") == workloads.count(letter, size)
    return results.median(name, letter) if whole and not lacks else None


def _techniques(results: "Results", letters: str, size: int) -> str:
    rows = []
    for name in (*PARSERS, "expat_empty", "gunzip", "rows_as_json"):
        values = [(results.median(name, letter, "work_cpu"), workloads.count(letter, size)) for letter in letters]
        if any(value is not None for value, _ in values):
            rows.append([f"`{name}`", *(figure(value and value / count * 1e6) for value, count in values)])
    return f"### Techniques alone, CPU microseconds a URL\n\n{table(['', *letters], rows)}"


def _start(results: "Results") -> str:
    noop, bare, own = (results.median(name, "z") for name in ("noop_scrapy", "noop_actor", "own_noop_actor"))
    rows = [
        [what, figure(cpu), figure(results.median(name, "z", "peak"), 0), figure(cpu and bare and cpu / bare)]
        for what, name, cpu in (
            ("Scrapy, one request", "noop_scrapy", noop),
            ("Actor SDK and Scrapy, one request", "noop_actor", bare),
            ("**this project** as an Actor, a site without sitemap", "own_noop_actor", own),
        )
    ]
    return f"### Start-up\n\n{table(['', 'CPU s', 'peak MB', 'ratio to Actor SDK and Scrapy'], rows)}"


def disagreements(results: "Results", letters: str) -> list[str]:
    """Contenders whose URLs are not the workload's, for no reason that is known."""
    wrong = []
    for letter in letters:
        for name in (*OWN, *(tool.name for tool in TOOLS)):
            runs: list[dict[str, Any]] = results.runs(name, letter)
            known = _READS_NOTHING.get(name, "") + _BREAKS.get(name, "")
            if not runs or name in _REWRITES or letter in known:
                continue
            if runs[0]["code"] or runs[0].get("missing") or runs[0].get("extra"):
                wrong.append(f"{name} on {letter}: {runs[0]}")
    return wrong


def put_into(document: Path, text: str) -> None:
    """Replace what stands between the marks."""
    before, _, rest = document.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    document.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")
