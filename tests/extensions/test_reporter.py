"""The records while a run lasts (spec section 3)."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from sitemap_actor.extensions import reporter
from tests.spider.helpers import crawl, serve, serve_index
from tests.spider.server import Reply, Seen, Site

NAMES = ("REPORT.json", "SKIPPED.json", "REPORT.html")


@pytest.mark.parametrize("mode", ["extract", "monitor"])
async def test_every_record_is_rewritten_while_the_run_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr(reporter, "REWRITE_SECS", 0.01)
    records = tmp_path / "storage" / "records"
    wanted = {*NAMES, *(["SUMMARY.json", "CHANGES.atom"] if mode == "monitor" else [])}
    met: dict[str, str] = {}
    with Site() as site:
        serve_index(site, "/sitemap.xml", "/first.xml", "/second.xml")
        serve(site, "/first.xml", "/a", "/b")
        serve(site, "/second.xml", "/c")
        second = site.routes["/second.xml"]

        def when_written(_seen: Seen) -> Any:
            """Answer once the records of the unfinished run are there."""
            until = time.monotonic() + 20
            while wanted - {path.name for path in records.glob("*")} and time.monotonic() < until:
                time.sleep(0.01)
            met.update((path.name, path.read_text()) for path in records.glob("*") if path.name in wanted)
            return second

        site.routes["/second.xml"] = when_written
        site.routes["/robots.txt"] = Reply(404)
        crawled = await crawl(tmp_path, sites=site.origin, mode=mode)
    assert set(met) == wanted
    assert "Still running" in met["REPORT.html"]
    assert [entry["status"] for entry in json.loads(met["REPORT.json"])["sites"]] != ["ok"]
    assert crawled.report["counts"]["saved"] == 3
    assert "Still running" not in (records / "REPORT.html").read_text()
