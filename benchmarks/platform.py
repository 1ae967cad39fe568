"""The stand-in platform of tests/actor as a process of its own: `python -m benchmarks.platform SECONDS URLS`.

Each line that comes in is an input and begins a run. Out goes a line of JSON: the environment of the new run's Actor, and what
came of the run before it: rows and charges. The URLs of a run's rows are written to the file URLS; the rows themselves are let
go, so that a large run does not fill the memory. It ends when its input is closed, or by itself after SECONDS.
"""

import asyncio
import json
import os
import sys
import threading
from typing import Any

from aiohttp import web

from tests.actor.fake_platform import DATASET, KVS, FakePlatform
from tests.actor.helpers import PRICES


class LeanPlatform(FakePlatform):
    """Counts rows instead of keeping them."""

    def __init__(self, urls: str) -> None:
        super().__init__()
        self.rows = 0
        self._path = urls

    async def _push(self, request: web.Request) -> web.Response:
        response = await super()._push(request)
        rows = self.stores["datasets", DATASET].items
        self.rows += len(rows)
        # The file of the run before stays until this one has something to put in its place.
        with open(self._path, "w" if self.rows == len(rows) else "a") as urls:
            urls.writelines(row["url"] + "\n" for row in rows)
        rows.clear()
        self.calls.clear()
        return response

    def begin(self, given: str) -> dict[str, Any]:
        """Begin a run; tell of the one before."""
        told = {"rows": self.rows, "charged": dict(self.run["chargedEventCounts"])}
        self.begin_run(prices=PRICES)
        self.rows = 0
        records = self.stores["key-value-stores", KVS].records
        records.clear()
        records["INPUT"] = (given.encode(), "application/json")
        return told | {"env": self.env()}


async def main() -> None:
    seconds, urls = float(sys.argv[1]), sys.argv[2]
    loop = asyncio.get_running_loop()
    async with LeanPlatform(urls) as platform:

        def listen() -> None:
            for line in sys.stdin:
                told = asyncio.run_coroutine_threadsafe(_call(platform.begin, line.strip()), loop).result()
                print(json.dumps(told), flush=True)
            os._exit(0)

        threading.Thread(target=listen, daemon=True).start()
        print("ready", flush=True)
        await asyncio.sleep(seconds)


async def _call(function: Any, argument: Any) -> Any:
    return function(argument)


asyncio.run(main())
