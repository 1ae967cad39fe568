"""An Actor that gets its input and lets Scrapy ask for one page: `python -m benchmarks.noop_actor URL [ROWS]`.

With ROWS, a file of JSON lines, it also pushes them, a thousand at a time, and prints the CPU seconds of that.
"""

import asyncio
import json
import sys
import time
from itertools import islice

import scrapy
from apify import Actor
from scrapy.crawler import AsyncCrawlerRunner

URL, ROWS = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None


class Noop(scrapy.Spider):
    name = "noop"
    start_urls = (URL,)

    def parse(self, response: scrapy.http.Response) -> None:
        pass


async def push(path: str) -> float:
    """Push the rows as they are in the file: their JSON is not made here."""
    from apify_client import ApifyClientAsync
    from apify_client.http_compressors import BrotliHttpCompressor

    config = Actor.configuration
    client = ApifyClientAsync(
        config.token, api_url=config.api_base_url, max_retries=0, compression=BrotliHttpCompressor(quality=1)
    )
    dataset = client.dataset(config.default_dataset_id)
    spent = 0.0
    with open(path) as file:
        while lines := list(islice(file, 1_000)):
            body = f"[{','.join(lines)}]"
            started = time.process_time()
            await dataset.push_items(body)
            spent += time.process_time() - started
    return spent


async def main() -> None:
    async with Actor(exit_process=False):
        await Actor.get_input()
        settings = {"LOG_LEVEL": "INFO", "TELNETCONSOLE_ENABLED": False, "TWISTED_REACTOR_ENABLED": False}
        await AsyncCrawlerRunner(settings).crawl(Noop)
        if ROWS:
            print(json.dumps({"work_cpu": await push(ROWS)}))


asyncio.run(main())
