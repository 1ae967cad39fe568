"""Real crawls inside the test's own event loop: the spider with the project's settings, rows through a real feed."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.settings import Settings

from sitemap_actor.run import Run
from sitemap_actor.spiders.sitemap import SitemapSpider
from tests.spider.server import Reply, Site

URLSET = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>'
INDEX = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</sitemapindex>'
XML = {"Content-Type": "application/xml"}
ROOT = Path(__file__).parents[2]


@dataclass
class Crawled:
    """What a crawl left."""

    rows: list[dict[str, Any]]
    records: Path
    run: Run
    crawler: Crawler

    def record(self, name: str) -> Any:
        return json.loads((self.records / f"{name}.json").read_text())

    @property
    def report(self) -> dict[str, Any]:
        return self.record("REPORT")

    @property
    def skipped(self) -> list[dict[str, Any]]:
        return self.record("SKIPPED")

    @property
    def urls(self) -> list[str]:
        return [row["url"] for row in self.rows]

    def skips(self, **wanted: str) -> list[dict[str, Any]]:
        return [skip for skip in self.skipped if all(skip[name] == value for name, value in wanted.items())]

    def file(self, url: str) -> dict[str, Any]:
        """The entry of one sitemap file in REPORT."""
        return next(file for site in self.report["sites"] for file in site["sitemaps"] if file["url"] == url)

    @property
    def site(self) -> dict[str, Any]:
        (site,) = self.report["sites"]
        return site


def assert_adds_up(report: dict[str, Any]) -> None:
    """Spec section 3: whatever was listed became one thing or another."""
    counts = report["counts"]
    if report["settings"]["mode"] == "extract":
        parts = ("saved", "savedBefore", "duplicates", "filteredOlder", "filteredUndated", "filteredByPattern")
        parts += ("disallowed", "skipped", "invalid", "notSaved")
    else:
        parts = ("duplicates", "filteredOlder", "filteredUndated", "filteredByPattern", "invalid", "skipped")
        parts += ("saved", "unchanged", "rememberedSilently", "held", "deferred")
    assert counts["listed"] == sum(counts[part] for part in parts), counts


async def crawl(folder: Path, settings: dict[str, Any] | None = None, **given: Any) -> Crawled:
    """Crawl with the input `given`; loopback addresses are allowed and the gap is nought unless `settings` say else."""
    feed = folder / "rows.jsonl"
    feed.unlink(missing_ok=True)
    merged = Settings()
    merged.setmodule("sitemap_actor.settings")
    merged.setdict(
        {
            "TWISTED_REACTOR_ENABLED": False,
            "SITEMAP_ALLOW_PRIVATE_ADDRESSES": True,
            "SITEMAP_STORAGE_DIR": str(folder / "storage"),
            "SITEMAP_MIN_GAP_SECS": 0,
            "FEEDS": {feed: {"format": "jsonlines"}},
            "LOG_ENABLED": False,
        }
        | (settings or {}),
        priority="cmdline",
    )
    runner = AsyncCrawlerRunner(merged)
    crawler = runner.create_crawler(SitemapSpider)
    await runner.crawl(crawler, **given)
    lines = feed.read_text().splitlines() if feed.exists() else []
    run = crawler.spider.run
    crawled = Crawled([json.loads(line) for line in lines], folder / "storage" / "records", run, crawler)
    assert_adds_up(crawled.report)
    return crawled


@dataclass
class Ran:
    """What `scrapy crawl` left."""

    code: int
    said: str
    folder: Path

    def record(self, name: str) -> Any:
        return json.loads((self.folder / "records" / f"{name}.json").read_text())


def scrapy_crawl(folder: Path, given: dict[str, str], *options: str) -> Ran:
    """Run `scrapy crawl sitemap` with these arguments, records in `folder`, loopback allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    arguments = [part for name, value in given.items() for part in ("-a", f"{name}={value}")]
    environment = {
        **os.environ,
        "SITEMAP_STORAGE_DIR": str(folder),
        "SITEMAP_ALLOW_PRIVATE_ADDRESSES": "1",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", "sitemap", *arguments, *options],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout + done.stderr, folder)


def serve(site: Site, path: str, *locs: str, lastmod: str | None = None, **reply: Any) -> None:
    """Let `site` serve a urlset of `locs` (paths or URLs) at `path`."""
    dated = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    entries = "".join(f"<url><loc>{_absolute(site, loc)}</loc>{dated}</url>" for loc in locs)
    site.routes[path] = Reply(body=URLSET.format(entries), headers=XML, **reply)


def serve_index(site: Site, path: str, *locs: str) -> None:
    """Let `site` serve a sitemap index of `locs` at `path`."""
    entries = "".join(f"<sitemap><loc>{_absolute(site, loc)}</loc></sitemap>" for loc in locs)
    site.routes[path] = Reply(body=INDEX.format(entries), headers=XML)


def serve_robots(site: Site, *lines: str) -> None:
    """Let `site` serve a robots.txt of these lines."""
    site.routes["/robots.txt"] = Reply(body="\n".join(lines) + "\n", headers={"Content-Type": "text/plain"})


def _absolute(site: Site, loc: str) -> str:
    return site.origin + loc if loc.startswith("/") and not loc.startswith("//") else loc


QUICK = {"SITEMAP_RETRY_DELAY_FACTOR": 0}
"""Settings: retries without their delay."""


def urlset(*locs: str) -> str:
    """A urlset in the ordinary spelling; the locs are put in as they stand."""
    return '<?xml version="1.0" encoding="UTF-8"?>' + URLSET.format(
        "".join(f"<url><loc>{loc}</loc></url>" for loc in locs)
    )


def publish(site: Site, answers: dict[str, Any]) -> None:
    """Let robots.txt of `site` name a sitemap for each path in `answers`, and serve them."""
    site.routes.update(answers)
    serve_robots(site, *(f"Sitemap: {site.origin}{path}" for path in answers))


def told(crawled: Crawled, url: str) -> tuple[str, str | None]:
    """Status and reason of one file in REPORT."""
    file = crawled.file(url)
    return file["status"], file["reason"]
