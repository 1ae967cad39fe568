"""The pure core: bytes and values in, values out; no Scrapy, Apify, sockets, clock or logger."""
