"""The Actor at home: input, rows, charges, records, messages, exit codes."""

from pathlib import Path

import pytest

from tests.actor.fake_platform import TOKEN, FakePlatform
from tests.actor.helpers import (
    PRICES,
    Starter,
    assert_no_secret,
    assert_report,
    assert_whole,
    environment,
    pages,
    run_real,
    serve,
)
from tests.actor.test_input import local_input
from tests.spider.server import Site


async def test_a_run_at_home_saves_charges_reports_and_ends_with_0(
    fake: FakePlatform, site: Site, tmp_path: Path
) -> None:
    urls = pages(site, 30)
    serve(site, "/sitemap.xml", urls)
    fake.begin_run(PRICES, 5.0, {"apify-actor-start": 1})
    fake.set_input({"sites": [site.url]})
    ended = await run_real(tmp_path, environment(**fake.env()))
    assert ended.code == 0, ended.log
    assert_whole(fake, urls)
    report = assert_report(fake)
    assert report["charged"] == {"url": 30, "change": 0}
    assert fake.last_message == report["message"] == "Saved 30 URLs of 1 site."
    assert_no_secret(fake, ended.log, *(str(seen.raw_headers) for seen in site.requests))


async def test_the_zygote_runs_the_same(fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter) -> None:
    urls = pages(site, 30)
    serve(site, "/sitemap.xml", urls)
    fake.begin_run(PRICES, 5.0)
    fake.set_input({"sites": [site.url]})
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 0, ended.log
    assert_whole(fake, urls)
    assert_report(fake)


async def test_the_token_is_in_nothing_that_a_local_run_leaves(site: Site, tmp_path: Path, starter: Starter) -> None:
    serve(site, "/sitemap.xml", pages(site, 30))
    local_input(tmp_path, {"sites": [site.url]})
    ended = await starter.run(tmp_path, environment(APIFY_TOKEN=TOKEN, APIFY_LOG_LEVEL="DEBUG"))
    assert ended.code == 0, ended.log
    left = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(left) > 30
    for file in left:
        assert TOKEN.encode() not in file.read_bytes(), file
    assert TOKEN not in str([seen.raw_headers for seen in site.requests])


async def test_the_token_is_in_nothing_that_a_run_at_home_leaves_even_in_trouble(
    fake: FakePlatform, site: Site, tmp_path: Path, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(site, "/sitemap.xml", pages(site, 30))
    fake.begin_run(PRICES, 5.0)
    fake.set_input({"sites": [site.url, "https://user:secret@x.example/"]})
    fake.fail("POST", r"/items$", status=403, times=99)
    fake.fail("PUT", r"/records/SKIPPED$", status=403, times=99)
    env = fake.env()
    monkeypatch.setattr(fake, "env", lambda: env | {"APIFY_LOG_LEVEL": "DEBUG"})
    ended = await starter.at_home(tmp_path, fake)
    assert ended.code == 1
    assert_no_secret(fake, ended.log, str(fake.messages), *(str(seen.raw_headers) for seen in site.requests))
    assert "secret@" not in ended.log
    assert "secret" not in str(fake.record("REPORT"))
