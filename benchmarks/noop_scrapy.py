"""Scrapy that asks for one page and does nothing with it: `python -m benchmarks.noop_scrapy URL`."""

import sys

import scrapy
from scrapy.crawler import CrawlerProcess


class Noop(scrapy.Spider):
    name = "noop"
    start_urls = sys.argv[1:]

    def parse(self, response: scrapy.http.Response) -> None:
        pass


process = CrawlerProcess({"LOG_LEVEL": "INFO", "TELNETCONSOLE_ENABLED": False})
process.crawl(Noop)
process.start()
