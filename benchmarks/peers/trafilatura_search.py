"""trafilatura: sitemap_search(), URLs only. It refuses loopback addresses, so its downloader and its look at the host are
replaced here: the figures are those of its reading and filtering.
"""

import gzip
import urllib.request

from common import ORIGIN, begin, end, write
from trafilatura import sitemaps

STAND_IN = "http://www.bench-example.com"


def fetch(url: str, *_args: object, **_options: object) -> str:
    body = urllib.request.urlopen(url.replace(STAND_IN, ORIGIN)).read()
    text = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
    return text.decode().replace(ORIGIN, STAND_IN)


sitemaps.fetch_url = fetch
sitemaps.is_live_page = lambda *_args: True
sitemaps.get_hostinfo = lambda _url: ("bench-example.com", STAND_IN)
begin()
found = sitemaps.sitemap_search(f"{STAND_IN}/", sleep_time=0, external=True)
count, _ = write((url.replace(STAND_IN, ORIGIN), None) for url in found)
end(count, 0, "downloader replaced")
