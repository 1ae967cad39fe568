"""crawlee for Python: robots.txt by RobotsTxtFile, then its streaming parse_sitemap."""

import asyncio
import json

from common import OUT, ROBOTS, begin, end
from crawlee._utils.robots import RobotsTxtFile
from crawlee._utils.sitemap import parse_sitemap
from crawlee.http_clients import ImpitHttpClient


async def main() -> tuple[int, int]:
    count = dated = 0
    client = ImpitHttpClient()
    robots = await RobotsTxtFile.load(ROBOTS, client)
    sources = [{"type": "url", "url": url} for url in robots.get_sitemaps(enqueue_strategy="all")]
    with open(OUT, "w") as file:
        async for entry in parse_sitemap(sources, client):
            lastmod = entry.lastmod.isoformat() if entry.lastmod else None
            file.write(json.dumps({"url": entry.loc, "lastmod": lastmod}) + "\n")
            count += 1
            dated += lastmod is not None
    return count, dated


begin()
end(*asyncio.run(main()))
