"""Scrapy settings. Every value that differs from Scrapy's default has its reason beside it.

The settings named SITEMAP_* are the project's own:

SITEMAP_STORAGE_DIR              where records and state go outside the Actor (environment or setting)
SITEMAP_ALLOW_PRIVATE_ADDRESSES  lets private and local addresses be read; for the operator, never an input
SITEMAP_SINK                     class that saves and charges rows; empty: the rows leave by Scrapy's feeds
SITEMAP_RECORD_STORE             class that keeps REPORT, SKIPPED and the other records
SITEMAP_STATE_STORE              class that keeps monitor mode's memory
SITEMAP_REMEMBERING              components that only a run that remembers has
SITEMAP_LEASE_WAIT_SECS          seconds between claiming the state and looking whether another run did so too
SITEMAP_ROWS_AS_ITEMS            each row leaves as an item of its own too (item stores that know no batches)
SITEMAP_MIN_GAP_SECS             benchmarks and tests only: another least gap between requests to a host
SITEMAP_RETRY_DELAY_FACTOR       tests only: multiplies the delays before a retry
"""

import os

from sitemap_actor.core.conduct import USER_AGENT as _USER_AGENT

BOT_NAME = "sitemap_actor"
SPIDER_MODULES = ["sitemap_actor.spiders"]
NEWSPIDER_MODULE = "sitemap_actor.spiders"

SITEMAP_STORAGE_DIR = os.environ.get("SITEMAP_STORAGE_DIR", ".scrapy/sitemap")
SITEMAP_ALLOW_PRIVATE_ADDRESSES = os.environ.get("SITEMAP_ALLOW_PRIVATE_ADDRESSES", "") == "1"
SITEMAP_SINK = ""
SITEMAP_RECORD_STORE = "sitemap_actor.jobs.files.FileRecordStore"
SITEMAP_STATE_STORE = "sitemap_actor.jobs.files.FileStateStore"
SITEMAP_LEASE_WAIT_SECS = 2.0
SITEMAP_ROWS_AS_ITEMS = "SHUB_JOBKEY" in os.environ  # Scrapy Cloud's item store counts and shows items
SITEMAP_MIN_GAP_SECS = None
SITEMAP_RETRY_DELAY_FACTOR = 1.0

# --- conduct

USER_AGENT = _USER_AGENT
ROBOTSTXT_OBEY = False  # our own reading stands in middlewares/host_policy.py: the stock one allows on failure
COOKIES_ENABLED = False
REFERER_ENABLED = False
HTTPPROXY_ENABLED = False  # environment proxies are ignored too
RETRY_ENABLED = False  # middlewares/retries.py knows the table of spec section 5
REDIRECT_ENABLED = False  # middlewares/redirects.py checks every hop
METAREFRESH_ENABLED = False
COMPRESSION_ENABLED = False  # bodies are unpacked while they stream, and Accept-Encoding is ours
DEFAULT_REQUEST_HEADERS = {"Accept": "*/*", "Accept-Encoding": "gzip"}
DOWNLOAD_VERIFY_CERTIFICATES = True
HTTPCACHE_ENABLED = False

# --- sockets

_HANDLER = "sitemap_actor.download.handler.StreamingDownloadHandler"
DOWNLOAD_HANDLERS = {
    "http": _HANDLER,
    "https": _HANDLER,
    # Nothing but http and https is ever asked for.
    "file": None,
    "data": None,
    "ftp": None,
    "s3": None,
}
# Requests wait for their turn in our gate, not in Scrapy's slots, so that a slow host never starves another one.
CONCURRENT_REQUESTS = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 100_000  # 0 hangs here
SCHEDULER_MEMORY_QUEUE = "scrapy.squeues.FifoMemoryQueue"  # files are asked for in the order listed
DOWNLOAD_DELAY = 0
DOWNLOAD_MAXSIZE = 0  # the handler has the limits of spec section 6, before and after unpacking
DOWNLOAD_WARNSIZE = 0

