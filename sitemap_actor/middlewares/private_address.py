"""No request to a private or local address, in whatever spelling (spec section 5). Names are judged when they are dialled."""

from typing import Self
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from sitemap_actor.core import addresses
from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.download.errors import Refusal
from sitemap_actor.run import run_of


class PrivateAddressMiddleware:
    """Refuses literal addresses that are not public, and local names, before anything else is asked about the host."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off where the operator allowed private addresses."""
        if run_of(crawler).allow_private:
            raise NotConfigured
        return cls()

    async def process_request(self, request: Request) -> None:
        """Raise `Refusal` for a host that is not public."""
        why = addresses.refusal(urlsplit(request.url).hostname or "")
        if why is not None:
            raise Refusal(SkipReason.PRIVATE_ADDRESS, why)
