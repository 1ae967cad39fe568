"""The sink against the platform's API: what fits is saved in order, once, and charged once, whatever the API does."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from apify_client import ApifyClientAsync

from sitemap_actor.actor import dataset, house
from sitemap_actor.actor.house import House, PlatformError
from sitemap_actor.actor.sink import PlatformSink
from sitemap_actor.actor.till import NoTill, PlatformTill, Till
from sitemap_actor.core.errors import DeliveryError
from sitemap_actor.core.rows import Rows, UrlBatch
from tests.actor.fake_platform import DATASET, ITEM_EVENT, KVS, TOKEN, FakePlatform

PRICES = {"url": 0.0002, "change": 0.002, "apify-actor-start": 0.00005, ITEM_EVENT: 0.00001}
ITEMS, CHARGE, RUN_RECORD = r"/items$", r"/charge$", r"/records/RUN-STATE$"


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house, "FIRST_PAUSE_SECS", 0.001)
    monkeypatch.setattr(dataset, "UNSURE_PAUSES_SECS", (0.0, 0.001, 0.001))


def rows(count: int, start: int = 0, change: str | None = None) -> list[dict[str, Any]]:
    return [
        {"url": f"https://a.example/{number}", "lastmod": None, "site": "https://a.example", "sourceSitemap": "s"}
        | ({"changeType": change} if change else {})
        for number in range(start, start + count)
    ]


def home(fake: FakePlatform) -> House:
    client = ApifyClientAsync(token=TOKEN, api_url=f"http://127.0.0.1:{fake.port}", max_retries=0)
    return House(client, fake.run_id, DATASET, KVS)


async def life(fake: FakePlatform, *, by_site: bool = False) -> PlatformSink:
    """A sink as one life of the run opens it."""

    async def till(one: House) -> Till:
        limit = Decimal("inf") if fake.limit_usd is None else Decimal(str(fake.limit_usd))
        prices = {event: Decimal(str(usd)) for event, usd in fake.prices.items()}
        return PlatformTill(one, prices, limit, await one.charged_counts()) if prices else NoTill()

    place = home(fake)
    await place.load_state()
    sink = PlatformSink(place, by_site=by_site, till_of=till)
    await sink.open()
    return sink


def saved(fake: FakePlatform) -> list[str]:
    return [row["url"] for row in fake.items]


def limit_for(count: int, events: dict[str, int] | None = None) -> float:
    """What pays for the start, the events and `count` URLs, to the cent of a cent."""
    spent = Decimal(str(PRICES["apify-actor-start"])) + count * Decimal("0.00021")
    return float(spent + sum((Decimal(str(PRICES[name])) * n for name, n in (events or {}).items()), Decimal()))


@pytest.mark.parametrize("size", [1, 100, 1000, 2500])
@pytest.mark.parametrize("count", [0, 1, 7, 999, 1000, 1001, 2500])
async def test_the_limit_is_honoured_to_the_row(fake: FakePlatform, count: int, size: int) -> None:
    if size == 1 and count > 7:
        count %= 7  # one row a call is slow, and more rows say no more
    fake.begin_run(PRICES, limit_for(count), {"apify-actor-start": 1})
    sink = await life(fake)
    given = rows(2500)
    done = 0
    while done < len(given):
        fit = await sink.deliver(given[done : done + size])
        done += fit
        if fit < size:
            break
    assert done == count
    assert saved(fake) == [row["url"] for row in given[:count]]
    assert fake.charged["url"] == count == (sink.charged() or {})["url"]
    assert fake.spent <= fake.limit_usd + 1e-9  # type: ignore[operator]


async def test_just_below_the_price_of_a_row_is_not_enough(fake: FakePlatform) -> None:
    fake.begin_run(PRICES, limit_for(7) - 0.000001, {"apify-actor-start": 1})
    assert await (await life(fake)).deliver(rows(10)) == 6


async def test_at_the_limit_the_first_row_that_does_not_fit_ends_it_whichever_its_price(fake: FakePlatform) -> None:
    fake.begin_run(PRICES, 0.0045)
    given = [*rows(2), *rows(1, 2, "new"), *rows(1, 3, "modified"), *rows(5, 4, "baseline")]
    # 2 x 0.00021 + 0.00201 = 0.00243; the next change would make 0.00444; then 0.00006 are left, which no row fits in
    sink = await life(fake, by_site=True)
    assert await sink.deliver(given) == 4
    assert fake.charged == {"url": 2, "change": 2}
    fake.charges.clear()
    fake.items.clear()
    fake.records.clear()
    fake._keys.clear()
    fake.begin_run(PRICES, 0.0044)
    assert await (await life(fake, by_site=True)).deliver(given) == 3
    assert fake.charged == {"url": 2, "change": 1}


async def test_earlier_charges_count_against_the_limit(fake: FakePlatform) -> None:
    fake.begin_run(PRICES, 0.021, {"apify-actor-start": 1, "url": 95})
    sink = await life(fake)
    assert await sink.deliver(rows(50)) == 9  # 0.021 - 0.00005 - 0.019 = 0.00195
    assert (sink.charged() or {})["url"] == 104


async def test_a_run_that_is_not_pay_per_event_saves_everything_and_charges_nothing(fake: FakePlatform) -> None:
    sink = await life(fake)
    assert await sink.deliver(rows(10)) == 10
    assert sink.charged() is None
    assert not fake.charges


async def test_an_event_without_a_price_is_not_charged(fake: FakePlatform) -> None:
    fake.begin_run({"change": 0.002}, 1.0)
    sink = await life(fake)
    assert await sink.deliver([*rows(3), *rows(2, 3, "new")]) == 5
    assert fake.charged == {"change": 2}


@pytest.mark.parametrize(
    "fault",
    [("lost", 0), ("error", 500), ("error", 502), ("error", 429)],
    ids=["lost answer", "500", "502", "429"],
)
@pytest.mark.parametrize("times", [1, 3])
async def test_trouble_with_a_push_neither_loses_nor_doubles_rows(
    fake: FakePlatform, fault: tuple[Any, int], times: int
) -> None:
    fake.begin_run(PRICES, 10.0)
    sink = await life(fake)
    await sink.deliver(rows(10))
    fake.fail("POST", ITEMS, fault[0], status=fault[1], times=times)
    assert await sink.deliver(rows(20, 10)) == 20
    assert await sink.deliver(rows(5, 30)) == 5
    assert saved(fake) == [row["url"] for row in rows(35)]
    assert fake.charged == {"url": 35}


async def test_a_dataset_that_shows_a_push_late_does_not_double_it(fake: FakePlatform) -> None:
    sink = await life(fake)
    fake.fail("POST", ITEMS, "lost")
    fake.blind_reads = 2
    await sink.deliver(rows(20))
    assert saved(fake) == [row["url"] for row in rows(20)]


async def test_a_push_that_times_out_is_looked_up(fake: FakePlatform, monkeypatch: pytest.MonkeyPatch) -> None:
    place = home(fake)
    place.client = ApifyClientAsync(token=TOKEN, api_url=f"http://127.0.0.1:{fake.port}", max_retries=0)
    sink = await life(fake)
    real = sink._rows._api.push_items  # type: ignore[attr-defined]

    async def hasty(body: str) -> None:
        from datetime import timedelta

        await real(body, timeout=timedelta(seconds=0.2))

    monkeypatch.setattr(sink._rows._api, "push_items", hasty)  # type: ignore[attr-defined]
    fake.fail("POST", ITEMS, "hang")
    await sink.deliver(rows(20))
    assert saved(fake) == [row["url"] for row in rows(20)]


async def test_only_what_is_missing_is_pushed_again(fake: FakePlatform) -> None:
    sink = await life(fake)
    fake.fail("POST", ITEMS, "error", status=500)
    fake.items.extend(rows(7))  # as if a part had arrived before the error
    assert await sink.deliver(rows(20)) == 20
    assert sorted(saved(fake)) == sorted(row["url"] for row in rows(20))
    assert len(fake.paths("POST", ITEMS)[1].json) == 13


@pytest.mark.parametrize("named", [True, False], ids=["named by the platform", "not named"])
async def test_a_row_that_the_schema_refuses_costs_no_other_row(fake: FakePlatform, named: bool) -> None:
    fake.begin_run(PRICES, 10.0)
    bad = {"https://a.example/3", "https://a.example/17", "https://a.example/18"}
    fake.schema = lambda row: "no" if row["url"] in bad else None
    fake.name_invalid_items = named
    sink = await life(fake)
    assert await sink.deliver(rows(30)) == 30
    assert sorted(saved(fake)) == sorted({row["url"] for row in rows(30)} - bad)
    assert fake.charged == {"url": 27}
    assert {row["url"] for row, _ in sink.take_refused()} == bad
    assert sink.take_refused() == []


async def test_413_splits_the_push_down_to_the_row_that_is_too_large(fake: FakePlatform) -> None:
    fake.begin_run(PRICES, 10.0)
    fake.max_body = 2_000
    given = rows(60)
    given[33]["extra"] = "x" * 3_000
    sink = await life(fake)
    assert await sink.deliver(given) == 60
    assert saved(fake) == [row["url"] for row in given if "extra" not in row]
    assert [why for _, why in sink.take_refused()] == ["too large for the dataset"]
    assert fake.charged == {"url": 59}


async def test_calls_stay_under_5_mb(fake: FakePlatform) -> None:
    sink = await life(fake)
    given = [row | {"extra": "é" * 7_000} for row in rows(1_000)]
    assert await sink.deliver(given) == 1_000
    sizes = [len(call.body) for call in fake.paths("POST", ITEMS)]
    assert len(sizes) > 1
    assert max(sizes) < 5_000_000
    assert saved(fake) == [row["url"] for row in given]


async def test_text_that_utf_8_cannot_carry_stops_nothing(fake: FakePlatform) -> None:
    sink = await life(fake)
    given = rows(2)
    given[1]["lastmod"] = "\ud800"
    assert await sink.deliver(given) == 2
    assert len(fake.items) == 2


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_a_dataset_that_is_closed_to_us_fails_the_delivery_and_says_why(fake: FakePlatform, status: int) -> None:
    sink = await life(fake)
    fake.fail("POST", ITEMS, status=status, times=99)
    with pytest.raises(DeliveryError, match=f"Saving rows failed: HTTP {status}"):
        await sink.deliver(rows(3))


async def test_rows_saved_before_a_delivery_broke_are_charged(fake: FakePlatform) -> None:
    fake.begin_run(PRICES, 10.0)
    fake.max_body = 1_500
    fake.fail("POST", ITEMS, status=403, skip=4, times=99)
    sink = await life(fake)
    with pytest.raises(DeliveryError) as caught:
        await sink.deliver(rows(60))
    assert 0 < caught.value.saved == len(fake.items) < 60
    assert fake.charged == {"url": len(fake.items)}


def batches(*sizes: int) -> Rows:
    """The same rows as they come from the spider: columns, not dicts."""
    reading: Any = SimpleNamespace(site=SimpleNamespace(key="https://a.example"))
    file: Any = SimpleNamespace(url="s")
    parts, start = [], 0
    for size in sizes:
        urls = [row["url"] for row in rows(size, start)]
        nothing: list[Any] = [None] * size
        parts.append(UrlBatch(reading, file, "", "t", urls, nothing, nothing, nothing, None, nothing))
        start += size
    return Rows(parts)


async def test_a_delivery_is_pushed_a_thousand_rows_a_call_and_charged_once(fake: FakePlatform) -> None:
    fake.begin_run(PRICES, 10.0)
    sink = await life(fake)
    assert await sink.deliver(batches(400, 600, 1_000, 700, 400, 900)) == 4_000
    assert [len(call.json) for call in fake.paths("POST", ITEMS)] == [1_000, 1_000, 700, 400, 900]
    assert [call.json["count"] for call in fake.paths("POST", CHARGE)] == [4_000]
    assert await sink.deliver(rows(2_500, 4_000)) == 2_500
    assert [len(call.json) for call in fake.paths("POST", ITEMS)[5:]] == [1_000, 1_000, 500]
    assert saved(fake) == [row["url"] for row in rows(6_500)]


async def test_a_row_refused_in_a_later_call_is_the_row_that_was_delivered(fake: FakePlatform) -> None:
    fake.begin_run(PRICES, 10.0)
    fake.schema = lambda row: "no" if row["url"].endswith("/1999") else None
    sink, given = await life(fake), batches(900, 900, 900)
    assert await sink.deliver(given) == 2_700
    [(row, _)] = sink.take_refused()
    assert row is given[1_999]
    assert fake.charged == {"url": 2_699}


async def test_the_calls_before_the_one_that_broke_are_charged(fake: FakePlatform) -> None:
    fake.begin_run(PRICES, 10.0)
    fake.fail("POST", ITEMS, status=403, skip=2, times=99)
    sink = await life(fake)
    with pytest.raises(DeliveryError) as caught:
        await sink.deliver(batches(900, 900, 900, 900))
    assert caught.value.saved == len(fake.items) == 1_800
    assert fake.charged == {"url": 1_800}


@pytest.mark.parametrize("fault", [("lost", 0), ("error", 500), ("error", 429)], ids=["lost answer", "500", "429"])
@pytest.mark.parametrize("times", [1, 3])
async def test_trouble_with_a_charge_charges_once(fake: FakePlatform, fault: tuple[Any, int], times: int) -> None:
    fake.begin_run(PRICES, 10.0)
    sink = await life(fake)
    fake.fail("POST", CHARGE, fault[0], status=fault[1], times=times)
    await sink.deliver([*rows(20), *rows(3, 20, "new")])
    await sink.deliver(rows(10, 23))
    assert fake.charged == {"url": 30, "change": 3}
    assert len({key for _, _, key in fake.charges}) == len(fake.charges)


async def test_a_charge_without_an_answer_is_not_repeated_once_the_run_shows_it(fake: FakePlatform) -> None:
    """The platform forgets keys after three minutes; the run's own counts do not forget."""
    fake.begin_run(PRICES, 10.0)
    sink = await life(fake)
    fake.fail("POST", CHARGE, "lost")
    fake._keys.clear()
    await sink.deliver(rows(20))
    fake._keys.clear()
    assert fake.charged == {"url": 20}
    assert not fake.repeats


