"""Monitor mode on one site of many pages in ten files: what each kind of run costs, start-up included.

    python -m benchmarks.monitor [--size 500000]

first      nothing is remembered: every page is a baseline row
full       nothing changed, every file read in full
unchanged  nothing changed, every file answered 304
changed    one page in a hundred is gone, one is new, one has another lastmod

For each: CPU seconds of the whole process, microseconds a page, peak memory. `parse` is what pyexpat with empty handlers takes
for the same bytes; the spec asks for at most ten times that in extract mode, start-up apart.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from benchmarks import measure
from benchmarks.workloads import Page, origin, pages, robots_txt, urlset

FILES = 10
LETTER = "a"
PORT = 8831
ROOT = Path(__file__).parents[1]


def _day(number: int, listed: Iterator[Page]) -> Iterator[Page]:
    """The pages as they are on a day: on the second, one in a hundred each is gone, new, or changed."""
    for place, page in enumerate(listed):
        if number == 2 and place % 100 == 7:
            yield Page(page.loc.replace("-", "-new-", 1), page.lastmod, page.changefreq, page.priority)
        elif number == 2 and place % 100 == 53:
            later = f"2026-11-{1 + place % 28:02}T{place % 24:02}:{place % 60:02}:00+00:00"
            yield Page(page.loc, later, page.changefreq, page.priority)
        else:
            yield page


def write_day(folder: Path, number: int, size: int) -> None:
    """The site's files on a day, each a moment newer than before."""
    base = origin(LETTER, PORT)
    folder.mkdir(parents=True, exist_ok=True)
    for file in range(FILES):
        listed = pages(base, file, file * size // FILES, size // FILES)
        (folder / f"part-{file}.xml").write_bytes(urlset(_day(number, listed)))
    entries = "".join(f"<sitemap><loc>{base}/part-{file}.xml</loc></sitemap>" for file in range(FILES))
    index = f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</sitemapindex>'
    (folder / "index.xml").write_text(index)
    (folder / "robots.txt").write_bytes(robots_txt(f"{base}/index.xml"))


def touch(folder: Path, seconds: int) -> None:
    """Make every file `seconds` newer: it is the same, but its Last-Modified is not."""
    for file in folder.iterdir():
        when = file.stat().st_mtime + seconds
        os.utime(file, (when, when))


def parse_secs(folder: Path) -> float:
    """CPU seconds that pyexpat with empty handlers takes for all files."""
    started = time.process_time()
    for file in sorted(folder.glob("part-*.xml")):
        parser = expat.ParserCreate()
        parser.StartElementHandler = lambda name, attributes: None
        parser.EndElementHandler = lambda name: None
        parser.CharacterDataHandler = lambda text: None
        parser.buffer_text = True
        parser.Parse(file.read_bytes(), True)
    return time.process_time() - started


def run(name: str, storage: Path, size: int) -> None:
    """One run of the spider, measured from outside."""
    feed = storage / f"{name}.jsonl"
    command = [sys.executable, "-m", "scrapy", "crawl", "sitemap", "-O", str(feed), "-a", "mode=monitor"]
    command += ["-a", f"sites={origin(LETTER, PORT)}", "-a", "maxUrlsPerSite=500000", "-a", "maxChanges=20000"]
    for setting in ("SITEMAP_MIN_GAP_SECS=0", "SITEMAP_LEASE_WAIT_SECS=0", "LOG_LEVEL=WARNING"):
        command += ["-s", setting]
    env = os.environ | {"SITEMAP_STORAGE_DIR": str(storage), "SITEMAP_ALLOW_PRIVATE_ADDRESSES": "1"}
    result = measure.run(command, cwd=ROOT, env=env, seconds=1_200)
    rows = sum(1 for _line in feed.open()) if feed.exists() else 0
    state = sum(file.stat().st_size for file in (storage / "state").rglob("*") if file.is_file())
    print(
        f"{name:<10} code {result.code}  {rows:>7,} rows  {result.cpu:7.1f} s CPU  {result.cpu / size * 1e6:6.1f} us a page"
        f"  {result.peak_mb:6.0f} MB peak  {result.wall:6.1f} s wall  {state / 1e6:5.1f} MB state  {result.error}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=500_000)
    size = parser.parse_args().size
    with tempfile.TemporaryDirectory() as folder:
        site, storage = Path(folder) / "web" / LETTER, Path(folder) / "storage"
        write_day(site, 1, size)
        storage.mkdir()
        parse = parse_secs(site)
        print(f"parse      {parse:.2f} s CPU, {parse / size * 1e6:.2f} us a page", flush=True)
        server = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.web", str(site.parent), str(PORT), "3600"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
        )
        try:
            assert server.stdout is not None
            server.stdout.readline()
            run("first", storage, size)
            touch(site, 60)
            run("full", storage, size)
            run("unchanged", storage, size)
            write_day(site, 2, size)
            touch(site, 120)
            run("changed", storage, size)
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    main()
