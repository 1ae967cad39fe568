"""Monitor mode's last filter: a batch is taken into the memory of its site, and nothing of it goes on as it is.

What becomes of the pages is found when the site closes (extensions/site_close.py); the rows found then pass here untouched.
"""

import json
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from sitemap_actor.core.changes.memory import MonitorMemory, Session
from sitemap_actor.core.changes.profiles import PROFILE_PAGE, profile_pages
from sitemap_actor.core.changes.settling import Source
from sitemap_actor.core.changes.site import Listing
from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.core.rows import Batch, UrlBatch
from sitemap_actor.run import run_of


class ChangesPipeline:
    """Stages batches. It is there where the run remembers."""

    def __init__(self, memory: MonitorMemory) -> None:
        self._memory = memory

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the run's memory."""
        memory = run_of(crawler).memory
        assert isinstance(memory, MonitorMemory)  # noqa: S101 - extensions/site_close.py has put it there
        return cls(memory)

    def process_item(self, batch: Batch) -> Batch:
        """Stage a batch of pages; let rows pass."""
        if not isinstance(batch, UrlBatch):
            return batch
        session = self._memory.sessions.get(batch.reading)
        if session is None or session.closing:
            batch.note("deferred", len(batch))
            raise DropItem("the site is closed already")
        if batch.keys:
            self._stage(session, batch)
        raise DropItem("remembered")

    def _stage(self, session: Session, batch: UrlBatch) -> None:
        if not self._memory.job.include_profile_urls:
            batch.refuse(profile_pages(batch.keys), PROFILE_PAGE)
        key = session.key_of(batch.file)
        self._leave_unjudged(session, batch, key)
        extras = batch.extras
        staged = session.stage(
            Listing(
                key,
                Source(batch.file.url, batch.fetched_at),
                batch.keys,
                batch.urls,
                batch.lastmods,
                batch.instants,
                batch.changefreqs,
                batch.priorities,
                [json.dumps(extra, ensure_ascii=False) if extra else None for extra in extras] if extras else None,
                [str(why) if why else None for why in batch.silent] if batch.silent else None,
            )
        )
        if staged.repeats:
            batch.note("duplicates", staged.repeats)
        if staged.over:
            batch.note("listed", -staged.over)

    @staticmethod
    def _leave_unjudged(session: Session, batch: UrlBatch, key: str) -> None:
        """Pages whose host's robots.txt the end of the run left unread are as good as not read."""
        if batch.silent is None or SkipReason.NOT_REACHED not in batch.silent:
            return
        keep = [why is not SkipReason.NOT_REACHED for why in batch.silent]
        batch.note("listed", -keep.count(False))
        batch.keep(keep)
        session.state.cut.add(key)
