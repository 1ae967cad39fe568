"""The platform's API in trouble, through the whole Actor: no row is silently lost, doubled or charged twice."""

from pathlib import Path
from typing import Any

import pytest

from tests.actor.fake_platform import FakePlatform
from tests.actor.helpers import PRICES, Starter, assert_no_secret, assert_report, assert_whole, pages, serve
from tests.spider.server import Site

ITEMS, CHARGE, RUN, RECORDS = r"/items$", r"/charge$", r"/actor-runs/[^/]+$", r"/records/"
COUNT = 1_200


@pytest.fixture
def urls(fake: FakePlatform, site: Site) -> list[str]:
    """A run of 1,200 pages, ready to begin: two deliveries."""
    serve(site, "/sitemap.xml", pages(site, COUNT))
    fake.begin_run(PRICES, 5.0)
    fake.set_input({"sites": [site.url], "maxUrls": 500_000})
    return pages(site, COUNT)


CALLS = [
    ("POST", ITEMS),
    ("GET", ITEMS),
    ("POST", CHARGE),
    ("GET", RUN),
    ("PUT", RUN),
    ("GET", r"/records/INPUT$"),
    ("GET", r"/records/RUN-STATE$"),
    ("PUT", r"/records/RUN-STATE$"),
    ("PUT", r"/records/RUN-FILES$"),
    ("PUT", r"/records/REPORT$"),
    ("PUT", r"/records/SKIPPED$"),
]


@pytest.mark.parametrize(
    ("action", "status"), [("error", 429), ("error", 500), ("lost", 0)], ids=["429", "500", "lost"]
)
@pytest.mark.parametrize(("method", "path"), CALLS, ids=[f"{method} {path.strip('$')}" for method, path in CALLS])
async def test_a_call_that_goes_wrong_twice_changes_nothing(
    fake: FakePlatform,
    urls: list[str],
    tmp_path: Path,
    starter: Starter,
    method: str,
    path: str,
    action: Any,
    status: int,
) -> None:
    fake.fail(method, path, action, status=status, times=2)
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 0, ended.log
    assert_whole(fake, urls)
    report = assert_report(fake)
    assert report["result"] == "finished"
    assert fake.last_message == report["message"]
    assert "Traceback" not in ended.log
    assert_no_secret(fake, ended.log)


async def test_a_slow_platform_only_takes_longer(
    fake: FakePlatform, urls: list[str], tmp_path: Path, starter: Starter
) -> None:
    fake.slow_secs = 0.3
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 0, ended.log
    assert_whole(fake, urls)
    assert_report(fake)


async def test_a_call_without_an_answer_is_given_up_and_made_again(
    fake: FakePlatform, urls: list[str], tmp_path: Path, starter: Starter
) -> None:
    fake.fail("POST", CHARGE, "hang")  # the client waits 5 s for a charge
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 0, ended.log
    assert_whole(fake, urls)
    assert_report(fake)


@pytest.mark.parametrize("named", [True, False], ids=["named", "not named"])
async def test_a_row_that_the_schema_refuses_is_told_and_costs_no_other_row(
    fake: FakePlatform, urls: list[str], tmp_path: Path, starter: Starter, named: bool
) -> None:
    bad = {urls[7], urls[1_100]}
    fake.schema = lambda row: "no" if row["url"] in bad else None
    fake.name_invalid_items = named
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 0, ended.log
    assert_whole(fake, [url for url in urls if url not in bad])
    report = assert_report(fake)
    assert report["counts"]["notSaved"] == 2
    assert report["refusedRows"]["count"] == 2
    assert {sample["url"] for sample in report["refusedRows"]["samples"]} == bad
    assert "2 URLs are not saved because the dataset refused them." in fake.last_message
    for url in bad:
        assert url in ended.log


async def test_413_splits_what_is_pushed(fake: FakePlatform, urls: list[str], tmp_path: Path, starter: Starter) -> None:
    fake.max_body = 20_000
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 0, ended.log
    assert_whole(fake, urls)
    assert_report(fake)


async def test_a_dataset_that_is_closed_fails_the_run_and_says_so(
    fake: FakePlatform, urls: list[str], tmp_path: Path, starter: Starter
) -> None:
    fake.fail("POST", ITEMS, status=403, times=99)
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 1
    report = assert_report(fake)
    assert report["result"] == "failed"
    assert report["counts"]["notSaved"] == len(urls)
    assert "Saving rows failed: HTTP 403" in fake.last_message
    assert not fake.items
    assert not fake.charges


async def test_charging_that_is_refused_fails_the_run_and_the_next_life_charges(
    fake: FakePlatform, urls: list[str], tmp_path: Path, starter: Starter
) -> None:
    fake.fail("POST", CHARGE, status=403, times=99)
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 1
    assert "Charging failed: HTTP 403" in fake.last_message
    assert assert_report(fake)["result"] == "failed"
    fake.faults.clear()
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 0, ended.log
    assert_whole(fake, urls)
    assert_report(fake)


async def test_a_store_that_refuses_records_does_not_fail_a_run_whose_rows_are_saved(
    fake: FakePlatform, urls: list[str], tmp_path: Path, starter: Starter
) -> None:
    fake.fail("PUT", RECORDS, status=403, times=999)
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 0, ended.log
    assert_whole(fake, urls)
    assert fake.last_message == (
        f"Saved {COUNT:,} URLs of 1 site. These records could not be written: REPORT, SKIPPED, REPORT.html."
    )
    assert "The record REPORT could not be written" in ended.log
    assert "Traceback" not in ended.log


async def test_an_input_that_cannot_be_read_fails_the_run_before_any_request(
    fake: FakePlatform, urls: list[str], site: Site, tmp_path: Path, starter: Starter
) -> None:
    assert urls
    fake.fail("GET", r"/records/INPUT$", status=403, times=99)
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 1
    assert fake.last_message.startswith("The run failed")
    assert fake.record("REPORT")["result"] == "failed"
    assert site.requests == []
    assert not fake.charges


async def test_a_dataset_that_cannot_be_read_at_the_start_fails_the_run_before_anything_is_saved(
    fake: FakePlatform, urls: list[str], site: Site, tmp_path: Path, starter: Starter
) -> None:
    assert urls
    fake.fail("GET", ITEMS, status=403, times=99)
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 1
    assert "Reading the dataset failed: HTTP 403" in fake.last_message
    assert fake.record("REPORT")["result"] == "failed"
    assert not fake.items
    assert not fake.charges


async def test_a_wrong_token_fails_the_run_without_telling_it(
    fake: FakePlatform, urls: list[str], tmp_path: Path, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert urls
    env = fake.env()
    monkeypatch.setattr(fake, "env", lambda: env | {"APIFY_TOKEN": "apify_api_WRONGxTOKEN"})
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code != 0
    assert "apify_api_WRONGxTOKEN" not in ended.log
