"""The signals of a run, beside Scrapy's own."""

file_read = object()
"""A file was read, or failed: `reading` (SiteReading), `file` (SitemapReport). Its batches may still be on their way."""

site_read = object()
"""A site has no open file left: `reading` (SiteReading). Its batches may still be on their way through the pipelines."""

site_settled = object()
"""A site's report is final: `reading` (SiteReading)."""

site_through = object()
"""A site has no open file left and its batches are through the pipelines: `reading` (SiteReading)."""