DOWNLOADER_MIDDLEWARES = {
    "sitemap_actor.middlewares.private_address.PrivateAddressMiddleware": 100,
    "sitemap_actor.middlewares.host_policy.HostPolicyMiddleware": 200,
    "sitemap_actor.middlewares.redirects.RedirectsMiddleware": 600,
    "sitemap_actor.middlewares.doors.DoorsMiddleware": 700,
    "sitemap_actor.middlewares.retries.RetriesMiddleware": 800,  # sees the answer before doors ends the request
}
# The stock ones are left out at the base: those that would do what is ours to do, or cost time on every request, would be
# imported even to be switched off (a third of a second, more than a small run takes).
DOWNLOADER_MIDDLEWARES_BASE = {
    "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware": 400,
    "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": 500,
    "scrapy.downloadermiddlewares.stats.DownloaderStats": 850,
}
SPIDER_MIDDLEWARES: dict[str, int] = {}
SPIDER_MIDDLEWARES_BASE: dict[str, int] = {}  # the spider reads every status, and no request of ours has a depth

# --- rows

# One batch at a time per response: the default of 100 would hold up to 300 batches in memory.
CONCURRENT_ITEMS = 1
ITEM_PIPELINES = {
    "sitemap_actor.pipelines.validity.ValidityPipeline": 100,
    "sitemap_actor.pipelines.lastmod.LastmodFilterPipeline": 200,
    "sitemap_actor.pipelines.page_robots.PageRobotsPipeline": 300,
    "sitemap_actor.pipelines.dedup.DedupPipeline": 400,
    "sitemap_actor.pipelines.deliver.DeliverPipeline": 900,
    "sitemap_actor.pipelines.rows_as_items.RowsAsItemsPipeline": 950,
}
FEED_EXPORTERS = {
    "csv": "sitemap_actor.exporters.rows.CsvRowsExporter",
    "json": "sitemap_actor.exporters.rows.JsonRowsExporter",
    "jsonlines": "sitemap_actor.exporters.rows.JsonLinesRowsExporter",
    "jsonl": "sitemap_actor.exporters.rows.JsonLinesRowsExporter",
    "jl": "sitemap_actor.exporters.rows.JsonLinesRowsExporter",
    "xml": "sitemap_actor.exporters.rows.XmlRowsExporter",
    "pickle": "sitemap_actor.exporters.rows.PickleRowsExporter",
    "marshal": "sitemap_actor.exporters.rows.MarshalRowsExporter",
}
FEED_EXPORT_ENCODING = "utf-8"
FEED_STORE_EMPTY = True

# --- the run

EXTENSIONS = {
    "sitemap_actor.extensions.row_stats.RowStats": 0,
    "sitemap_actor.extensions.collector.CollectorExtension": 5,
    "sitemap_actor.extensions.stop.StopExtension": 10,
    "sitemap_actor.extensions.settle.SettleExtension": 20,
    "sitemap_actor.extensions.reporter.ReporterExtension": 30,
    "sitemap_actor.extensions.progress.ProgressExtension": 40,
    "sitemap_actor.extensions.closing.ClosingExtension": 50,
    "sitemap_actor.exporters.feeds.RowFeedExporter": 0,
}
EXTENSIONS_BASE = {  # without those that ours replace, and those that open ports
    "scrapy.extensions.logcount.LogCount": 0,
    "scrapy.extensions.memdebug.MemoryDebugger": 0,
    "scrapy.extensions.closespider.CloseSpider": 0,
    "scrapy.extensions.logstats.LogStats": 0,
    "scrapy.extensions.spiderstate.SpiderState": 0,
}
# What spiders/begin.py adds where the run remembers: no other run need import it.
SITEMAP_REMEMBERING = {
    "ITEM_PIPELINES": {"sitemap_actor.pipelines.changes.ChangesPipeline": 500},
    "EXTENSIONS": {"sitemap_actor.extensions.site_close.SiteCloseExtension": 25},
}
TELNETCONSOLE_ENABLED = False  # a port that runs code has no place in a container
REMOTE_CONTROL_ENABLED = False  # the same
LOG_FORMATTER = "sitemap_actor.extensions.row_stats.QuietLogFormatter"  # a log line per batch says nothing
LOG_LEVEL = "INFO"
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
WARN_ON_GENERATOR_RETURN_VALUE = False  # would read the source of every callback at start-up
