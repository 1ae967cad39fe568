"""The spending limit through the whole Actor, at home and with the SDK's local pay-per-event settings."""

import json
import math
from decimal import Decimal
from pathlib import Path

import pytest

from tests.actor.fake_platform import ITEM_EVENT, START_EVENT, FakePlatform
from tests.actor.helpers import PRICES, Starter, assert_report, environment, pages, serve
from tests.actor.test_input import local_input, record, rows
from tests.spider.server import Site

TOTAL = 1_500


def limit_for(urls: int, *, before: int = 0) -> float:
    return float(Decimal("0.00005") + Decimal("0.0002") * (urls + before))


@pytest.mark.parametrize("paid", [0, 1, 7, 999, 1_000, 1_001, TOTAL, TOTAL + 10])
async def test_rows_saved_are_rows_charged_are_what_the_limit_pays_for(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter, paid: int
) -> None:
    serve(site, "/sitemap.xml", pages(site, TOTAL))
    fake.begin_run(PRICES, limit_for(paid), {START_EVENT: 1})
    fake.set_input({"sites": [site.url], "maxUrls": 500_000})
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 0, ended.log
    saved = min(paid, TOTAL)
    assert [row["url"] for row in fake.items] == pages(site, saved)
    assert fake.charged["url"] == saved
    report = assert_report(fake)
    assert report["charged"] == {"url": saved, "change": 0}
    if paid < TOTAL:
        assert (report["result"], report["stopReason"]) == ("stopped_early", "spending_limit")
        assert report["counts"]["notSavedAtSpendingLimit"] == TOTAL - saved
        assert f"{TOTAL - saved:,} URLs were ready but not saved." in fake.last_message
    else:
        assert (report["result"], report["stopReason"]) == ("finished", None)


async def test_the_site_sees_no_request_after_the_limit(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter
) -> None:
    for number in range(20):
        serve(site, f"/s{number}.xml", pages(site, 1_000, number * 1_000))
    lines = "".join(f"Sitemap: {site.url}s{number}.xml\n" for number in range(20))
    site.routes["/robots.txt"] = type(site.routes["/s0.xml"])(body=lines)
    fake.begin_run(PRICES, limit_for(2_500), {START_EVENT: 1})
    fake.set_input({"sites": [site.url], "maxUrls": 500_000})
    ended = await starter.at_home(tmp_path, fake, gap=0.05)
    assert ended.code == 0
    assert len(fake.items) == 2_500 == fake.charged["url"]
    # Two files may be on their way when the third batch meets the limit; nothing is asked for after that.
    assert len(site.requests) <= 1 + 3 + 2
    assert assert_report(fake)["stopReason"] == "spending_limit"


@pytest.mark.parametrize("files", [1, 2, 3])
async def test_a_limit_met_exactly_lets_nothing_more_be_asked_for(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter, files: int
) -> None:
    for number in range(files):
        serve(site, f"/s{number}.xml", pages(site, 1_000, number * 1_000))
    fake.begin_run(PRICES, limit_for(1_000), {START_EVENT: 1})
    fake.set_input({"sitemapUrls": [f"{site.url}s{number}.xml" for number in range(files)], "maxUrls": 500_000})
    ended = await starter.at_home(tmp_path, fake, gap=3)
    assert ended.code == 0, ended.log
    assert len(fake.items) == 1_000 == fake.charged["url"]
    assert site.paths() == ["/robots.txt", "/s0.xml"]
    assert assert_report(fake)["stopReason"] == ("spending_limit" if files > 1 else None)


async def test_several_sites_and_earlier_charges_share_one_limit(
    fake: FakePlatform, tmp_path: Path, starter: Starter
) -> None:
    with Site("127.0.0.1") as one, Site("127.0.0.2") as two, Site("127.0.0.3") as three:
        for each in (one, two, three):
            serve(each, "/sitemap.xml", pages(each, 500))
        fake.begin_run(PRICES, limit_for(777, before=40), {START_EVENT: 1, "url": 40})
        fake.set_input({"sites": [one.url, two.url, three.url], "maxUrls": 500_000})
        ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 0, ended.log
    assert len(fake.items) == 777
    assert fake.charged["url"] == 777
    assert assert_report(fake)["charged"] == {"url": 817, "change": 0}
    assert math.isclose(fake.spent, fake.limit_usd or 0)