async def test_charges_that_the_platform_never_takes_fail_the_delivery_but_lose_no_row(fake: FakePlatform) -> None:
    fake.begin_run(PRICES, 10.0)
    sink = await life(fake)
    fake.fail("POST", CHARGE, times=99)
    with pytest.raises(DeliveryError, match="Charging failed: HTTP 500") as caught:
        await sink.deliver(rows(20))
    assert caught.value.saved == 20 == len(fake.items)
    fake.faults.clear()
    await life(fake)
    assert fake.charged == {"url": 20}


# --- the next life of the same run


@pytest.mark.parametrize("charged", [0, 12, 20], ids=["nothing charged", "a part charged", "all charged"])
async def test_what_an_earlier_life_could_not_charge_is_charged_once(fake: FakePlatform, charged: int) -> None:
    fake.begin_run(PRICES, 10.0, {"url": charged})
    fake.items.extend(rows(20))
    sink = await life(fake)
    assert fake.charged["url"] == 20 - charged
    await life(fake)
    assert fake.charged["url"] == 20 - charged
    assert sink.saved_before_count() == 20
    assert sink.saved_before("https://a.example", "https://a.example/7")
    assert not sink.saved_before("https://a.example", "https://a.example/20")


async def test_owed_charges_count_against_the_limit(fake: FakePlatform) -> None:
    fake.begin_run(PRICES, limit_for(25), {"apify-actor-start": 1})
    fake.items.extend(rows(20))
    fake._count(ITEM_EVENT, 20)
    assert await (await life(fake)).deliver(rows(10, 20)) == 5
    assert fake.charged == {"url": 25}


