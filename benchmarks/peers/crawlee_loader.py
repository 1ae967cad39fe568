"""crawlee for Python: SitemapRequestLoader, its public loader; the requests carry no lastmod, and it polls every 0.1 s."""

import asyncio
import json

from common import OUT, SITEMAP, begin, end
from crawlee.http_clients import ImpitHttpClient
from crawlee.request_loaders import SitemapRequestLoader


async def main() -> int:
    count = 0
    async with SitemapRequestLoader(sitemap_urls=[SITEMAP], http_client=ImpitHttpClient()) as loader:
        with open(OUT, "w") as file:
            while not await loader.is_finished():
                request = await loader.fetch_next_request()
                if request is None:
                    await asyncio.sleep(0)
                    continue
                file.write(json.dumps({"url": request.url, "lastmod": None}) + "\n")
                count += 1
                await loader.mark_request_as_handled(request)
    return count


begin()
end(asyncio.run(main()), 0)
