"""Actor processes for tests: started, watched, ended, and what they left."""

import asyncio
import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.actor.fake_platform import TOKEN, FakePlatform
from tests.spider.helpers import XML, assert_adds_up
from tests.spider.server import Reply, Site

ROOT = Path(__file__).parents[2]
PRICES = {"url": 0.0002, "change": 0.002, "apify-actor-start": 0.00005, "apify-default-dataset-item": 0.0}


def environment(**more: str) -> dict[str, str]:
    """The test's environment without what belongs to an Actor, private addresses allowed."""
    env = {name: value for name, value in os.environ.items() if not re.match(r"(APIFY|ACTOR|CRAWLEE|SITEMAP)_", name)}
    return env | {"SITEMAP_ALLOW_PRIVATE_ADDRESSES": "1", "PYTHONPATH": str(ROOT)} | more


@dataclass
class Ended:
    code: int
    log: str
    cpu_secs: float = 0.0


async def run_real(folder: Path, env: dict[str, str], timeout: float = 60) -> Ended:
    """`python -m sitemap_actor`, in full."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "sitemap_actor", cwd=folder, env=env,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        out, _ = await asyncio.wait_for(process.communicate(), timeout)
    finally:
        if process.returncode is None:
            process.kill()
    return Ended(process.returncode or 0, out.decode())


class Starter:
    """Starts Actor processes through the zygote at `path`."""

    def __init__(self, path: str) -> None:
        self._path = path

    async def start(self, folder: Path, env: dict[str, str], gap: float = 0.0) -> "Life":
        folder.mkdir(exist_ok=True, parents=True)
        reader, writer = await asyncio.open_unix_connection(self._path)
        log = folder / "log.txt"
        order = {"env": env, "cwd": str(folder), "log": str(log), "gap": gap}
        writer.write(json.dumps(order).encode() + b"\n")
        word, pid = (await reader.readline()).split()
        assert word == b"pid"
        return Life(int(pid), log, reader, writer)

    async def run(self, folder: Path, env: dict[str, str], gap: float = 0.0, timeout: float = 60) -> Ended:
        return await (await self.start(folder, env, gap)).end(timeout)

    async def at_home(self, folder: Path, fake: FakePlatform, timeout: float = 60, **more: Any) -> Ended:
        """One life of a run on the platform, however it ends."""
        life = await self.live(folder, fake, **more)
        return await life.end(timeout)

    async def live(self, folder: Path, fake: FakePlatform, **more: Any) -> "Life":
        fake.killed.clear()
        life = await self.start(folder, environment(**fake.env()), **more)
        fake.pid = life.pid
        return life


@dataclass
class Life:
    pid: int
    log: Path
    _reader: asyncio.StreamReader
    _writer: asyncio.StreamWriter

    async def end(self, timeout: float = 60) -> Ended:
        try:
            line = await asyncio.wait_for(self._reader.readline(), timeout)
        except TimeoutError:
            os.kill(self.pid, 9)
            raise AssertionError(f"the Actor did not end:\n{self.log.read_text()}") from None
        self._writer.close()
        _, code, cpu = line.split()
        return Ended(int(code), self.log.read_text(), float(cpu))


def pages(site: Site, count: int, start: int = 0) -> list[str]:
    return [f"{site.url}page-{number:06d}" for number in range(start, start + count)]


def serve(site: Site, path: str, urls: list[str], lastmod: str = "2026-11-01") -> None:
    entries = "".join(f"<url><loc>{url}</loc><lastmod>{lastmod}</lastmod></url>" for url in urls)
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    site.routes[path] = Reply(body=body, headers=XML)


def assert_whole(fake: FakePlatform, urls: list[str], *, charged: bool = True) -> None:
    """Every page is in the dataset once, and charged once."""
    saved = [row["url"] for row in fake.items]
    assert sorted(saved) == sorted(urls), (len(saved), len(set(saved)), len(urls))
    if charged:
        assert fake.charged == {"url": len(urls)}, fake.charges


def assert_report(fake: FakePlatform) -> dict[str, Any]:
    """REPORT adds up, by itself and with the dataset."""
    report = fake.record("REPORT")
    assert_adds_up(report)
    counts = report["counts"]
    assert counts["saved"] + counts["savedBefore"] + counts["removed"] == len(fake.items), counts
    return report


def assert_no_secret(fake: FakePlatform, *texts: str) -> None:
    for text in texts:
        assert TOKEN not in text
    for store in fake.stores.values():
        assert TOKEN not in json.dumps(store.items)
        for body, _ in store.records.values():
            assert TOKEN.encode() not in body
