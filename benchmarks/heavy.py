"""Sections that are measured once: where the CPU goes, memory at its limits, and a starved core. Each returns Markdown."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import workloads
from benchmarks.contest import Contest, environment, serving
from benchmarks.imports import imports
from benchmarks.measure import Measured, run
from benchmarks.tables import figure, table
from benchmarks.tools import ROOT

SHARE, MEGABYTES = 1 / 16, 256


def stages(contest: Contest, *, long: bool) -> str:
    """Where the CPU of workload c goes, in both ways of running."""
    path = contest.out / "stages.json"
    contest.scrapy("c", program=("-m", "benchmarks.stages", str(path)))
    plain = json.loads(path.read_text())
    contest.actor("c", "-m", "benchmarks.stages", str(path), "actor")
    actor = json.loads(path.read_text())
    count = workloads.count("c", contest.size)
    names = sorted({*plain["seconds"], *actor["seconds"]}, key=lambda name: -plain["seconds"].get(name, 0))
    rows = [
        [name, *(figure(told["seconds"].get(name, 0) / count * 1e6) for told in (plain, actor)),
         figure(max(told["longest"].get(name, 0) for told in (plain, actor)) * 1e3, 1)]
        for name in names
    ]  # fmt: skip
    header = ["stage", "`scrapy crawl`, µs a URL", "Actor, µs a URL", "longest step, ms"]
    return f"### Where the CPU of workload c goes\n\n{table(header, rows)}"


def memory(contest: Contest, *, long: bool) -> str:
    """Peaks at the limits: the largest files, and very many URLs of which a filter keeps few."""
    rows = []

    def crawl(what: str, *arguments: str) -> None:
        command = [sys.executable, "-m", "scrapy", "crawl", "sitemap", "-s", "SITEMAP_MIN_GAP_SECS=0", *arguments]
        command += ["-O", str(contest.rows("memory"))]
        measured = run(
            command, cwd=ROOT, env=environment(SITEMAP_STORAGE_DIR=str(contest.out / "storage")), seconds=3_000
        )
        counts = _counts(contest.out / "storage")
        result = f"{counts.get('listed', 0):,} listed, {counts.get('saved', 0):,} saved"
        rows.append([what, result, figure(measured.cpu), figure(measured.wall), figure(measured.peak_mb, 0)])
        print(
            f"{what}: {result}, {measured.peak_mb:.0f} MB, code {measured.code} {measured.error}",
            file=sys.stderr,
            flush=True,
        )

    port = contest.first_port + 20
    with serving("benchmarks.made", str(port), "5000"):
        sites = ",".join(f"http://127.0.0.1:{port + number}" for number in range(5))
        crawl("five files of 52,428,800 bytes, of five sites at once", "-a", f"sites={sites}", "-a", "maxUrls=500000")
        for files in (4, 400 if long else 40):
            crawl(
                f"{files * 50_000:,} URLs in {files} gzipped files, ten of this year",
                "-a", f"sitemapUrls=http://127.0.0.1:{port + 5}/index-{files}.xml", "-a", "changedSince=2026-01-01",
                "-a", "maxSitemaps=5000", "-a", "maxUrls=500000",
            )  # fmt: skip
    return f"### Memory at the limits\n\n{table(['what is read', 'result', 'CPU s', 'wall s', 'peak MB'], rows)}"


def starved(contest: Contest, *, long: bool) -> str:
    """Workload a through the Actor at home on a sixteenth of a core, and how long its event loop is held."""
    module = ("-m", "benchmarks.starved", str(SHARE), str(MEGABYTES), sys.executable)
    holds = contest.out / "holds.json"
    measured = contest.actor("a", *module, "-m", "benchmarks.holds", str(holds), seconds=2_000)
    longest = json.loads(holds.read_text()) if holds.exists() else [[0.0, "nothing"]] * 3
    return f"### On a sixteenth of a core, with {MEGABYTES} MB\n\n{_starved_text(contest, measured, longest)}"


def _starved_text(contest: Contest, measured: Measured, longest: list[list[Any]]) -> str:
    count, said = workloads.count("a", contest.size), measured.said
    charged = said.get("charged", {}).get("url", 0)
    first, second, third = (hold for hold, _ in longest[:3])
    return (
        f"Workload a through the Actor at home, limited by {said.get('limited_by', 'nothing')}: exit code {measured.code}, "
        f"{said.get('rows', 0):,} of {count:,} rows arrived, {charged:,} were charged; {measured.cpu:.1f} s CPU in "
        f"{measured.wall:.0f} s, peak {measured.peak_mb:.0f} MB. The longest that one callback held the event loop between the "
        f"spider's opening and its closing: {first:.1f} ms of CPU, then {second:.1f} and {third:.1f}."
    )


def _counts(storage: Path) -> dict[str, int]:
    path = storage / "records" / "REPORT.json"
    return dict(json.loads(path.read_text())["counts"]) if path.exists() else {}


SECTIONS: dict[str, Callable[..., str]] = {"imports": imports, "stages": stages, "memory": memory, "starved": starved}
