"""The run's own corner of the platform: its API client, its ids, and the record in which a run finds itself again.

Rule: every call that is harmless to repeat is repeated here, with patience that grows and ends; the SDK's own client is used
without its retries, because it would also repeat what is not harmless (a push whose answer was lost).
"""

import asyncio
import json
import logging
import random
import time
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
FILES_KEY = "RUN-FILES"
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
class Ledger:
    """What the run's next life, if it has one, wants to know of rows and charges. It is not the last word on either: that is
    the dataset's and the run object's. `lives` counts the processes that worked on this run, this one included.
    """

    lives: int = 1
    rows: int = 0
    charged: dict[str, int] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """The record."""
        return _to_json({"version": 1, "lives": self.lives, "rows": self.rows, "charged": self.charged})

    @classmethod
    def of(cls, body: bytes | None) -> Self:
        """The ledger as this life begins. One that cannot be read is none."""
        if body is None:
            return cls()
        try:
            state = json.loads(body)
            return cls(int(state["lives"]) + 1, int(state["rows"]), dict(state["charged"]))
        except (ValueError, KeyError, TypeError):
            return cls(lives=2)


def _to_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _files_of(body: bytes | None) -> dict[str, Any]:
    """The files that earlier lives were done with. What cannot be read costs time only."""
    try:
        return dict(json.loads(body)["files"]) if body is not None else {}
    except (ValueError, KeyError, TypeError):
        logger.warning("What this run's earlier life was done with could not be read; its sitemaps are read again.")
        return {}


class House:
    """The platform as this run sees it. Made by `open_house`, found by `house()`."""

    def __init__(self, client: ApifyClientAsync, run_id: str, dataset_id: str, kvs_id: str) -> None:
        self.client = client
        self.run_id = run_id
        self.dataset_id = dataset_id
        self.dataset = client.dataset(dataset_id)
        self.records = client.key_value_store(kvs_id)
        self.run = client.run(run_id)
        self.ledger = Ledger()
        self.files: dict[str, Any] = {}
        """The sitemap files that are done with, with what a next life has to know of them (actor/resume.py)."""
        self.before_saving: Callable[[], None] = lambda: None
        """Brings `files` up to date; called each time before the state is written."""
        self.can_pay: Callable[[], bool] = lambda: True
        """Whether the spending limit pays for one more row (the sink knows)."""
        self._files_written = 0
        self._files_due = 0.0
        self._refused = False

    async def load_state(self) -> None:
        """Find out whether this run had a life before. Not knowing costs time only."""
        try:
            self.ledger = Ledger.of(await self.read_record(STATE_KEY))
            if self.ledger.lives > 1:
                self.files = _files_of(await self.read_record(FILES_KEY))
        except PlatformError as error:
            logger.warning("%s. If this run was moved or restarted, its sitemaps are read again.", error)
        self._files_written = len(self.files)

    async def save_state(self, *, whole: bool = False) -> None:
        """Write the ledger; and the files done with, where that is due (a twentieth of the time goes into it) or `whole`."""
        await self._save(STATE_KEY, self.ledger.to_bytes())
        self.before_saving()
        begun = time.monotonic()
        if len(self.files) > self._files_written and (whole or begun >= self._files_due):
            self._files_written = len(self.files)
            await self._save(FILES_KEY, _to_json({"version": 1, "files": self.files}))
            now = time.monotonic()
            self._files_due = now + 20 * (now - begun)

    async def _save(self, key: str, body: bytes) -> None:
        """Write a record of the state. A store that refuses it does not stop the run: rows and charges are known without."""
        try:
            await self.write_record(key, body, "application/json", tries=1 if self._refused else 3)
        except PlatformError as error:
            if not self._refused:
                logger.warning("%s. The run goes on; a restart would read its sitemaps again.", error)
            self._refused = True

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
