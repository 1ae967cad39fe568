"""Input problems (spec section 1) through the real entry point: exit code, message, REPORT, and no request at all."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.actor.fake_platform import FakePlatform
from tests.actor.helpers import PRICES, Ended, Starter, environment, pages, run_real, serve
from tests.spider.server import Site


def local_input(folder: Path, given: Any) -> None:
    store = folder / "storage" / "key_value_stores" / "default"
    store.mkdir(parents=True)
    (store / "INPUT.json").write_text(json.dumps(given))


def record(folder: Path, name: str) -> Any:
    return json.loads((folder / "storage" / "key_value_stores" / "default" / name).read_text())


def rows(folder: Path) -> list[Any]:
    return [json.loads(file.read_text()) for file in sorted((folder / "storage/datasets/default").glob("0*.json"))]


async def local(starter: Starter, folder: Path, given: Any) -> Ended:
    local_input(folder, given)
    return await starter.run(folder, environment())


PROBLEMS: dict[str, tuple[dict[str, Any], str]] = {
    "no site at all": ({"sites": []}, "sites"),
    "no usable site": ({"sites": ["ftp://x.example/"]}, "sites"),
    "unreadable changedSince": ({"changedSince": "soon"}, "changedSince"),
    "impossible changedSince": ({"changedSince": "2026-02-31"}, "changedSince"),
    "bad stateKey": ({"mode": "monitor", "stateKey": "Not OK!"}, "stateKey"),
    "long stateKey": ({"mode": "monitor", "stateKey": "a" * 41}, "stateKey"),
    "unknown mode": ({"mode": "crawl"}, "mode"),
    "text for a number": ({"maxUrls": "many"}, "maxUrls"),
    "number for a list": ({"sites": 5}, "sites"),
    "object for a list": ({"sitemapUrls": {"a": 1}}, "sitemapUrls"),
    "text for a boolean": ({"tryCommonPaths": "perhaps"}, "tryCommonPaths"),
    "list for a text": ({"changedSince": ["2026-01-01"]}, "changedSince"),
    "a pattern that does not compile": ({"includeUrlPatterns": ["re:("]}, "includeUrlPatterns"),
}


@pytest.mark.parametrize(("given", "field"), PROBLEMS.values(), ids=PROBLEMS.keys())
async def test_an_input_problem_ends_the_run_before_any_request(
    site: Site, tmp_path: Path, starter: Starter, given: dict[str, Any], field: str
) -> None:
    ended = await local(starter, tmp_path, {"sites": [site.url]} | given)
    report = record(tmp_path, "REPORT")
    assert ended.code == 1
    assert report["result"] == "input_problem"
    assert field in [problem["field"] for problem in report["problems"]]
    assert report["message"]
    assert f"[Terminal status message]: {report['message']}" in ended.log
    assert "Traceback" not in ended.log
    assert isinstance(record(tmp_path, "SKIPPED"), list)
    assert rows(tmp_path) == []
    assert site.requests == []


@pytest.mark.parametrize("given", [None, [], "https://a.example", 7], ids=["null", "list", "text", "number"])
async def test_an_input_that_is_no_object_is_a_problem(tmp_path: Path, starter: Starter, given: Any) -> None:
    ended = await local(starter, tmp_path, given)
    assert ended.code == 1
    assert record(tmp_path, "REPORT")["result"] == "input_problem"


async def test_no_input_at_all_is_a_problem(tmp_path: Path, starter: Starter) -> None:
    ended = await starter.run(tmp_path, environment())
    assert ended.code == 1
    assert record(tmp_path, "REPORT")["problems"][0]["field"] == "sites"


async def test_the_real_process_says_the_same(site: Site, tmp_path: Path) -> None:
    local_input(tmp_path, {"sites": [site.url], "mode": "crawl"})
    ended = await run_real(tmp_path, environment())
    assert ended.code == 1
    assert "mode: one of extract, monitor is needed" in ended.log
    assert site.requests == []


async def test_at_home_an_input_problem_charges_nothing_and_is_the_terminal_message(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter
) -> None:
    fake.begin_run(PRICES, 1.0)
    fake.set_input({"sites": [site.url], "changedSince": "soon"})
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 1
    assert "changedSince" in fake.last_message
    assert fake.record("REPORT")["message"] == fake.last_message
    assert not fake.charges
    assert not fake.items
    assert site.requests == []


async def test_a_number_out_of_range_is_clamped_and_told(site: Site, tmp_path: Path, starter: Starter) -> None:
    serve(site, "/sitemap.xml", pages(site, 3))
    ended = await local(starter, tmp_path, {"sites": [site.url], "maxUrls": 0, "requestTimeoutSecs": 999})
    report = record(tmp_path, "REPORT")
    assert ended.code == 0
    assert [(note["field"], note["value"], note["used"]) for note in report["adjustments"]] == [
        ("maxUrls", 0, 1),
        ("requestTimeoutSecs", 999, 120),
    ]
    assert len(rows(tmp_path)) == 1


async def test_a_bad_entry_is_skipped_and_listed_and_the_rest_goes_on(
    site: Site, tmp_path: Path, starter: Starter
) -> None:
    serve(site, "/sitemap.xml", pages(site, 3))
    given = {"sites": ["ftp://x.example/", "https://u:p@x.example/", site.url, site.url.rstrip("/")], "colour": "red"}
    ended = await local(starter, tmp_path, given)
    report = record(tmp_path, "REPORT")
    assert ended.code == 0
    assert len(report["sites"]) == 1
    assert [note["field"] for note in report["adjustments"]] == ["colour"]
    skipped = [skip for skip in record(tmp_path, "SKIPPED") if skip["stage"] == "input"]
    assert [skip["reason"] for skip in skipped] == ["unsupported_scheme", "userinfo"]
    assert len(rows(tmp_path)) == 3


async def test_a_list_of_more_than_1000_is_cut_and_told(site: Site, tmp_path: Path, starter: Starter) -> None:
    serve(site, "/sitemap.xml", pages(site, 3))
    given = {"sites": [site.url] * 1_000 + ["https://never.example/"]}
    ended = await local(starter, tmp_path, given)
    report = record(tmp_path, "REPORT")
    assert ended.code == 0
    assert [(note["value"], note["used"]) for note in report["adjustments"]] == [(1_001, 1_000)]
    assert report["skipsByReason"]["too_many_entries"] == 1


async def test_private_addresses_are_refused_unless_the_operator_allows_them(
    site: Site, tmp_path: Path, starter: Starter
) -> None:
    local_input(tmp_path, {"sites": [site.url]})
    env = environment()
    del env["SITEMAP_ALLOW_PRIVATE_ADDRESSES"]
    ended = await starter.run(tmp_path, env)
    assert ended.code == 1
    assert record(tmp_path, "REPORT")["skipsByReason"] == {"private_address": 1}
    assert site.requests == []
