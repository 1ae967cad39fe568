"""The whole tool against a real scrapyd on loopback, reading the demo site."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from scaleout.__main__ import main
from sitemap_actor.demo.server import DemoServer
from tests.jobs.scrapyd_server import Scrapyd, copy_project

# One loop, so that one daemon serves the whole module.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def daemon(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scrapyd]:
    folder = tmp_path_factory.mktemp("jobs")
    async with Scrapyd(folder / "daemon", {"SITEMAP_ALLOW_PRIVATE_ADDRESSES": "1"}) as scrapyd:
        await scrapyd.deploy(copy_project(folder / "project"))
        yield scrapyd


async def test_parts_become_jobs_and_their_reports_one(daemon: Scrapyd, tmp_path: Path) -> None:
    out, storage = tmp_path / "out", tmp_path / "storage"
    (tmp_path / "input.json").write_text(
        '{"maxUrls": 500, "excludeUrlPatterns": ["*/recipes/*"], "tryCommonPaths": true}'
    )
    async with DemoServer() as demo:
        (tmp_path / "sites.txt").write_text("\n".join(demo.sites))
        command = [str(tmp_path / "sites.txt"), "--scrapyd", daemon.url, "--storage", str(storage)]
        command += ["--input", str(tmp_path / "input.json"), "--out", str(out)]
        command += ["--parts", "3", "--at-once", "2", "--poll-secs", "0.2", "--settle-secs", "0"]
        assert await asyncio.to_thread(main, command) == 0
        report = json.loads((out / "REPORT.json").read_text())
        asked = len(demo.requests)

        ledger = json.loads((out / "ledger.json").read_text())
        ledger["entries"][0] |= {"step": "starting", "run": None, "outcome": None}
        (out / "ledger.json").write_text(json.dumps(ledger))
        assert await asyncio.to_thread(main, command) == 0
        assert len(demo.requests) == asked, "the job was found again, and not started twice"

    again = json.loads((out / "REPORT.json").read_text())
    assert again == report
    assert sorted(line["site"] for line in report["sites"]) == sorted(demo.sites)
    assert len(report["parts"]) > 1
    assert {line["part"] for line in report["sites"]} == {part["part"] for part in report["parts"]}
    jobs = [part["run"] for part in report["parts"]]
    rows = [row for job in jobs for row in daemon.items(job)]
    assert len(rows) == report["totals"]["counts"]["saved"] == sum(line["saved"] for line in report["sites"])
    assert report["totals"]["counts"]["filteredByPattern"] == 24
    assert report["totals"]["sitesByStatus"] == {"ok": 1, "partial": 2, "failed": 1}
    assert [one["site"] for one in report["failures"]] == [demo.bases["members"] + "/"]
    for part in report["parts"]:
        assert (storage / f"part-{part['part']:04d}" / "records" / "REPORT.html").is_file()


async def test_a_job_that_scrapyd_refuses_is_told(
    daemon: Scrapyd, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sites.txt").write_text("a.example")
    command = [str(tmp_path / "sites.txt"), "--scrapyd", daemon.url, "--storage", str(tmp_path), "--out", str(tmp_path)]
    assert await asyncio.to_thread(main, [*command, "--project", "nobody"]) == 2
    assert "project 'nobody' not found" in capsys.readouterr().out


async def test_jobs_need_a_storage_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sites.txt").write_text("a.example")
    command = [str(tmp_path / "sites.txt"), "--scrapyd", "http://127.0.0.1:1/", "--out", str(tmp_path / "out")]
    assert await asyncio.to_thread(main, command) == 2
    assert "--storage" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


async def test_a_scrapyd_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sites.txt").write_text("a.example")
    command = [str(tmp_path / "sites.txt"), "--scrapyd", "http://127.0.0.1:1/", "--storage", str(tmp_path)]
    assert await asyncio.to_thread(main, [*command, "--out", str(tmp_path / "out"), "--settle-secs", "0"]) == 2
    assert "the platform did not answer" in capsys.readouterr().out
