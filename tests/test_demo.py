"""The demo site, and the two commands that a newcomer types: they must show something of everything within seconds."""

import asyncio
import gzip
import json
import sys
from pathlib import Path

import aiohttp

from sitemap_actor.demo import site
from sitemap_actor.demo.server import DemoServer

ROOT = Path(__file__).parents[1]
BASES = {name: f"http://{address}" for name, address in site.ADDRESSES.items()}


def listed(path: str, day: int, host: str = "kitchen") -> list[str]:
    """The entries of one of the site's XML files, as lines."""
    body = site.answers(BASES, day)[host][path].body
    return [line for line in body.decode().splitlines() if line.startswith("<url>")]


def test_the_second_day_has_two_pages_more_one_less_and_two_changed() -> None:
    before, after = ({line.split("</loc>")[0]: line for line in listed("/sitemaps/shop.xml", day)} for day in site.DAYS)
    gone, come = set(before) - set(after), set(after) - set(before)
    assert [len(gone), len(come)] == [1, 2]
    changed = {
        page
        for page in set(before) & set(after)
        if before[page].split("<changefreq>")[0] != after[page].split("<changefreq>")[0]
    }
    assert {page.rpartition("/")[2] for page in changed} == {"ladle", "whisk"}


def test_everything_else_of_the_kitchen_stays_the_same() -> None:
    first, second = (site.answers(BASES, day)["kitchen"] for day in site.DAYS)
    assert {path for path in first if first[path] != second[path]} == {"/sitemaps/shop.xml"}


def test_the_gzip_file_is_one() -> None:
    packed = site.answers(BASES, 1)["kitchen"]["/sitemaps/recipes-1.xml.gz"].body
    assert gzip.decompress(packed).count(b"<url>") == 12


def test_one_file_is_broken_off() -> None:
    assert not site.answers(BASES, 1)["garden"]["/beds.xml"].body.endswith(b"</urlset>\n")


async def test_the_server_serves_every_host_and_turns_the_day() -> None:
    async with DemoServer() as demo, aiohttp.ClientSession() as session:
        assert len(set(demo.bases.values())) == len(site.ADDRESSES)

        async def get(url: str) -> tuple[int, str]:
            async with session.get(url) as response:
                return response.status, await response.text()

        assert (await get(f"{demo.bases['garden']}/robots.txt"))[0] == 404
        assert (await get(f"{demo.bases['members']}/sitemap.xml"))[0] == 403
        assert "Crawl-delay: 0.5" in (await get(f"{demo.bases['news']}/robots.txt"))[1]
        shop = f"{demo.bases['kitchen']}/sitemaps/shop.xml"
        assert "colander" in (await get(shop))[1]
        demo.day = 2
        assert "colander" not in (await get(shop))[1]
        assert demo.requests[-1] == ("kitchen", "/sitemaps/shop.xml")


async def command(*arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "sitemap_actor.demo", *arguments, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await asyncio.wait_for(process.communicate(), 180)
    assert process.returncode == 0, printed.decode()
    return printed.decode()


async def test_make_run_shows_rows_a_report_and_what_was_skipped(tmp_path: Path) -> None:
    printed = await command("run", "--out", str(tmp_path))
    rows = [json.loads(line) for line in (tmp_path / "urls.jsonl").read_text(encoding="utf-8").splitlines()]
    report = json.loads((tmp_path / "records" / "REPORT.json").read_text(encoding="utf-8"))
    skipped = json.loads((tmp_path / "records" / "SKIPPED.json").read_text(encoding="utf-8"))
    counts = report["counts"]

    assert len(rows) == counts["saved"]
    assert f"{len(rows)} rows" in printed
    assert report["message"] in printed
    for name in ("REPORT.json", "SKIPPED.json", "REPORT.html"):
        assert str(tmp_path / "records" / name) in printed
        assert (tmp_path / "records" / name).is_file()
    assert [entry["status"] for entry in report["sites"]] == ["ok", "partial", "failed", "partial"]
    assert {(entry["stage"], entry["reason"]) for entry in skipped} == {
        ("url", "robots_txt_disallowed"),
        ("url", "unsupported_scheme"),
        ("sitemap", "robots_txt_disallowed"),
        ("sitemap", "access_denied"),
        ("sitemap", "malformed"),
    }
    assert {row["lastmod"] is None for row in rows} == {True, False}
    # 24 recipes, 14 products, 2 undated pages, 1 at the partner's; 9 articles; 9 plants, the garden itself, 4 beds.
    assert len(rows) == 24 + 14 + 3 + 9 + 9 + 1 + 4
    # The feed repeats 8 of the articles; two pages are disallowed, one address is not on the web.
    assert (counts["duplicates"], counts["disallowed"], counts["invalid"]) == (8, 2, 1)


async def test_make_monitor_shows_what_changed_on_the_second_day(tmp_path: Path) -> None:
    printed = await command("monitor", "--out", str(tmp_path))
    assert "== Day 1" in printed
    first, second = printed.split("== Day 2")
    assert "baseline" in first
    rows = [json.loads(line) for line in (tmp_path / "urls.jsonl").read_text(encoding="utf-8").splitlines()]
    kitchen = [(row["changeType"], row["url"].rpartition("/")[2]) for row in rows if "/shop/" in row["url"]]
    assert sorted(kitchen) == [
        ("modified", "ladle"),
        ("modified", "whisk"),
        ("new", "egg-timer"),
        ("new", "tea-strainer"),
        ("removed", "colander"),
    ]
    assert all(kind in second for kind in ("new", "modified", "removed"))
    # The garden's plant is missing too, but a broken file holds the removals of its site.
    assert [row for row in rows if "/plants/" in row["url"]] == []