async def test_a_page_counts_as_saved_once_per_site_or_once_per_run(fake: FakePlatform) -> None:
    fake.items.extend(rows(1))
    extract, monitor = await life(fake), await life(fake, by_site=True)
    assert extract.saved_before("https://other.example", "https://a.example/0")
    assert not monitor.saved_before("https://other.example", "https://a.example/0")
    assert monitor.saved_before("https://a.example", "https://a.example/0")


async def test_the_dataset_is_matched_by_canonical_url(fake: FakePlatform) -> None:
    fake.items.append({"url": "HTTPS://A.example:443/x#top", "site": "https://a.example"})
    assert (await life(fake)).saved_before("https://a.example", "https://a.example/x")


async def test_a_dataset_that_is_not_up_to_date_yet_is_waited_for(fake: FakePlatform) -> None:
    sink = await life(fake)
    await sink.deliver(rows(10))
    await sink.deliver(rows(10, 10))
    fake.blind_reads = 3
    assert (await life(fake)).saved_before_count() == 20


@pytest.mark.parametrize("path", [ITEMS, r"/actor-runs/[^/]+$", RUN_RECORD], ids=["dataset", "run", "state"])
@pytest.mark.parametrize("status", [429, 500])
async def test_an_api_in_trouble_does_not_keep_a_life_from_beginning(
    fake: FakePlatform, path: str, status: int
) -> None:
    fake.begin_run(PRICES, 10.0)
    fake.items.extend(rows(20))
    fake.fail("GET", path, status=status, times=2)
    fake.fail("GET", path, "lost", times=1)
    assert (await life(fake)).saved_before_count() == 20
    assert fake.charged == {"url": 20}


