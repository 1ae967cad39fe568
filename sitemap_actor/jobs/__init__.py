"""Records and state as files: plain Scrapy, scrapyd, Scrapy Cloud."""
