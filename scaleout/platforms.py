"""Where runs are started: Apify, through its client, and scrapyd, through its HTTP API.

The one thing that must not be repeated is a start. So it is never retried blindly: when its answer is lost, `find` tells
whether the run is there, by a label of ours that went along (on Apify in the input, on scrapyd as the job's id).
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

import aiohttp
import impit
from apify_client import ApifyClientAsync
from apify_client.errors import ApifyApiError

from scaleout.parts import ScaleOutError

LABEL = "_label"
"""Names that begin with an underscore are no input fields, and no mistakes either: the Actor passes over them."""


class LostAnswerError(Exception):
    """A start was asked for, and nobody knows whether it happened."""


@dataclass(frozen=True, slots=True)
class Order:
    """A run to start: the part's `number`, its `label`, its `given` input, and `since` when it is asked for (ISO 8601)."""

    number: int
    label: str
    given: Mapping[str, Any]
    since: str


class Platform(Protocol):
    """What the gathering needs of the place where runs are."""

    async def start(self, order: Order) -> str:
        """Start a run and return its id. Raises `LostAnswerError`, or `ScaleOutError` where the platform refuses."""

    async def find(self, order: Order) -> str | None:
        """The id of the run that was started for the order already, if there is one."""

    async def ended(self, run: str) -> str | None:
        """None while the run lasts, then the platform's word for how it ended."""

    async def report(self, order: Order, run: str) -> dict[str, Any] | None:
        """The REPORT of a run that has ended, if it left one."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How runs are started on Apify; None leaves it to the Actor."""

    memory_mbytes: int | None = None
    timeout_secs: int | None = None
    max_charge_usd: str | None = None
    build: str | None = None


class Apify:
    """Runs of an Actor."""

    def __init__(self, token: str, actor: str, options: RunOptions, api_url: str) -> None:
        self._client = ApifyClientAsync(token, api_url=api_url, api_public_url=api_url)
        self._once = ApifyClientAsync(token, api_url=api_url, api_public_url=api_url, max_retries=0)
        self._actor = actor
        self._options = options

    async def start(self, order: Order) -> str:
        """Start a run; where the account has no memory or no place for another one, wait for it."""
        options = self._options
        try:
            run = await self._once.actor(self._actor).start(
                run_input={**order.given, LABEL: order.label},
                memory_mbytes=options.memory_mbytes,
                run_timeout=None if options.timeout_secs is None else timedelta(seconds=options.timeout_secs),
                max_total_charge_usd=None if options.max_charge_usd is None else Decimal(options.max_charge_usd),
                build=options.build,
                wait_for_resources=timedelta(hours=1),
            )
        except ApifyApiError as error:
            if error.status_code >= 500 or error.status_code == 429:
                raise LostAnswerError(f"HTTP {error.status_code}") from error
            raise ScaleOutError(f"Apify refused to start {self._actor}: {error.message}") from error
        except impit.HTTPError as error:
            raise LostAnswerError(type(error).__name__) from error
        return run.id

    async def find(self, order: Order) -> str | None:
        """Look through the Actor's runs since then for the one whose input carries the label."""
        since = datetime.fromisoformat(order.since) - timedelta(minutes=5)  # clocks differ
        runs = await self._client.actor(self._actor).runs().list(desc=True, limit=1_000, started_after=since)
        for run in runs.items:
            detail = await self._client.run(run.id).get()
            given = None if detail is None else await self._record(detail.default_key_value_store_id, "INPUT")
            if given is not None and given.get(LABEL) == order.label:
                return run.id
        return None

    async def ended(self, run: str) -> str | None:
        """The run's status, once it is one of those that stay."""
        found = await self._client.run(run).get()
        if found is None:
            return "not there any more"
        return found.status if found.status in {"SUCCEEDED", "FAILED", "ABORTED", "TIMED-OUT"} else None

    async def report(self, order: Order, run: str) -> dict[str, Any] | None:
        """REPORT of the run's default key-value store."""
        del order
        found = await self._client.run(run).get()
        return None if found is None else await self._record(found.default_key_value_store_id, "REPORT")

    async def _record(self, store: str, key: str) -> dict[str, Any] | None:
        record = await self._client.key_value_store(store).get_record(key)
        value = record["value"] if record is not None else None
        return value if isinstance(value, dict) else None


class Scrapyd:
    """Jobs of a scrapyd. Each part has a storage folder of its own below `storage`, which this process must reach too."""

    LONGEST_ARGUMENT = 120_000
    """Linux passes 128 KiB in one argument of a command, and a job's arguments are such."""

    def __init__(self, session: aiohttp.ClientSession, url: str, storage: Path, project: str) -> None:
        self._session = session
        self._url = url.rstrip("/") + "/"
        self._storage = storage.absolute()
        self._project = project

    def folder(self, number: int) -> Path:
        """The SITEMAP_STORAGE_DIR of a part: the same in every gathering, because its memory is there."""
        return self._storage / f"part-{number:04d}"

    async def start(self, order: Order) -> str:
        """Schedule a job whose id is the label."""
        form = {name: value if isinstance(value, str) else json.dumps(value) for name, value in order.given.items()}
        if any(len(text.encode()) > self.LONGEST_ARGUMENT for text in form.values()):
            raise ScaleOutError(f"Part {order.number} is too long for the arguments of a job: use more parts.")
        form |= {"project": self._project, "spider": "sitemap", "jobid": order.label}
        form["setting"] = f"SITEMAP_STORAGE_DIR={self.folder(order.number)}"
        try:
            async with self._session.post(self._url + "schedule.json", data=form) as response:
                answer = await response.json(content_type=None)
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise LostAnswerError(type(error).__name__) from error
        if answer.get("status") != "ok":
            raise ScaleOutError(f"scrapyd refused the job: {answer.get('message')}")
        return order.label

    async def find(self, order: Order) -> str | None:
        """Ask for the label."""
        return order.label if await self._state(order.label) is not None else None

    async def ended(self, run: str) -> str | None:
        """`finished`, or `unknown` where scrapyd has forgotten the job (it was started anew, or many jobs ended since)."""
        state = await self._state(run)
        return None if state in {"pending", "running"} else state or "unknown"

    async def report(self, order: Order, run: str) -> dict[str, Any] | None:
        """REPORT.json of the part's folder, if this job wrote it."""
        del run
        file = self.folder(order.number) / "records" / "REPORT.json"
        text = await asyncio.to_thread(_text_of, file)
        report = None if text is None else json.loads(text)
        return report if report is not None and report["startedAt"] >= order.since else None

    async def _state(self, job: str) -> str | None:
        query = {"job": job, "project": self._project}
        async with self._session.get(self._url + "status.json", params=query) as response:
            answer = await response.json(content_type=None)
        if answer.get("status") != "ok":
            raise ScaleOutError(f"scrapyd: {answer.get('message')}")
        state: str | None = answer["currstate"]
        return state


def _text_of(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.exists() else None
