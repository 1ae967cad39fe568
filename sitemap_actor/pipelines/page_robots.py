"""Each page is checked against its own host's robots.txt before it is saved; only robots.txt is asked of that host.

It stands after the date filter, so that a page nobody wants costs no request, and before dedup, so that what is refused is
not remembered. It may wait for a robots.txt; rows are grouped by host, so a batch asks once per host.
"""

from typing import Self

from scrapy.crawler import Crawler

from sitemap_actor.core.changes.kinds import UNJUDGED
from sitemap_actor.core.hosts import Refusal
from sitemap_actor.core.reasons import SkipReason, Stage
from sitemap_actor.core.report import Skip
from sitemap_actor.core.rows import Batch, UrlBatch
from sitemap_actor.core.urls import group_by_host
from sitemap_actor.download import errors
from sitemap_actor.download.robots_txt import RobotsTxt
from sitemap_actor.run import Run, run_of


class PageRobotsPipeline:
    """Refuses pages that robots.txt disallows, and pages of hosts that give no permission."""

    def __init__(self, run: Run, robots: RobotsTxt) -> None:
        self._run = run
        self._robots = robots

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the run's one robots.txt reader."""
        run = run_of(crawler)
        return cls(run, run.robots(crawler))

    async def process_item(self, batch: Batch) -> Batch:
        """Judge the pages host by host."""
        if not isinstance(batch, UrlBatch) or not batch.keys:
            return batch
        groups = self._by_host(batch)
        refused: list[tuple[list[int], Refusal]] = []
        for key, indices in groups.items():
            refused += await self._refused(key, indices, batch.keys)
        for indices, refusal in refused:
            self._refuse(batch, indices, refusal)
        if not batch.remember and refused:
            batch.drop(index for indices, _refusal in refused for index in indices)
        return batch

    @staticmethod
    def _by_host(batch: UrlBatch) -> dict[str, list[int]]:
        """The places of the pages of each host; a page that is silent already costs no request and no host."""
        groups = group_by_host(batch.keys)
        silent = batch.silent
        if silent is None:
            return groups
        wanted = {key: [index for index in indices if silent[index] is None] for key, indices in groups.items()}
        return {key: indices for key, indices in wanted.items() if indices}

    async def _refused(self, key: str, indices: list[int], urls: list[str]) -> list[tuple[list[int], Refusal]]:
        """The pages of one host that are refused, with why."""
        hosts = self._run.hosts
        if not hosts.admits(key):
            detail = f"more than {hosts.max_other_hosts} hosts beyond the sites"
            return [(indices, Refusal(SkipReason.MAX_HOSTS, detail, unread=True))]
        host = hosts.peek(key)
        if host is None or not host.known:
            try:
                host = await self._robots.host(key)
            except errors.Refusal as error:
                return [(indices, Refusal(error.reason, error.detail))]
        refusal = host.refuses_pages()
        if refusal is not None:
            return [(indices, refusal)]
        rules = host.rules
        if rules is None or not rules.can_refuse:
            return []
        own = urls if len(indices) == len(urls) else [urls[index] for index in indices]
        return [
            ([indices[position]], Refusal(SkipReason.ROBOTS_TXT_DISALLOWED, rules.rule(own[position])))
            for position in rules.refused(own)
        ]

    def _refuse(self, batch: UrlBatch, indices: list[int], refusal: Refusal) -> None:
        """Count and list refused pages; in a batch that remembers, mark them."""
        if batch.remember:
            batch.refuse(indices, UNJUDGED if refusal.unread else refusal.reason)
        elif refusal.reason is SkipReason.ROBOTS_TXT_DISALLOWED:
            batch.note("disallowed", len(indices))
        elif refusal.reason is SkipReason.NOT_REACHED:
            batch.note("not_saved", len(indices))
            return
        else:
            batch.note("skipped", len(indices))
        site, found_in = batch.reading.site.key, batch.file.url
        for index in indices:
            self._run.report.skip(Skip(batch.urls[index], site, Stage.URL, refusal.reason, refusal.detail, found_in))
