"""A stand-in for the Apify platform on loopback: REST API and event socket, as the unmodified SDK calls them at home.

It keeps everything in memory and in the open, so that a test can assert on it, and is as strict as the platform where that
matters to money and rows: it asks for the token, refuses a whole push for one row its dataset schema does not like, refuses
bodies over a limit, counts the synthetic dataset item event by itself, forgets idempotency keys after three minutes, and knows
what it was asked after the run had ended. `Fault`s are injected by method, path and number of the call: an error before the
call has an effect, an answer lost after it, silence, or the death of the Actor's process at that very moment.

A migration, or a crash, is two processes on one platform: the stores, the run id and the charges stay.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import brotli
from aiohttp import WSMsgType, web

TOKEN = "apify_api_SECRETxTOKENx0123456789abcdef"
DATASET, KVS, QUEUE = "defaultDataset", "defaultKvs", "defaultQueue"
ITEM_EVENT = "apify-default-dataset-item"
START_EVENT = "apify-actor-start"

_KEY = re.compile(r"[a-zA-Z0-9!\-_.'()]{1,256}")
BODY = web.RequestKey("body", bytes)
_IDEMPOTENCY_SECS = 180.0

Action = Literal["error", "lost", "hang", "kill_before", "kill_after", "pause_after"]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class Store:
    kind: str
    id: str
    name: str | None = None
    items: list[Any] = field(default_factory=list)
    records: dict[str, tuple[bytes, str]] = field(default_factory=dict)

    def meta(self) -> dict[str, Any]:
        times = dict.fromkeys(("createdAt", "modifiedAt", "accessedAt"), _now())
        base = {"id": self.id, "name": self.name, "userId": "someUser", "consoleUrl": f"http://127.0.0.1/{self.id}"}
        if self.kind == "datasets":
            return base | times | {"itemCount": len(self.items), "cleanItemCount": len(self.items), "fields": []}
        return base | times | {"username": "someone"}


@dataclass
class Call:
    number: int
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    status: int | str | None = None

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Fault:
    """What goes wrong with the calls of `method` whose path matches, `times` times after the first `skip`."""

    method: str
    pattern: str
    action: Action = "error"
    status: int = 500
    times: int = 1
    skip: int = 0

    def takes(self, method: str, path: str) -> bool:
        if self.times <= 0 or self.method not in {method, "*"} or not re.search(self.pattern, path):
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        self.times -= 1
        return True


class FakePlatform:
    def __init__(self, run_id: str = "runOfTheTest0001") -> None:
        self.run_id = run_id
        self.port = 0
        self.calls: list[Call] = []
        self.faults: list[Fault] = []
        self.stores = {
            ("datasets", DATASET): Store("datasets", DATASET),
            ("key-value-stores", KVS): Store("key-value-stores", KVS),
        }
        self.statuses = {run_id: "RUNNING"}
        """Status of each run the platform knows of."""
        self.run: dict[str, Any] = {}
        self.messages: list[tuple[str, bool]] = []
        """Status messages in order, with whether they were terminal."""
        self.charges: list[tuple[str, int, str]] = []
        """Accepted charges: event, count, idempotency key."""
        self.repeats: list[tuple[str, int, str]] = []
        self.prices: dict[str, float] = {}
        self.limit_usd: float | None = None
        self.reboots = 0
        self.slow_secs = 0.0
        self.schema: Callable[[Any], str | None] | None = None
        """What the dataset's schema has against a row; None: nothing."""
        self.name_invalid_items = True
        """Whether the answer to a push that the schema refuses names the rows."""
        self.max_body = 9 * 2**20
        self.blind_reads = 0
        """How many reads of the dataset do not show the newest push yet."""
        self.pid: int | None = None
        """The Actor's process, for the faults that kill it."""
        self.kill_at: tuple[int, Literal["before", "after"]] | None = None
        """Kill the process at the n-th call from now on (counted from 1), before or after its effect."""
        self.killed = asyncio.Event()
        self.connected = asyncio.Event()
        self._counted = 0
        self._visible = 0
        self._keys: dict[str, float] = {}
        self._sockets: set[web.WebSocketResponse] = set()
        self._runner: web.AppRunner | None = None

    # --- what tests use

    async def __aenter__(self) -> FakePlatform:
        await self.start()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.stop()

    @property
    def items(self) -> list[Any]:
        return self.stores["datasets", DATASET].items

    @property
    def records(self) -> dict[str, tuple[bytes, str]]:
        return self.stores["key-value-stores", KVS].records

    @property
    def charged(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for event, count, _ in self.charges:
            total[event] += count
        return total

    @property
    def spent(self) -> float:
        """What the run cost so far, the synthetic events included."""
        counts = self.run["chargedEventCounts"]
        return sum(count * self.prices.get(event, 0.0) for event, count in counts.items())

    @property
    def last_message(self) -> str:
        message, terminal = self.messages[-1]
        assert terminal, self.messages
        return message

    def record(self, key: str) -> Any:
        return json.loads(self.records[key][0])

    def set_input(self, value: Any) -> None:
        self.records["INPUT"] = (json.dumps(value).encode(), "application/json; charset=utf-8")

    def paths(self, method: str, pattern: str) -> list[Call]:
        return [call for call in self.calls if call.method == method and re.search(pattern, call.path)]

    def fail(self, method: str, pattern: str, action: Action = "error", **more: Any) -> None:
        self.faults.append(Fault(method, pattern, action, **more))

    def begin_run(
        self,
        prices: dict[str, float] | None = None,
        limit_usd: float | None = None,
        counts: dict[str, int] | None = None,
        timeout_secs: float = 3600.0,
    ) -> None:
        """A new run: `prices` in USD by event (None: not pay-per-event), `counts` charged already."""
        self.prices, self.limit_usd = prices or {}, limit_usd
        self.timeout_at = datetime.now(UTC) + timedelta(seconds=timeout_secs)
        self.run = {
            "id": self.run_id,
            "actId": "someActor",
            "userId": "someUser",
            "startedAt": _now(),
            "finishedAt": None,
            "status": "RUNNING",
            "meta": {"origin": "API"},
            "stats": dict.fromkeys(
                ("inputBodyLen", "restartCount", "resurrectCount", "computeUnits", "migrationCount", "rebootCount"), 0
            ),
            "options": {"build": "latest", "timeoutSecs": 3600, "memoryMbytes": 256, "diskMbytes": 512},
            "buildId": "someBuild",
            "buildNumber": "0.0.1",
            "defaultKeyValueStoreId": KVS,
            "defaultDatasetId": DATASET,
            "defaultRequestQueueId": QUEUE,
            "generalAccess": "RESTRICTED",
            "containerUrl": "http://127.0.0.1:1/",
            "chargedEventCounts": dict(counts or {}),
        }
        if limit_usd is not None:
            self.run["options"]["maxTotalChargeUsd"] = limit_usd
        if prices is not None:
            self.run["pricingInfo"] = self._pricing(prices)

    @staticmethod
    def _pricing(prices: dict[str, float]) -> dict[str, Any]:
        events = {
            name: {"eventTitle": name, "eventDescription": name, "eventPriceUsd": usd} for name, usd in prices.items()
        }
        return {
            "pricingModel": "PAY_PER_EVENT",
            "apifyMarginPercentage": 0.2,
            "createdAt": _now(),
            "startedAt": _now(),
            "pricingPerEvent": {"actorChargeEvents": events},
        }

    def env(self, *, stale_counts: dict[str, int] | None = None) -> dict[str, str]:
        """The environment of the Actor's process at home. `stale_counts` is what the environment says of charges."""
        base = f"http://127.0.0.1:{self.port}"
        env = {
            "APIFY_IS_AT_HOME": "1",
            "APIFY_TOKEN": TOKEN,
            "APIFY_USER_ID": "someUser",
            "APIFY_API_BASE_URL": base,
            "APIFY_API_PUBLIC_BASE_URL": base,
            "APIFY_DEDICATED_CPUS": "0.0625",
            "APIFY_META_ORIGIN": "API",
            "ACTOR_ID": "someActor",
            "ACTOR_FULL_NAME": "someone/sitemap-url-extractor",
            "ACTOR_RUN_ID": self.run_id,
            "ACTOR_BUILD_NUMBER": "0.0.1",
            "ACTOR_DEFAULT_DATASET_ID": DATASET,
            "ACTOR_DEFAULT_KEY_VALUE_STORE_ID": KVS,
            "ACTOR_DEFAULT_REQUEST_QUEUE_ID": QUEUE,
            "ACTOR_INPUT_KEY": "INPUT",
            "ACTOR_MEMORY_MBYTES": "256",
            "ACTOR_STARTED_AT": _now(),
            "ACTOR_TIMEOUT_AT": self.timeout_at.isoformat(),
            "ACTOR_EVENTS_WEBSOCKET_URL": f"ws://127.0.0.1:{self.port}/events/{self.run_id}",
        }
        if "pricingInfo" in self.run:
            env["APIFY_ACTOR_PRICING_INFO"] = json.dumps(self.run["pricingInfo"])
            env["APIFY_CHARGED_ACTOR_EVENT_COUNTS"] = json.dumps(stale_counts or self.run["chargedEventCounts"])
        if self.limit_usd is not None:
            env["ACTOR_MAX_TOTAL_CHARGE_USD"] = str(self.limit_usd)
        return env

    async def emit(self, name: str, data: dict[str, Any] | None = None) -> None:
        message = json.dumps({"name": name, "createdAt": _now(), "data": data or {}})
        for socket in list(self._sockets):
            await socket.send_str(message)

    async def start(self) -> None:
        self.begin_run()
        app = web.Application(client_max_size=64 * 2**20, middlewares=[self._watched])
        add = app.router.add_route
        add("GET", "/events/{run}", self._events)
        add("GET", "/v2/actor-runs/{run}", self._run_get)
        add("PUT", "/v2/actor-runs/{run}", self._run_put)
        add("POST", "/v2/actor-runs/{run}/charge", self._run_charge)
        add("POST", "/v2/actor-runs/{run}/reboot", self._run_reboot)
        for kind in ("datasets", "key-value-stores"):
            add("POST", f"/v2/{{kind:{kind}}}", self._store_open)
            add("GET", f"/v2/{{kind:{kind}}}/{{id}}", self._store_get)
        add("POST", "/v2/datasets/{id}/items", self._push)
        add("GET", "/v2/datasets/{id}/items", self._list_items)
        add("GET", "/v2/key-value-stores/{id}/keys", self._list_keys)
        add("*", "/v2/key-value-stores/{id}/records/{key}", self._record)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        for socket in list(self._sockets):
            await socket.close()
        if self._runner is not None:
            await self._runner.cleanup()

    def kill(self) -> None:
        if self.pid is not None and not self.killed.is_set():
            os.kill(self.pid, signal.SIGKILL)
        self.killed.set()

    # --- the road of every call

    @web.middleware
    async def _watched(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if request.path.startswith("/events/"):
            return await handler(request)
        raw = await request.read()
        body = raw
        if request.headers.get("Content-Encoding") == "br":
            try:
                body = brotli.decompress(raw)
            except brotli.error:
                body = raw  # the web server had unpacked it already
        request[BODY] = body
        headers = {name.lower(): value for name, value in request.headers.items()}
        call = Call(len(self.calls) + 1, request.method, request.path, dict(request.query), headers, body)
        self.calls.append(call)
        if self.slow_secs:
            await asyncio.sleep(self.slow_secs)
        if headers.get("authorization") != f"Bearer {TOKEN}":
            call.status = 401
            return _error(401, "token-not-valid")
        self._counted += 1
        when = self.kill_at[1] if self.kill_at and self.kill_at[0] == self._counted else None
        fault = next((fault for fault in self.faults if fault.takes(request.method, request.path)), None)
        action = f"kill_{when}" if when else (fault.action if fault else None)
        return await self._answer(request, handler, call, action, fault)

    async def _answer(
        self, request: web.Request, handler: Any, call: Call, action: str | None, fault: Fault | None
    ) -> web.StreamResponse:
        if action == "error" and fault:
            call.status = fault.status
            return _error(fault.status, "injected")
        if action in {"hang", "kill_before"}:
            call.status = action
            if action == "kill_before":
                self.kill()
            else:
                await asyncio.sleep(3600)
            return web.Response(status=500)
        try:
            response = await handler(request)
        except web.HTTPNotFound:
            call.status = 404
            return _error(404, "record-not-found")
        call.status = response.status
        if action in {"lost", "kill_after"}:
            call.status = action
            if action == "kill_after":
                self.kill()
            if request.transport is not None:
                request.transport.abort()
        return response

    # --- runs

    async def _events(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._sockets.add(socket)
        self.connected.set()
        try:
            async for message in socket:
                if message.type == WSMsgType.ERROR:
                    break
        finally:
            self._sockets.discard(socket)
        return socket

    async def _run_get(self, request: web.Request) -> web.Response:
        run = request.match_info["run"]
        if run not in self.statuses:
            raise web.HTTPNotFound
        return web.json_response({"data": self.run | {"id": run, "status": self.statuses[run]}})

    async def _run_put(self, request: web.Request) -> web.Response:
        update = json.loads(request[BODY])
        self.messages.append((update.get("statusMessage"), bool(update.get("isStatusMessageTerminal"))))
        return web.json_response({"data": self.run})

    async def _run_charge(self, request: web.Request) -> web.Response:
        body = json.loads(request[BODY])
        key, event, count = request.headers["idempotency-key"], body["eventName"], body["count"]
        if event.startswith("apify-") or event not in self.prices:
            return _error(400, "invalid-event")
        now = asyncio.get_running_loop().time()
        if now - self._keys.get(key, -1e9) < _IDEMPOTENCY_SECS:
            self.repeats.append((event, count, key))
            return web.json_response({}, status=201)
        self._keys[key] = now
        self.charges.append((event, count, key))
        self._count(event, count)
        return web.json_response({}, status=201)

    def _count(self, event: str, count: int) -> None:
        counts = self.run["chargedEventCounts"]
        counts[event] = counts.get(event, 0) + count

    async def _run_reboot(self, _request: web.Request) -> web.Response:
        self.reboots += 1
        asyncio.get_running_loop().call_later(0.05, self.kill)
        return web.json_response({"data": self.run})

    # --- stores

    def _find(self, request: web.Request, kind: str) -> Store:
        store = self.stores.get((kind, request.match_info["id"]))
        if store is None:
            raise web.HTTPNotFound
        return store

    async def _store_open(self, request: web.Request) -> web.Response:
        kind, name = request.match_info["kind"], request.query["name"]
        store = next((one for (k, _), one in self.stores.items() if k == kind and one.name == name), None)
        if store is None:
            store = Store(kind, f"named{len(self.stores):012d}", name)
            self.stores[kind, store.id] = store
        return web.json_response({"data": store.meta()}, status=201)

    async def _store_get(self, request: web.Request) -> web.Response:
        return web.json_response({"data": self._find(request, request.match_info["kind"]).meta()})

    async def _push(self, request: web.Request) -> web.Response:
        store = self._find(request, "datasets")
        if len(request[BODY]) > self.max_body:
            return _error(413, "request-too-large")
        rows = json.loads(request[BODY])
        rows = rows if isinstance(rows, list) else [rows]
        if self.schema is not None and store.name is None:
            bad = [
                {"itemPosition": place, "validationErrors": [{"message": why}]}
                for place, row in enumerate(rows)
                if (why := self.schema(row))
            ]
            if bad:
                data = {"invalidItems": bad} if self.name_invalid_items else {}
                return _error(400, "schema-validation-error", data)
        self._visible = len(store.items)
        store.items.extend(rows)
        if store.id == DATASET and ITEM_EVENT in self.prices:
            self._count(ITEM_EVENT, len(rows))
        return web.json_response({}, status=201)

    async def _list_items(self, request: web.Request) -> web.Response:
        items = self._find(request, "datasets").items
        if self.blind_reads > 0:
            self.blind_reads -= 1
            items = items[: self._visible]
        offset = int(request.query.get("offset", 0))
        limit = int(float(request.query.get("limit", 250_000)))
        desc = request.query.get("desc") in ("1", "true")
        page = (items[::-1] if desc else items)[offset : offset + limit]
        if names := request.query.get("fields"):
            page = [{name: row.get(name) for name in names.split(",") if name in row} for row in page]
        headers = {
            "x-apify-pagination-total": str(len(items)),
            "x-apify-pagination-offset": str(offset),
            "x-apify-pagination-count": str(len(page)),
            "x-apify-pagination-limit": str(limit),
            "x-apify-pagination-desc": "true" if desc else "false",
        }
        return web.json_response(page, headers=headers)

    async def _list_keys(self, request: web.Request) -> web.Response:
        store = self._find(request, "key-value-stores")
        start, prefix = request.query.get("exclusiveStartKey", ""), request.query.get("prefix", "")
        limit = int(request.query.get("limit", 1000))
        keys = [key for key in sorted(store.records) if key > start and key.startswith(prefix)]
        page = keys[:limit]
        data = {
            "items": [
                {"key": key, "size": len(store.records[key][0]), "recordPublicUrl": f"http://127.0.0.1/{key}"}
                for key in page
            ],
            "count": len(page),
            "limit": limit,
            "exclusiveStartKey": start or None,
            "isTruncated": len(keys) > limit,
            "nextExclusiveStartKey": page[-1] if len(keys) > limit else None,
        }
        return web.json_response({"data": data})

    async def _record(self, request: web.Request) -> web.Response:
        store, key = self._find(request, "key-value-stores"), request.match_info["key"]
        if not _KEY.fullmatch(key):
            return _error(400, "invalid-parameter")
        if request.method == "PUT":
            store.records[key] = (request[BODY], request.headers.get("Content-Type", "application/octet-stream"))
            return web.json_response({}, status=201)
        if request.method == "DELETE":
            store.records.pop(key, None)
            return web.Response(status=204)
        if key not in store.records:
            raise web.HTTPNotFound
        body, content_type = store.records[key]
        return web.Response(body=body, headers={"Content-Type": content_type})


def _error(status: int, kind: str, data: Any = None) -> web.Response:
    error = {"type": kind, "message": f"{kind}."} | ({"data": data} if data else {})
    return web.json_response({"error": error}, status=status)
