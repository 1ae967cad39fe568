"""Redirects: at most five for a file, each one a new request through every check (spec section 5)."""

from scrapy import Request
from scrapy.http import Response

from sitemap_actor.core import urls
from sitemap_actor.core.conduct import MAX_REDIRECTS
from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.download.errors import Refusal
from sitemap_actor.download.response import SpooledResponse

_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class RedirectsMiddleware:
    """Turns a redirect into the next request, or into the reason why it is not followed."""

    async def process_response(self, request: Request, response: Response) -> Response | Request:
        """Follow; an answer without an address stays what it is."""
        location = response.headers.get("Location")
        if response.status not in _REDIRECTS or not location or not location.strip():
            return response
        if isinstance(response, SpooledResponse):
            response.close()
        request.meta["asked"] = True
        times = request.meta.get("redirects", 0) + 1
        if times > MAX_REDIRECTS:
            raise Refusal(SkipReason.TOO_MANY_REDIRECTS, f"more than {MAX_REDIRECTS} redirects")
        target = self._target(request, response, location.decode("utf-8", "replace").strip())
        meta = {name: value for name, value in request.meta.items() if name in {"purpose", "host", "reading", "file"}}
        meta |= {"redirects": times, "asked": True, "address": target}
        return Request(urls.requestable(target), request.callback, errback=request.errback, meta=meta, dont_filter=True)

    @staticmethod
    def _target(request: Request, response: Response, location: str) -> str:
        """The absolute address that the redirect names, or the reason why it is none of ours."""
        robots = request.meta["purpose"] == "robots"
        target = response.urljoin(location).partition("#")[0]
        try:
            parts = urls.read(target)
        except urls.UrlError as error:
            reason = SkipReason.ROBOTS_TXT_REDIRECT if robots else SkipReason.INVALID_URL
            raise Refusal(reason, f"redirects to an address that cannot be used: {error.detail}") from None
        if robots and parts.site != request.meta["host"] and parts.rest.partition("?")[0] != "/robots.txt":
            raise Refusal(SkipReason.ROBOTS_TXT_REDIRECT, "to something that is not a robots.txt, on another host")
        return target
