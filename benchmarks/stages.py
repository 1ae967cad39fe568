"""Where the CPU of a run goes: `python -m benchmarks.stages OUT crawl sitemap ...` is `scrapy` with a clock in each stage,
`python -m benchmarks.stages OUT actor` the Actor.

The stages work on batches of up to 1,000 URLs, so that a clock around each call costs nothing. The table goes to OUT as JSON:
seconds of this thread by stage, the stages inside another one taken out of it.
"""

import functools
import gc
import json
import runpy
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from scrapy.cmdline import execute

from sitemap_actor.core.lastmod import LastmodJudge
from sitemap_actor.core.sitemaps import SitemapReader
from sitemap_actor.core.sitemaps.unpack import Unpacker
from sitemap_actor.exporters.rows import JsonLinesRowsExporter
from sitemap_actor.pipelines.dedup import DedupPipeline
from sitemap_actor.pipelines.deliver import DeliverPipeline
from sitemap_actor.pipelines.lastmod import LastmodFilterPipeline
from sitemap_actor.pipelines.page_robots import PageRobotsPipeline
from sitemap_actor.pipelines.validity import ValidityPipeline

SPENT: Counter[str] = Counter()
LONGEST: dict[str, float] = {}
_open: list[float] = []


@contextmanager
def clock(stage: str) -> Iterator[None]:
    _open.append(0.0)
    started = time.thread_time()
    try:
        yield
    finally:
        spent = time.thread_time() - started
        inside = _open.pop()
        SPENT[stage] += spent - inside
        LONGEST[stage] = max(LONGEST.get(stage, 0.0), spent)
        if _open:
            _open[-1] += spent


def timed(owner: type, name: str, stage: str) -> None:
    """Put a clock around a method; of a coroutine only what it does itself, of a generator each step."""
    method: Callable[..., Any] = getattr(owner, name)

    @functools.wraps(method)
    def plain(*args: Any, **kwargs: Any) -> Any:
        with clock(stage):
            result = method(*args, **kwargs)
        if hasattr(result, "__next__"):
            return stepped(result)
        return awaited(result) if hasattr(result, "send") else result

    def stepped(generator: Iterator[Any]) -> Iterator[Any]:
        end = object()
        while True:
            with clock(stage):
                value = next(generator, end)
            if value is end:
                return
            yield value

    async def awaited(coroutine: Any) -> Any:
        class Steps:
            def __await__(self) -> Any:
                answer = None
                while True:
                    with clock(stage):
                        try:
                            waits_for = coroutine.send(answer)
                        except StopIteration as done:
                            return done.value
                    answer = yield waits_for

        return await Steps()

    setattr(owner, name, plain)


def watch_collector() -> None:
    """Count what the garbage collector takes, out of the stage that it interrupts."""
    running: list[Any] = []

    def watch(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            context = clock(f"garbage collector, generation {info['generation']}")
            context.__enter__()
            running.append(context)
        elif running:
            running.pop().__exit__(None, None, None)

    gc.callbacks.append(watch)


STAGES = [
    (Unpacker, "pieces", "unpack"),
    (SitemapReader, "read", "parse"),
    (LastmodJudge, "judge", "lastmod"),
    (ValidityPipeline, "process_item", "validity"),
    (LastmodFilterPipeline, "process_item", "date filter"),
    (PageRobotsPipeline, "process_item", "page robots"),
    (DedupPipeline, "process_item", "dedup"),
    (DeliverPipeline, "process_item", "deliver"),
    (JsonLinesRowsExporter, "export_item", "export"),
]


def time_the_sink() -> None:
    """The Actor's own stages, which plain Scrapy does not import."""
    from apify_client.http_compressors import BrotliHttpCompressor

    from sitemap_actor.actor import dataset, house, sink, till

    timed(sink.PlatformSink, "deliver", "sink")
    timed(dataset.PlatformDataset, "push", "push")
    timed(till.PlatformTill, "settle", "charge")
    timed(house.House, "save_state", "ledger")
    timed(BrotliHttpCompressor, "compress", "compress")


def main() -> None:
    out = sys.argv[1]
    for owner, name, stage in STAGES:
        timed(owner, name, stage)
    if sys.argv[2] == "actor":
        time_the_sink()
    started = time.process_time()
    watch_collector()
    try:
        if sys.argv[2] == "actor":
            runpy.run_module("benchmarks.actor", run_name="__main__")
        else:
            execute(["scrapy", *sys.argv[2:]])
    finally:
        total = time.process_time()
        SPENT["start-up"] = started
        SPENT["other threads"] = total - time.thread_time()
        SPENT["the rest"] = total - sum(SPENT.values())
        with open(out, "w") as file:
            json.dump({"seconds": dict(SPENT), "longest": LONGEST}, file)


if __name__ == "__main__":
    main()
