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

from tests.actor.fake_platform import BODY, ITEM_EVENT, KVS, FakePlatform
from tests.actor.helpers import PRICES


class LeanPlatform(FakePlatform):
    """Takes rows as they come and looks at them after the run: what it did meanwhile would slow down the Actor."""

    def __init__(self, urls: str) -> None:
        super().__init__()
        self._path = urls
        self._pushed: list[bytes] = []

    async def _push(self, request: web.Request) -> web.Response:
        body = request[BODY]
        self._pushed.append(body)
        self._count(ITEM_EVENT, body.count(b'{"url": "'))
        self.calls.clear()
        return web.json_response({}, status=201)

    def _rows(self) -> int:
        """Write down the URLs of the run that is over; return how many there are."""
        count = 0
        with open(self._path, "w") as urls:
            for body in self._pushed:
                rows = json.loads(body)
                urls.writelines(row["url"] + "\n" for row in rows)
                count += len(rows)
        self._pushed.clear()
        return count

    def begin(self, given: str) -> dict[str, Any]:
        """Begin a run; tell of the one before."""
        told: dict[str, Any] = {"charged": dict(self.run["chargedEventCounts"])}
        if self._pushed:  # else the file of the run before stays
            told["rows"] = self._rows()
        self.begin_run(prices=PRICES)
        self._keys.clear()  # the next run has the same id, and would make the same keys within the three minutes
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
