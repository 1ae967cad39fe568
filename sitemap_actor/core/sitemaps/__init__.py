"""Reading sitemap files: bytes in, columns of entries and one verdict out. Pure: no fetching, no clock, no logging."""

from sitemap_actor.core.sitemaps.entries import Entries, Outcome
from sitemap_actor.core.sitemaps.reader import SitemapReader, outcome_of_unreadable
from sitemap_actor.core.sitemaps.unpack import Unpacker

__all__ = ["Entries", "Outcome", "SitemapReader", "Unpacker", "outcome_of_unreadable"]
