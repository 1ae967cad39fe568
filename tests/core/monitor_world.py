"""A site as the comparison sees it, and a life of monitor runs over it, all in memory."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sitemap_actor.core.changes import codec
from sitemap_actor.core.changes.facts import ROBOTS, Came, Circumstances, FileSeen, SiteFacts
from sitemap_actor.core.changes.kinds import Kind, Terms
from sitemap_actor.core.changes.settling import Plan, Source
from sitemap_actor.core.changes.site import Listing, SiteState
from sitemap_actor.core.lastmod import LastmodJudge

ENTRY = "https://example.com/"
DAY = 86_400.0
START = 1_700_000_000.0


@dataclass
class File:
    """One sitemap file of a run. `pages`: (url, lastmod) in order; `silent`: pages a rule excludes, with why."""

    url: str
    pages: list[tuple[str, str | None]] = field(default_factory=list)
    came: Came = Came.WHOLE
    rolling: bool = False
    named_by: tuple[str, ...] = (ROBOTS,)


@dataclass
class Outcome:
    rows: list[dict[str, object]]
    plan: Plan
    facts: SiteFacts

    def types(self) -> dict[str, str]:
        return {str(row["url"]): str(row["changeType"]) for row in self.rows}

    def of(self, kind: str) -> list[str]:
        return sorted(str(row["url"]) for row in self.rows if row["changeType"] == kind)

    def count(self, *kinds: Kind) -> int:
        return self.plan.comparison.count(*kinds)


@dataclass
class Life:
    """Runs one after the other; the state goes through the codec in between."""

    folder: Path
    now: float = START
    head: bytes | None = None
    shards: list[bytes] = field(default_factory=list)
    quiet: bool = False

    _number = itertools.count()

    def run(
        self,
        files: Sequence[File],
        *,
        silent: dict[str, str] | None = None,
        cap: int | None = None,
        saved: int | None = None,
        quota: int = 2_000,
        existing: bool = False,
        ended: bool = False,
        readable: frozenset[str] = frozenset({ROBOTS}),
        dropped: frozenset[str] = frozenset(),
        confirm: int = 1,
        shrink: int = 50,
        name_rolls: tuple[str, ...] = (),
        excluded: frozenset[str] = frozenset(),
    ) -> Outcome:
        facts = codec.read_head(self.head, ENTRY).site if self.head else SiteFacts(ENTRY, quiet=self.quiet)
        path = self.folder / f"{next(self._number)}.sqlite"
        state = SiteState(path, facts, now=self.now, cap=cap)
        try:
            return self._run(
                state,
                files,
                silent or {},
                saved,
                quota,
                existing,
                ended,
                readable,
                dropped,
                Terms(self.now, confirm, shrink, lambda keys: [at for at, key in enumerate(keys) if key in excluded]),
                name_rolls,
            )
        finally:
            state.close()
            path.unlink()
            self.now += DAY

    def _run(
        self, state, files, silent, saved, quota, existing, ended, readable, dropped, terms, name_rolls
    ) -> Outcome:
        state.load(block for shard in self.shards for block in codec.read_shard(shard, "pages", ENTRY, None))
        for file in files:
            if file.came in {Came.WHOLE, Came.PARTIAL, Came.CUT}:
                self._stage(state, file, silent)
        seen = [
            FileSeen(file.url, Came.CUT if file.url in state.cut else file.came, file.named_by, file.rolling)
            for file in files
        ]
        readable = readable | {file.url for file in files if file.came is Came.WHOLE and file.url not in state.cut}
        given = Circumstances(readable, dropped, ended or state.capped, name_rolls)
        plan = state.compare(seen, given, terms, site_key="https://example.com", quota=quota, include_existing=existing)
        rows = [row for batch in plan.rows() for row in batch]
        done = len(rows) if saved is None else min(saved, len(rows))
        facts = state.settle(min(done, plan.total), "terms")
        shards = list(codec.write_shards(state.blocks(), "pages", ENTRY))
        assert not state.is_as_loaded() or shards == self.shards
        self.shards = shards
        self.head = codec.write_head(codec.Head(facts))
        return Outcome(rows[:done], plan, facts)

    def _stage(self, state: SiteState, file: File, silent: dict[str, str]) -> None:
        keys = [url for url, _lastmod in file.pages]
        lastmods = [lastmod for _url, lastmod in file.pages]
        none: list[str | None] = [None] * len(keys)
        why = [silent.get(key) for key in keys]
        instants = LastmodJudge(self.now).judge(lastmods)
        source = Source(file.url, "2026-01-01T00:00:00Z")
        state.stage(
            Listing(file.url, source, keys, keys, lastmods, instants, none, none, None, why if any(why) else None)
        )

    def remembered(self) -> dict[str, tuple[int, str | None]]:
        pages: dict[str, tuple[int, str | None]] = {}
        for shard in self.shards:
            for block in codec.read_shard(shard, "pages", ENTRY, None):
                for key, state, kept in zip(block["key"], block["state"], block["kept"], strict=True):
                    pages[key] = (state, kept)
        return pages
