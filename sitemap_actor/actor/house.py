"""The run's own corner of the platform: its API client, its ids, and the record in which a run finds itself after a restart.

Rule: every call that is harmless to repeat is repeated here, with patience that grows and ends; the SDK's own client is used
without its retries, because it would also repeat what is not harmless (a push whose answer was lost).
"""

import asyncio
import json
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

import impit
from apify import Actor
from apify_client import ApifyClientAsync
from apify_client.errors import ApifyApiError, NotFoundError
from apify_client.http_compressors import BrotliHttpCompressor

from sitemap_actor.core.errors import SitemapActorError

logger = logging.getLogger(__name__)

T = TypeVar("T")

STATE_KEY = "RUN-STATE"
TRIES = 8
"""How often a call is made before the platform counts as out of order: with the pauses below, about a minute."""
FIRST_PAUSE_SECS = 0.5
LONGEST_PAUSE_SECS = 20.0


class PlatformError(SitemapActorError):
    """The platform did not do what it was asked for, however often: `what` was wanted, `why` it said it could not."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(what, why)
        self.what = what
        self.why = why

    def __str__(self) -> str:
        return f"{self.what} failed: {self.why}"


def is_passing(error: Exception) -> bool:
    """Whether the same call may do better a little later: 429, 5xx, or no answer at all."""
    if isinstance(error, ApifyApiError):
        return error.status_code == 429 or error.status_code >= 500
    return isinstance(error, impit.HTTPError)


def in_words(error: Exception) -> str:
    """What an answer, or its absence, said; never more than a line."""
    if isinstance(error, ApifyApiError):
        return f"HTTP {error.status_code} {error.type or ''}".strip()
    return type(error).__name__


async def pause_before(attempt: int) -> None:
    """Wait before another try; `attempt` counts from 1."""
    longest = min(FIRST_PAUSE_SECS * 2 ** (attempt - 1), LONGEST_PAUSE_SECS)
    await asyncio.sleep(longest * random.uniform(0.75, 1.25))  # noqa: S311 - spreads callers, keeps no secret


async def patiently(what: str, call: Callable[[], Awaitable[T]], tries: int = TRIES) -> T:
    """Make a call that is harmless to repeat, up to `tries` times. Raises `PlatformError`."""
    for attempt in range(1, tries + 1):
        try:
            return await call()
        except (ApifyApiError, impit.HTTPError) as error:
            if attempt == tries or not is_passing(error):
                raise PlatformError(what, in_words(error)) from error
            logger.debug("%s: %s; trying again", what, in_words(error))
        await pause_before(attempt)
    raise AssertionError("unreachable")


@dataclass(slots=True)
class RunState:
    """What the run's next life, if it has one, wants to know: the ledger, and which sitemap files are done with.

    Neither is the last word on rows and charges: that is the dataset's and the run object's. `lives` counts the processes
    that worked on this run, this one included.
    """

    lives: int = 1
    rows: int = 0
    charged: dict[str, int] = field(default_factory=dict)
    files: dict[str, Any] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """The record."""
        state = {"version": 1, "lives": self.lives, "rows": self.rows, "charged": self.charged, "files": self.files}
        return json.dumps(state, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")

    @classmethod
    def of(cls, body: bytes | None) -> Self:
        """The state as this life begins. What cannot be read is no state: only time is lost by that."""
        try:
            state = json.loads(body) if body else {}
            if state.get("version") != 1:
                return cls(lives=1 if not state else 2)
            return cls(state["lives"] + 1, state["rows"], dict(state["charged"]), dict(state["files"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            logger.warning("The state of this run's earlier life could not be read; its sitemaps are read again.")
            return cls(lives=2)


class House:
    """The platform as this run sees it. Made by `open_house`, found by `house()`."""

    def __init__(self, client: ApifyClientAsync, run_id: str, dataset_id: str, kvs_id: str) -> None:
        self.client = client
        self.run_id = run_id
        self.dataset_id = dataset_id
        self.dataset = client.dataset(dataset_id)
        self.records = client.key_value_store(kvs_id)
        self.run = client.run(run_id)
        self.state = RunState()
        self.before_saving: Callable[[], None] = lambda: None
        """Brings the state up to date; called each time before it is written."""
        self.can_pay: Callable[[], bool] = lambda: True
        """Whether the spending limit pays for one more row (the sink knows)."""
        self.kvs_refuses = False
        """The key-value store took a record badly: said once, and the run goes on, for its rows are worth more."""

    async def load_state(self) -> None:
        """Find out whether this run had a life before. Not knowing costs time only."""
        try:
            self.state = RunState.of(await self.read_record(STATE_KEY))
        except PlatformError as error:
            logger.warning("%s. If this run was moved or restarted, its sitemaps are read again.", error)

    async def save_state(self) -> None:
        """Write the run's state. A store that refuses does not stop the run: rows and charges are known without it."""
        self.before_saving()
        try:
            await self.write_record(STATE_KEY, self.state.to_bytes(), "application/json", tries=3)
        except PlatformError as error:
            if not self.kvs_refuses:
                logger.warning("%s. The run goes on; a restart would read its sitemaps again.", error)
            self.kvs_refuses = True

    async def read_record(self, key: str) -> bytes | None:
        """A record of the run's key-value store as bytes, None where there is none."""
        return await read_bytes(self.records, key)

    async def write_record(self, key: str, body: bytes, content_type: str, tries: int = 5) -> None:
        """Write a record of the run's key-value store."""
        await patiently(
            f"Writing the record {key}", lambda: self.records.set_record(key, body, content_type=content_type), tries
        )

    async def charged_counts(self, tries: int = TRIES) -> dict[str, int]:
        """How often each event was charged in this run, as the run object knows it (the environment's may be old)."""
        run = await patiently("Reading the run", self.run.get, tries)
        return dict(run.charged_event_counts or {}) if run is not None else {}


async def read_bytes(store: Any, key: str) -> bytes | None:
    """A record as bytes; None only where the platform says that there is none."""

    async def call() -> Any:
        try:
            return await store.get_record_as_bytes(key)
        except NotFoundError:
            return None

    record = await patiently(f"Reading the record {key}", call)
    return bytes(record["value"]) if record is not None else None


_house: House | None = None


async def open_house() -> House:
    """Make this run's house from what the platform put into the environment. The Actor must be initialised."""
    global _house  # noqa: PLW0603 - one process is one run
    config = Actor.configuration
    client = ApifyClientAsync(
        token=config.token,
        api_url=config.api_base_url,
        max_retries=0,
        # Rows are alike: the fastest level packs them 70-fold, for a tenth of the default level's time.
        compression=BrotliHttpCompressor(quality=1),
    )
    ids = (config.actor_run_id, config.default_dataset_id, config.default_key_value_store_id)
    _house = House(client, *(str(one) for one in ids))
    await _house.load_state()
    return _house


def house_if_any() -> House | None:
    """The house of this run, None outside the platform."""
    return _house


def house() -> House:
    """The house of this run. Raises where `open_house` was not called."""
    if _house is None:
        raise SitemapActorError("this component works inside the Actor only")
    return _house
