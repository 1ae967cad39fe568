"""What a start imports: nothing that the run does not need."""

import re
from pathlib import Path

import pytest

from sitemap_actor.core.changes import kinds
from tests.spider.conftest import SiteFactory
from tests.spider.helpers import scrapy_crawl, serve, serve_robots

CHANGES = kinds.__name__.rpartition(".")[0]


@pytest.mark.parametrize("mode", ["extract", "monitor"])
def test_only_a_run_that_remembers_imports_the_memory(
    site: SiteFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    server = site()
    serve_robots(server, f"Sitemap: {server.origin}/a.xml")
    serve(server, "/a.xml", "/1", "/2")
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    ran = scrapy_crawl(tmp_path, {"mode": mode, "sites": server.origin}, "-s", "SITEMAP_MIN_GAP_SECS=0")
    assert ran.record("REPORT")["counts"]["saved"] == 2, ran.said
    imported = set(re.findall(r"^import time:[^|]+\|[^|]+\| +([\w.]+)$", ran.said, re.MULTILINE))
    of_changes = {module for module in imported if module.startswith(f"{CHANGES}.")}
    if mode == "monitor":
        assert f"{CHANGES}.memory" in of_changes
    else:
        assert of_changes == {kinds.__name__}
