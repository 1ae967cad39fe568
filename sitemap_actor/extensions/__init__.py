"""Scrapy extensions: counting, stopping, settling sites, writing the records, showing progress."""
