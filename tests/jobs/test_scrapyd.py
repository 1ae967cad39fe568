"""Scheduled jobs: the egg, and jobs on a real scrapyd that read the demo site. Everything on loopback."""

import json
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sitemap_actor.core.rows import EXTRACT_COLUMNS
from sitemap_actor.demo.server import DemoServer
from tests.jobs.scrapyd_server import ROOT, Scrapyd, call, copy_project

# One loop, so that one daemon serves the whole module.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def daemon(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scrapyd]:
    folder = tmp_path_factory.mktemp("jobs")
    async with Scrapyd(folder / "daemon", {"SITEMAP_ALLOW_PRIVATE_ADDRESSES": "1"}) as scrapyd:
        assert '"spiders": 1' in await scrapyd.deploy(copy_project(folder / "project"))
        yield scrapyd


@pytest_asyncio.fixture(loop_scope="module")
async def demo() -> AsyncIterator[DemoServer]:
    async with DemoServer() as server:
        yield server


async def test_the_egg_holds_code_and_everything_else_of_the_package(tmp_path: Path) -> None:
    project = copy_project(tmp_path / "project")
    await call("scrapyd-deploy", "--build-egg", str(tmp_path / "project.egg"), cwd=project)
    with zipfile.ZipFile(tmp_path / "project.egg") as egg:
        packed = set(egg.namelist())
        entry_points = egg.read("EGG-INFO/entry_points.txt").decode()
    files = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "sitemap_actor").rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
    assert files - packed == set()
    assert "[scrapy]\nsettings = sitemap_actor.settings" in entry_points


async def test_a_scheduled_job_leaves_one_line_per_url(daemon: Scrapyd, demo: DemoServer) -> None:
    # Every argument arrives as text, and scrapyd adds `_job`.
    job = await daemon.schedule(
        sites=f"{demo.bases['kitchen']},{demo.bases['garden']}",
        maxUrls="30",
        tryCommonPaths="true",
        extensions="images",
    )
    await daemon.finished(job)
    rows, log = daemon.items(job), daemon.job_log(job)

    assert len(rows) == 30, log
    assert set(EXTRACT_COLUMNS) <= set(rows[0])
    assert len({row["url"] for row in rows}) == 30
    assert {row["site"] for row in rows} <= {demo.bases["kitchen"], demo.bases["garden"]}
    records = daemon.folder / ".scrapy" / "sitemap" / "records"
    report = json.loads((records / "REPORT.json").read_text(encoding="utf-8"))
    assert (report["result"], report["stopReason"]) == ("stopped_early", "max_urls")
    assert report["counts"]["saved"] == 30
    assert report["adjustments"] == []
    # The page's template came out of the zipped egg.
    assert "<html" in (records / "REPORT.html").read_text(encoding="utf-8").lower()


async def test_a_job_with_a_bad_argument_says_so_and_asks_nothing(daemon: Scrapyd, demo: DemoServer) -> None:
    job = await daemon.schedule(
        sites=demo.bases["kitchen"], changedSince="soon", setting="SITEMAP_STORAGE_DIR=of-the-second-job"
    )
    await daemon.finished(job)
    log = daemon.job_log(job)

    report = json.loads((daemon.folder / "of-the-second-job/records/REPORT.json").read_text(encoding="utf-8"))
    assert report["result"] == "input_problem", log
    assert [problem["field"] for problem in report["problems"]] == ["changedSince"]
    assert "changedSince" in log
    assert demo.requests == []