async def test_the_price_of_the_platforms_own_item_event_counts(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter
) -> None:
    serve(site, "/sitemap.xml", pages(site, 50))
    fake.begin_run(PRICES | {ITEM_EVENT: 0.0001}, float(Decimal("0.00005") + Decimal("0.0003") * 9), {START_EVENT: 1})
    fake.set_input({"sites": [site.url]})
    await starter.at_home(tmp_path, fake)
    assert len(fake.items) == 9 == fake.charged["url"]
    assert math.isclose(fake.spent, fake.limit_usd or 0)


async def test_max_urls_ends_a_run_without_error(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter
) -> None:
    serve(site, "/sitemap.xml", pages(site, 50))
    fake.begin_run(PRICES, 5.0)
    fake.set_input({"sites": [site.url], "maxUrls": 20})
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 0
    assert len(fake.items) == 20 == fake.charged["url"]
    assert assert_report(fake)["stopReason"] == "max_urls"


# --- locally


def local_prices(limit: float) -> dict[str, str]:
    events = {name: {"eventTitle": name, "eventPriceUsd": usd} for name, usd in PRICES.items()}
    info = {"pricingModel": "PAY_PER_EVENT", "pricingPerEvent": {"actorChargeEvents": events}}
    return {
        "ACTOR_TEST_PAY_PER_EVENT": "1",
        "ACTOR_MAX_TOTAL_CHARGE_USD": str(limit),
        "APIFY_CHARGED_ACTOR_EVENT_COUNTS": '{"apify-actor-start":1}',
        "APIFY_ACTOR_PRICING_INFO": json.dumps(info),
    }


@pytest.mark.parametrize("paid", [0, 1, 7, 60])
async def test_local_pay_per_event_honours_the_limit_to_the_row(
    site: Site, tmp_path: Path, starter: Starter, paid: int
) -> None:
    serve(site, "/sitemap.xml", pages(site, 50))
    local_input(tmp_path, {"sites": [site.url]})
    ended = await starter.run(tmp_path, environment(**local_prices(limit_for(paid))))
    report = record(tmp_path, "REPORT")
    saved = min(paid, 50)
    assert ended.code == 0, ended.log
    assert [row["url"] for row in rows(tmp_path)] == pages(site, saved)
    log = [
        json.loads(file.read_text()) for file in sorted((tmp_path / "storage/datasets/charging-log").glob("0*.json"))
    ]
    assert sum(entry["charged_count"] for entry in log if entry["event_name"] == "url") == saved
    assert report["charged"] == {"url": saved, "change": 0}
    assert report["stopReason"] == ("spending_limit" if paid < 50 else None)


async def test_without_prices_an_event_costs_a_dollar_locally_and_so_does_the_item(
    site: Site, tmp_path: Path, starter: Starter
) -> None:
    serve(site, "/sitemap.xml", pages(site, 50))
    local_input(tmp_path, {"sites": [site.url]})
    env = environment(ACTOR_TEST_PAY_PER_EVENT="1", ACTOR_MAX_TOTAL_CHARGE_USD="5")
    ended = await starter.run(tmp_path, env)
    assert ended.code == 0, ended.log
    assert len(rows(tmp_path)) == 2
    assert record(tmp_path, "REPORT")["charged"] == {"url": 2, "change": 0}


async def test_a_plain_local_run_saves_everything_and_charges_nothing(
    site: Site, tmp_path: Path, starter: Starter
) -> None:
    serve(site, "/sitemap.xml", pages(site, 50))
    local_input(tmp_path, {"sites": [site.url]})
    ended = await starter.run(tmp_path, environment())
    report = record(tmp_path, "REPORT")
    assert ended.code == 0, ended.log
    assert len(rows(tmp_path)) == 50
    assert report["charged"] is None
    assert f"[Terminal status message]: {report['message']}" in ended.log


async def test_a_second_local_run_is_a_run_of_its_own(site: Site, tmp_path: Path, starter: Starter) -> None:
    """`apify run` keeps the dataset of the run before: its rows are no earlier life of this one."""
    serve(site, "/sitemap.xml", pages(site, 5))
    local_input(tmp_path, {"sites": [site.url]})
    for _ in range(2):
        await starter.run(tmp_path, environment(CRAWLEE_PURGE_ON_START="0"))
    assert len(rows(tmp_path)) == 10
    assert record(tmp_path, "REPORT")["counts"]["savedBefore"] == 0
