"""The ports on key-value stores, at home."""

import json

import pytest
from apify_client import ApifyClientAsync

from sitemap_actor.actor import house
from sitemap_actor.actor.house import House, PlatformError
from sitemap_actor.actor.stores import PlatformRecordStore, PlatformStateStore
from tests.actor.fake_platform import DATASET, KVS, TOKEN, FakePlatform


@pytest.fixture
def home(fake: FakePlatform, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setattr(house, "FIRST_PAUSE_SECS", 0.001)
    client = ApifyClientAsync(token=TOKEN, api_url=f"http://127.0.0.1:{fake.port}", max_retries=0)
    return House(client, fake.run_id, DATASET, KVS)


async def test_records_are_stored_as_written(fake: FakePlatform, home: House) -> None:
    store = PlatformRecordStore(home)
    await store.write("REPORT", b'{"a": "\xc3\xa9"}', "application/json; charset=utf-8")
    await store.write("REPORT.html", b"<!doctype html>", "text/html; charset=utf-8")
    assert json.loads(fake.records["REPORT"][0]) == {"a": "é"}
    assert fake.records["REPORT"][1].startswith("application/json")
    assert fake.records["REPORT.html"] == (b"<!doctype html>", "text/html; charset=utf-8")


async def test_state_lives_in_the_named_store_byte_for_byte(fake: FakePlatform, home: House) -> None:
    store = PlatformStateStore("shop", home)
    assert await store.read("head") is None
    body = bytes(range(256)) * 100
    await store.write("head", body)
    await store.write("shard-1", b"")
    assert await store.read("head") == body
    assert await store.read("shard-1") == b""
    again = PlatformStateStore("shop", home)
    assert await again.read("head") == body
    assert await PlatformStateStore("other", home).read("head") is None
    names = {one.name for (kind, _), one in fake.stores.items() if kind == "key-value-stores"}
    assert names == {None, "sitemap-monitor-shop-state", "sitemap-monitor-other-state"}
    await store.delete("head")
    assert await store.read("head") is None


async def test_keys_are_listed_page_by_page(fake: FakePlatform, home: House) -> None:
    store = PlatformStateStore("shop", home)
    await store.write("a-1", b"")
    found = next(one for one in fake.stores.values() if one.name)
    found.records |= {f"a-{number:05d}": (b"", "") for number in range(2_500)} | {"b": (b"", "")}
    assert len(await store.keys("a-")) == 2_501
    assert await store.keys("b") == ["b"]
    assert await store.keys("c") == []


@pytest.mark.parametrize("status", [403, 500])
async def test_an_error_is_never_taken_for_absence(fake: FakePlatform, home: House, status: int) -> None:
    store = PlatformStateStore("shop", home)
    await store.write("head", b"x")
    fake.fail("GET", r"/records/head", status=status, times=99)
    with pytest.raises(PlatformError):
        await store.read("head")


async def test_a_lost_answer_does_no_harm(fake: FakePlatform, home: House) -> None:
    store = PlatformStateStore("shop", home)
    for method in ("POST", "GET", "PUT", "DELETE"):
        fake.fail(method, "key-value-stores", "lost")
    await store.write("head", b"x")
    assert await store.read("head") == b"x"
    await store.delete("head")
    assert await store.read("head") is None


async def test_whether_a_run_has_ended_is_known_or_not(fake: FakePlatform, home: House) -> None:
    store = PlatformStateStore("shop", home)
    fake.statuses |= {"one": "SUCCEEDED", "two": "ABORTED", "three": "RUNNING", "four": "TIMED-OUT", "five": "ABORTING"}
    ended = {name: await store.has_ended(name) for name in ("one", "two", "three", "four", "five", "nobody")}
    assert ended == {"one": True, "two": True, "three": False, "four": True, "five": False, "nobody": None}
    fake.fail("GET", "/actor-runs/one$", status=403, times=99)
    assert await store.has_ended("one") is None


async def test_rows_of_another_run_or_that_its_dataset_is_gone(fake: FakePlatform, home: House) -> None:
    store = PlatformStateStore("shop", home)
    fake.items.extend({"url": str(number)} for number in range(5))
    assert await store.rows_of(DATASET, 3, 10) == [{"url": "3"}, {"url": "4"}]
    assert await store.rows_of(DATASET, 5, 10) == []
    assert await store.rows_of("gone", 0, 10) is None
    assert store.identity() == (fake.run_id, DATASET)
