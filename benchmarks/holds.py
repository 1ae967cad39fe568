"""How long the event loop is held: `python -m benchmarks.holds OUT` runs the Actor and writes to OUT, as JSON, the longest
callbacks between the spider's opening and its closing, in milliseconds of CPU of the loop's thread, and what each one was.
"""

import asyncio.events
import heapq
import json
import runpy
import sys
import time

from scrapy.core.engine import ExecutionEngine

KEPT = 10
_longest: list[tuple[float, str]] = []
_watching: list[bool] = []
_run = asyncio.events.Handle._run
_open = ExecutionEngine.open_spider_async
_close = ExecutionEngine.close_spider_async


def where(callback: object) -> str:
    """What a callback goes on with: of a task, where its coroutine waits."""
    coroutine = getattr(getattr(callback, "__self__", None), "get_coro", lambda: None)()
    if coroutine is None:
        return repr(callback)[:200]
    steps = []
    while coroutine is not None and hasattr(coroutine, "cr_code"):
        steps.append(f"{coroutine.__qualname__}:{coroutine.cr_frame.f_lineno if coroutine.cr_frame else 0}")
        coroutine = coroutine.cr_await
    return " > ".join(steps)


def run(self: asyncio.events.Handle) -> None:
    if not _watching:
        _run(self)
        return
    what = where(self._callback)
    started = time.thread_time()
    _run(self)
    spent = (time.thread_time() - started) * 1_000
    if len(_longest) < KEPT:
        heapq.heappush(_longest, (spent, what))
    elif spent > _longest[0][0]:
        heapq.heapreplace(_longest, (spent, what))


async def opened(self: ExecutionEngine, *args: object, **kwargs: object) -> None:
    await _open(self, *args, **kwargs)
    _watching.append(True)


async def closed(self: ExecutionEngine, *args: object, **kwargs: object) -> None:
    await _close(self, *args, **kwargs)
    _watching.clear()


def main() -> None:
    asyncio.events.Handle._run = run  # type: ignore[method-assign]
    ExecutionEngine.open_spider_async = opened  # type: ignore[method-assign]
    ExecutionEngine.close_spider_async = closed  # type: ignore[method-assign]
    try:
        runpy.run_module("benchmarks.actor", run_name="__main__")
    finally:
        with open(sys.argv[1], "w") as file:
            json.dump(sorted(_longest, reverse=True), file)


if __name__ == "__main__":
    main()
