"""Stock Scrapy: SitemapSpider whose sitemap_filter() writes the rows itself: no items, no pipelines, nothing checked."""

import json
from typing import TextIO

from common import OUT, ROBOTS, begin, end
from scrapy.crawler import CrawlerProcess
from scrapy.spiders import SitemapSpider

counted = [0, 0]


class Filter(SitemapSpider):
    name = "filter"
    sitemap_urls = (ROBOTS,)
    rows: TextIO

    def sitemap_filter(self, entries):  # type: ignore[no-untyped-def]
        if entries.type == "sitemapindex":
            yield from entries
            return
        for entry in entries:
            lastmod = entry.get("lastmod")
            self.rows.write(json.dumps({"url": entry["loc"], "lastmod": lastmod}) + "\n")
            counted[0] += 1
            counted[1] += lastmod is not None


begin()
process = CrawlerProcess(
    {
        "LOG_FILE": f"{OUT}.log",
        "LOG_LEVEL": "INFO",
        "TELNETCONSOLE_ENABLED": False,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    }
)
with open(OUT, "w") as Filter.rows:
    process.crawl(Filter)
    process.start()
end(*counted)