async def test_the_ledger_is_written_with_every_delivery(fake: FakePlatform) -> None:
    fake.begin_run(PRICES, 10.0)
    sink = await life(fake)
    await sink.deliver([*rows(20), *rows(3, 20, "new")])
    ledger = fake.record("RUN-STATE")
    assert (ledger["rows"], ledger["charged"], ledger["lives"]) == (23, {"url": 20, "change": 3}, 1)
    await life(fake)
    assert fake.record("RUN-STATE")["lives"] == 2


async def test_a_store_that_refuses_the_ledger_stops_nothing(fake: FakePlatform) -> None:
    fake.begin_run(PRICES, 10.0)
    fake.fail("PUT", RUN_RECORD, status=403, times=999)
    sink = await life(fake)
    await sink.deliver(rows(20))
    assert (await life(fake)).saved_before_count() == 20
    assert fake.charged == {"url": 20}


@pytest.mark.parametrize("state", [b"", b"{", b"[1]", b"1", b'{"version": 9}', b'{"version": 1, "lives": "x"}'])
async def test_a_ledger_that_cannot_be_read_is_no_ledger(fake: FakePlatform, state: bytes) -> None:
    fake.records["RUN-STATE"] = (state, "application/json")
    fake.items.extend(rows(20))
    assert (await life(fake)).saved_before_count() == 20


async def test_no_error_tells_the_token(fake: FakePlatform) -> None:
    sink = await life(fake)
    fake.fail("POST", ITEMS, status=403, times=9)
    with pytest.raises(DeliveryError) as caught:
        await sink.deliver(rows(3))
    error: BaseException | None = caught.value
    while error is not None:
        assert TOKEN not in f"{error!r} {error} {vars(error)}"
        error = error.__cause__
    assert isinstance(caught.value.__cause__, PlatformError)
