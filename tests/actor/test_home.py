"""The Actor at home: input, rows, charges, records, messages, exit codes."""

from pathlib import Path

from tests.actor.fake_platform import FakePlatform
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
