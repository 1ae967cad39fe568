"""URLs as sitemaps and inputs give them: what is one, what its canonical form is, what host it belongs to.

Two URLs are the same page when they agree after lower-casing scheme and host and dropping a default port and the
fragment; nothing else is touched (no dot segments, no percent-encoding), because a sitemap's text is data and guessing
changes it. `parts` holds the reading of one URL (spec 5, 6), `judge` that of whole columns, `entry` that of the input.
"""

from sitemap_actor.core.urls.entry import Entry, parse_entry
from sitemap_actor.core.urls.judge import Judged, UrlJudge, group_by_host
from sitemap_actor.core.urls.parts import (
    INVISIBLE,
    LONG_URL,
    LONGEST_URL,
    Parts,
    UrlError,
    canonical,
    escaped,
    host_key,
    percent_encoded,
    read,
    redacted,
    requestable,
    resolve,
    site_of,
)

__all__ = [
    "INVISIBLE",
    "LONGEST_URL",
    "LONG_URL",
    "Entry",
    "Judged",
    "Parts",
    "UrlError",
    "UrlJudge",
    "canonical",
    "escaped",
    "group_by_host",
    "host_key",
    "parse_entry",
    "percent_encoded",
    "read",
    "redacted",
    "requestable",
    "resolve",
    "site_of",
]
