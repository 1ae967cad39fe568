"""One entry of the input lists `sites` and `sitemapUrls`, as people type them (spec 1, Sites)."""

from dataclasses import dataclass

from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.core.urls.parts import (
    UrlError,
    first_segment,
    lacks_scheme,
    read,
    refuse_invisible,
    refuse_private,
)

_SITEMAP_ENDINGS = (".xml", ".gz", ".txt")


@dataclass(frozen=True, slots=True)
class Entry:
    """One usable entry: `site` is `scheme://host[:port]`; `url` is the site's root, or the direct sitemap's address."""

    site: str
    url: str
    is_sitemap: bool


def parse_entry(text: str, *, allow_private: bool = False, direct: bool = False) -> Entry:
    """Read one entry of `sites` (or, with `direct`, of `sitemapUrls`, where every entry is a sitemap's address).

    https:// is added where no scheme is given. Raises UrlError with the reason for SKIPPED.
    """
    text = text.strip(" \t\r\n\v\f\u00a0")
    if not text:
        raise UrlError(SkipReason.INVALID_URL, "empty")
    refuse_invisible(text)  # before anything else: also in a path that would be ignored
    parts = read(_with_scheme(text))
    if not allow_private:
        refuse_private(parts)
    path = parts.rest.partition("?")[0]
    if direct or path.lower().endswith(_SITEMAP_ENDINGS):
        slash = "" if path else "/"
        return Entry(parts.site, f"{parts.scheme}://{parts.listed_host}{parts.port}{slash}{parts.rest}", True)
    return Entry(parts.site, f"{parts.site}/", False)


def _with_scheme(text: str) -> str:
    """Add https:// to an entry that names no scheme, as people type addresses."""
    if text.startswith("//"):
        return f"https:{text}"
    if lacks_scheme(text):
        return f"https://{text}"
    scheme, _, after = text.partition(":")
    if scheme.lower() != "mailto" and not after.startswith("/") and "@" in first_segment(after):
        raise UrlError(SkipReason.USERINFO, "user name or password in the address")  # "user:password@example.com"
    return text
