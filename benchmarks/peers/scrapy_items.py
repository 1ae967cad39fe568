"""Stock Scrapy: SitemapSpider that yields an item for each entry into a JSON lines feed."""

from common import OUT, ROBOTS, begin, end
from scrapy.crawler import CrawlerProcess
from scrapy.spiders import SitemapSpider
from scrapy.utils.sitemap import Sitemap


class Items(SitemapSpider):
    name = "items"
    sitemap_urls = (ROBOTS,)

    def _parse_sitemap(self, response):  # type: ignore[no-untyped-def]
        body = None if response.url == ROBOTS else self._get_sitemap_body(response)
        sitemap = Sitemap(body) if body else None
        if sitemap is not None and sitemap.type == "urlset":
            for entry in sitemap:
                yield {"url": entry["loc"], "lastmod": entry.get("lastmod")}
        else:
            yield from super()._parse_sitemap(response)


begin()
process = CrawlerProcess(
    {
        "FEEDS": {OUT: {"format": "jsonlines", "overwrite": True}},
        "LOG_FILE": f"{OUT}.log",
        "LOG_LEVEL": "INFO",
        "TELNETCONSOLE_ENABLED": False,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    }
)
crawler = process.create_crawler(Items)
process.crawl(crawler)
process.start()
end(crawler.stats.get_value("item_scraped_count", 0), -1)
