"""What differs by mode, in one table (spec section 5), and the limits that hold in both.

`Mode` is read here and in `job.py` alone; every component takes its numbers from `Job.conduct`.
"""

from dataclasses import dataclass
from enum import StrEnum

PRODUCT_TOKEN = "SitemapUrlExtractor"  # noqa: S105 - the robots.txt product token, no secret
USER_AGENT = f"{PRODUCT_TOKEN}/0.1 (Apify Actor sitemap-url-extractor; reads robots.txt first)"

MAX_FILE_BYTES = 52_428_800
MAX_ROBOTS_BYTES = 512_000
MAX_HTML_BYTES = 65_536
MAX_REDIRECTS = 5
MAX_OTHER_HOSTS = 25
MAX_CRAWL_DELAY_SECS = 60.0
WHOLE_FILE_TIMEOUTS = 4
"""The whole of a file may take this many times `requestTimeoutSecs`."""

RETRY_STATUSES = frozenset({500, 502, 503, 504})

COMMON_PATHS = (
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap-index.xml",
    "/sitemap.xml.gz",
    "/wp-sitemap.xml",
    "/sitemap.txt",
)


class Mode(StrEnum):
    """The two jobs of the product."""

    EXTRACT = "extract"
    MONITOR = "monitor"


@dataclass(frozen=True, slots=True)
class Conduct:
    """One column of the table.

    `retry_delays_secs` has one delay for each retry of a 500, 502, 503, 504, time-out or network error.
    `rate_limit_retries` is how often a 429 is asked again, if its Retry-After is at most `max_retry_after_secs`
    (`default_retry_after_secs` where it is absent or unreadable). `sitemap_cap_per_site`: `maxSitemaps` counts per site,
    not per run. `remembers`: the run compares with what it remembers; a refused page is then remembered silently.
    """

    sites_at_once: int
    gap_secs: float
    retry_delays_secs: tuple[float, ...]
    rate_limit_retries: int
    sitemap_cap_per_site: bool
    default_max_sitemaps: int
    default_max_urls_per_site: int | None
    remembers: bool
    max_retry_after_secs: float = 60.0
    default_retry_after_secs: float = 8.0


CONDUCT = {
    Mode.EXTRACT: Conduct(
        sites_at_once=5,
        gap_secs=0.25,
        retry_delays_secs=(2.0,),
        rate_limit_retries=0,
        sitemap_cap_per_site=False,
        default_max_sitemaps=200,
        default_max_urls_per_site=None,
        remembers=False,
    ),
    Mode.MONITOR: Conduct(
        sites_at_once=4,
        gap_secs=1.0,
        retry_delays_secs=(2.0, 8.0),
        rate_limit_retries=1,
        sitemap_cap_per_site=True,
        default_max_sitemaps=500,
        default_max_urls_per_site=10_000,
        remembers=True,
    ),
}
