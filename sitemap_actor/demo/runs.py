"""Runs the spider as a user would, `scrapy crawl sitemap` in a process of its own, and shows what came out."""

import asyncio
import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sitemap_actor.demo.server import DemoServer

ROWS_SHOWN = 12
LOG_LINES_SHOWN = 20


def say(text: str = "") -> None:
    """Write a line to standard output."""
    sys.stdout.write(text + "\n")


class Files:
    """Where a run puts its results under the folder `out`."""

    def __init__(self, out: Path) -> None:
        self.folder = out.absolute()
        self.rows = out / "urls.jsonl"
        self.report = out / "records" / "REPORT.json"
        self.skipped = out / "records" / "SKIPPED.json"
        self.page = out / "records" / "REPORT.html"
        self.feed = out / "records" / "CHANGES.atom"
        self.log = out / "scrapy.log"

    def clear(self) -> None:
        """Make the folder, without an earlier run's results: its SKIPPED-2 would not be this run's."""
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.folder / "records", ignore_errors=True)
        self.rows.unlink(missing_ok=True)
        self.log.unlink(missing_ok=True)

    def named(self) -> dict[str, Path]:
        """The files a person may want to open, by name."""
        return {
            "Rows": self.rows,
            "REPORT": self.report,
            "SKIPPED": self.skipped,
            "To read": self.page,
            "Feed": self.feed,
            "Log": self.log,
        }


async def run_sites(sites: Sequence[str], arguments: Sequence[str], out: Path, *, on_demo: bool = False) -> int:
    """Run one job on `sites` with further spider `arguments` (`name=value`), show its results and return its exit code.

    Rows go to `out`/urls.jsonl, records and state to `out`, the log to `out`/scrapy.log. `on_demo` lets the run
    reach loopback addresses; without it they are refused as everywhere.
    """
    files = Files(out)
    files.clear()
    command = [sys.executable, "-m", "scrapy", "crawl", "sitemap", "-O", str(files.rows), "-s", f"LOG_FILE={files.log}"]
    for argument in (f"sites={','.join(sites)}", *arguments):
        command += ["-a", argument]
    environment = {
        **os.environ,
        "SCRAPY_SETTINGS_MODULE": "sitemap_actor.settings",
        "SITEMAP_STORAGE_DIR": str(files.folder),
        **({"SITEMAP_ALLOW_PRIVATE_ADDRESSES": "1"} if on_demo else {}),
    }
    say(f"Reading {', '.join(sites)}")
    process = await asyncio.create_subprocess_exec(*command, env=environment)
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise
    show(files, failed=code != 0)
    return code


async def run_demo(arguments: Sequence[str], out: Path) -> int:
    """Run one job on the demo site; return its exit code."""
    async with DemoServer() as demo:
        return await run_sites(demo.sites, arguments, out, on_demo=True)


async def run_two_days(arguments: Sequence[str], out: Path) -> int:
    """Monitor the demo site on two days, the second with changes; return the first exit code that is not 0."""
    shutil.rmtree(out / "state", ignore_errors=True)  # the ports differ each time, so an old state is of no use
    async with DemoServer() as demo:
        for day in (1, 2):
            demo.day = day
            say(f"\n== Day {day}")
            code = await run_sites(demo.sites, ["mode=monitor", *arguments], out, on_demo=True)
            if code:
                return code
    return 0


async def serve(day: int) -> None:
    """Serve the demo site until interrupted, having said where it is."""
    async with DemoServer(day) as demo:
        for name, base in demo.bases.items():
            say(f"{name:8} {base}")
        say("\nRead it from another shell (interrupt this one to stop):\n")
        say(
            "SITEMAP_ALLOW_PRIVATE_ADDRESSES=1 scrapy crawl sitemap -O urls.jsonl -a " + f"sites={','.join(demo.sites)}"
        )
        sys.stdout.flush()
        await asyncio.Event().wait()


def show(files: Files, *, failed: bool) -> None:
    """Print the run's rows, its sites and what it skipped as short tables, and where its files are."""
    report: Mapping[str, Any] = _json(files.report, {})
    _show_rows(_lines(files.rows))
    _show_sites(report.get("sites", []))
    _show_skipped(_json(files.skipped, []))
    say(f"\n{report.get('message') or 'There is no REPORT.'}\n")
    for name, file in files.named().items():
        if file.exists():
            say(f"{name:8} {file}")
    if failed and report.get("result") != "input_problem":  # there the message above says it all
        say(f"\nThe run failed. The end of its log:\n{_tail(files.log)}")
    sys.stdout.flush()


def _show_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        say("\nNo rows.")
        return
    columns = ["url", "lastmod", "changefreq", "priority"]
    if "changeType" in rows[0]:
        columns = ["changeType", "url", "lastmod", "previousLastmod"]
    # Changes first, and a few of each site, so that the sample shows more than the first file.
    order = sorted(range(len(rows)), key=lambda n: (rows[n].get("changeType") in {"baseline", "existing"}, n))
    shown = [rows[n] for n in _spread(order)]
    say(f"\n{len(rows)} rows" + (f", {len(shown)} of them:" if len(shown) < len(rows) else ":"))
    _table(columns, [[str(row.get(column) or "-") for column in columns] for row in shown])


def _spread(order: Sequence[int]) -> Sequence[int]:
    if len(order) <= ROWS_SHOWN:
        return order
    step = len(order) / ROWS_SHOWN
    return [order[int(n * step)] for n in range(ROWS_SHOWN)]


def _show_sites(sites: Sequence[Mapping[str, Any]]) -> None:
    if sites:
        say("\nSites:")
        lines = [[site["site"], site["status"], str(site["saved"]), site.get("message") or "-"] for site in sites]
        _table(["site", "status", "saved", "what happened"], lines)


def _show_skipped(entries: Sequence[Mapping[str, Any]]) -> None:
    if entries:
        say("\nSkipped:")
        reasons = Counter((entry["stage"], entry["reason"]) for entry in entries)
        _table(["stage", "reason", "count"], [[*key, str(count)] for key, count in reasons.items()])


def _table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    for line in (heads, ["-" * width for width in widths], *lines):
        say("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _lines(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


def _json(file: Path, default: Any) -> Any:
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else default


def _tail(log: Path) -> str:
    if not log.exists():
        return "(no log)"
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES_SHOWN:])
