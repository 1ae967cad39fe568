"""What the spider asks of the memory between runs while it reads. Extract mode remembers nothing: `NoMemory`."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from sitemap_actor.core.reading import SiteReading
from sitemap_actor.core.report import SitemapReport
from sitemap_actor.core.sitemaps import Entries


class Memory(Protocol):
    """Questions and notes about one file of one site's reading."""

    async def open(self, reading: SiteReading) -> None:
        """Load what is remembered of the site, before anything of it is asked for."""

    def validators(self, reading: SiteReading, file: SitemapReport) -> dict[str, str]:
        """The conditional request headers (If-None-Match, If-Modified-Since) to ask for the file with."""

    def unchanged(self, reading: SiteReading, file: SitemapReport) -> None:
        """The file was answered 304: fill in its report from what is remembered (status `unchanged`), or fail it."""

    def children(self, reading: SiteReading, file: SitemapReport) -> list[str]:
        """The children that an unchanged index had when it was last read."""

    def read_whole(self, reading: SiteReading, file: SitemapReport, headers: Mapping[str, str]) -> None:
        """The file was read whole; `headers` are the answer's, by lower-case name."""

    def remembered(self, reading: SiteReading, file: SitemapReport) -> Iterator[Entries]:
        """What an unchanged file listed when it was last read, to be taken in its place."""

    def leaves_out(self, reading: SiteReading, url: str, parent: SitemapReport) -> bool:
        """Whether a child of the index `parent` is left out by a rule of the job; the reading is told of it then."""


class NoMemory:
    """Remembers nothing: every file is asked for in full, and a 304 that nobody asked for is a failure."""

    async def open(self, reading: SiteReading) -> None:
        """Nothing to load."""

    def validators(self, reading: SiteReading, file: SitemapReport) -> dict[str, str]:
        """Ask for the whole file."""
        return {}

    def unchanged(self, reading: SiteReading, file: SitemapReport) -> None:
        """Fail the file: nothing is known of it."""
        file.fail_as_unasked_304()

    def children(self, reading: SiteReading, file: SitemapReport) -> list[str]:
        """Know none."""
        return []

    def read_whole(self, reading: SiteReading, file: SitemapReport, headers: Mapping[str, str]) -> None:
        """Forget it."""

    def remembered(self, reading: SiteReading, file: SitemapReport) -> Iterator[Entries]:
        """Remember nothing."""
        return iter(())

    def leaves_out(self, reading: SiteReading, url: str, parent: SitemapReport) -> bool:
        """Leave nothing out."""
        return False
