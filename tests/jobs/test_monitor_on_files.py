"""Monitor mode on files, killed: nothing is lost, and what may be repeated is told (spec section 7)."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.spider.helpers import serve, serve_robots
from tests.spider.server import Seen, Site

ROOT = Path(__file__).parents[2]


def command(site: Site, feed: Path) -> list[str]:
    settings = ("SITEMAP_MIN_GAP_SECS=0", "SITEMAP_LEASE_WAIT_SECS=0", "LOG_LEVEL=WARNING")
    arguments = ("mode=monitor", f"sites={site.origin}")
    options = [part for setting in settings for part in ("-s", setting)]
    options += [part for argument in arguments for part in ("-a", argument)]
    return [sys.executable, "-m", "scrapy", "crawl", "sitemap", "-o", str(feed), *options]


def start(site: Site, folder: Path) -> subprocess.Popen[bytes]:
    env = os.environ | {"SITEMAP_STORAGE_DIR": str(folder / "storage"), "SITEMAP_ALLOW_PRIVATE_ADDRESSES": "1"}
    return subprocess.Popen(command(site, folder / "rows.jsonl"), cwd=ROOT, env=env, stderr=subprocess.DEVNULL)


def rows(folder: Path) -> list[dict[str, Any]]:
    feed = folder / "rows.jsonl"
    return [json.loads(line) for line in feed.read_text().splitlines()] if feed.exists() else []


def flags(folder: Path) -> list[str]:
    (site,) = json.loads((folder / "storage" / "records" / "SUMMARY.json").read_text())["sites"]
    return list(site["flags"])


def day(site: Site, number: int) -> None:
    serve_robots(site, f"Sitemap: {site.origin}/a.xml", f"Sitemap: {site.origin}/b.xml")
    serve(site, "/a.xml", *(f"/a/{page}" for page in range(1_000 + 40 * number)), lastmod="2026-01-01")
    serve(site, "/b.xml", *(f"/b/{page}" for page in range(1_000 - 40 * number)), lastmod="2026-01-01")


@pytest.mark.parametrize(("request_number", "later"), [(2, 0.0), (3, 0.03), (3, 0.1), (3, 0.3)])
def test_a_killed_run_loses_nothing_and_the_next_one_tells(tmp_path: Path, request_number: int, later: float) -> None:
    with Site() as site:
        day(site, 0)
        assert start(site, tmp_path).wait(60) == 0
        (tmp_path / "rows.jsonl").rename(tmp_path / "first.jsonl")
        day(site, 1)
        heads = _heads(tmp_path)
        process = _start_and_kill(site, tmp_path, request_number, later)
        # A run that is killed after its state was written has nothing to repeat.
        killed = process.wait(60) != 0 and _heads(tmp_path) == heads
        after_kill = len(rows(tmp_path))
        assert start(site, tmp_path).wait(60) == 0
        told = [(row["url"], row["changeType"]) for row in rows(tmp_path)]
        expected = {(f"{site.origin}/a/{page}", "new") for page in range(1_000, 1_040)}
        expected |= {(f"{site.origin}/b/{page}", "removed") for page in range(960, 1_000)}
        assert set(told) == expected
        assert heads
        if killed and after_kill:
            assert len(told) == len(expected) + after_kill
            assert "deliveredAtLeastOnce" in flags(tmp_path)
        folder = tmp_path / "storage" / "state" / "default"
        assert not [path.name for path in folder.iterdir() if "journal" in path.name or "lease" in path.name]


def _heads(folder: Path) -> dict[str, bytes]:
    """The records that say what the state is."""
    return {path.name: path.read_bytes() for path in (folder / "storage" / "state" / "default").glob("*-head*")}


def _start_and_kill(site: Site, folder: Path, request_number: int, later: float) -> subprocess.Popen[bytes]:
    """Kill the run `later` seconds after its n-th request."""
    plain, seen = dict(site.routes), [0]
    processes: list[subprocess.Popen[bytes]] = []

    def watched(request: Seen) -> Any:
        seen[0] += 1
        if seen[0] == request_number:
            threading.Timer(later, processes[0].kill).start()
        return plain[request.path]

    for path in plain:
        site.routes[path] = watched
    processes.append(start(site, folder))
    processes[0].wait(60)
    site.routes.update(plain)
    return processes[0]
