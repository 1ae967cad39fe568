"""The ports on the platform's key-value stores: records in the run's own store, monitor mode's memory in a named one.

At home they use the run's own client, whose patience is shorter than the SDK's: an aborted run has 30 s to live.
"""

import json
from typing import Any, Self

from apify import Actor
from apify.storages import KeyValueStore
from scrapy.crawler import Crawler

from sitemap_actor import process
from sitemap_actor.actor.house import House, PlatformError, house, patiently, read_bytes

_ENDED = frozenset({"SUCCEEDED", "FAILED", "TIMED-OUT", "ABORTED"})
_BYTES = "application/octet-stream"
TRIES = 5


def store_name(state_key: str) -> str:
    """The name of the store that holds what runs with this `stateKey` remember."""
    return f"sitemap-monitor-{state_key}-state"


class PlatformRecordStore:
    """RecordStore on the run's default key-value store, at home."""

    def __init__(self, home: House | None = None) -> None:
        self._house = home or house()

    async def write(self, name: str, body: bytes, content_type: str) -> None:
        """Write one record, replacing an earlier one of that name. Raises `PlatformError`."""
        await self._house.write_record(name, body, content_type, TRIES)

    async def begin(self) -> None:
        """Keep what is there: a run has a store of its own, and what lies in it is an earlier life's."""

    def where(self) -> str:
        """Where a person finds the records."""
        return "the run's key-value store (Storage tab)"


class LocalRecordStore:
    """RecordStore on the SDK's key-value store on files."""

    async def write(self, name: str, body: bytes, content_type: str) -> None:
        """Write one record. The SDK serialises JSON by itself, so it gets the value."""
        value: Any = json.loads(body) if content_type.startswith("application/json") else body
        await Actor.set_value(name, value, content_type=content_type)

    async def begin(self) -> None:
        """Keep what is there: the SDK empties the store when a local run begins."""

    def where(self) -> str:
        """The folder, as the SDK names it."""
        return f"{Actor.configuration.storage_dir}/key_value_stores/default"


class PlatformStateStore:
    """StateStore on the account's named key-value store, at home."""

    def __init__(self, state_key: str, home: House | None = None) -> None:
        self._name = store_name(state_key)
        self._house = home or house()
        self._store: Any = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Use the store that the job's `stateKey` names."""
        return cls(_state_key(crawler))

    async def _opened(self) -> Any:
        """The store's client; the store is made at the first use."""
        if self._store is None:
            stores = self._house.client.key_value_stores()
            found = await patiently("Opening the state", lambda: stores.get_or_create(name=self._name))
            self._store = self._house.client.key_value_store(found.id)
        return self._store

    async def read(self, key: str) -> bytes | None:
        """The record under `key`, None where the platform says that there is none."""
        return await read_bytes(await self._opened(), key)

    async def write(self, key: str, body: bytes) -> None:
        """Write one record in one step."""
        store = await self._opened()
        await patiently(f"Writing the state {key}", lambda: store.set_record(key, body, content_type=_BYTES))

    async def delete(self, key: str) -> None:
        """Delete a record, if it is there."""
        store = await self._opened()
        await patiently(f"Deleting the state {key}", lambda: store.delete_record(key))

    async def keys(self, prefix: str) -> list[str]:
        """All keys that start with `prefix`, sorted."""
        store = await self._opened()
        keys: list[str] = []
        start: str | None = None
        while True:
            page = await self._page(store, prefix, start)
            keys += [item.key for item in page.items]
            start = page.next_exclusive_start_key
            if not page.is_truncated or start is None:
                return sorted(keys)

    @staticmethod
    async def _page(store: Any, prefix: str, start: str | None) -> Any:
        return await patiently("Listing the state", lambda: store.list_keys(prefix=prefix, exclusive_start_key=start))

    async def has_ended(self, run_id: str) -> bool | None:
        """Whether the run of that id is known to have ended; None where the platform does not say."""
        try:
            run = await patiently("Reading a run", lambda: self._house.client.run(run_id).get(), TRIES)
        except PlatformError:
            return None
        return str(getattr(run.status, "value", run.status)) in _ENDED if run is not None else None

    async def rows_of(self, dataset_id: str, offset: int, limit: int) -> list[dict[str, Any]] | None:
        """Rows of another run's dataset, in order; None where that dataset is gone."""
        dataset = self._house.client.dataset(dataset_id)
        if not offset and await patiently("Reading a dataset", dataset.get) is None:
            return None
        page = await patiently("Reading a dataset", lambda: dataset.list_items(offset=offset, limit=limit))
        return list(page.items)

    def identity(self) -> tuple[str, str]:
        """This run's id and the id of the dataset that its rows go to, for lease and journal."""
        return self._house.run_id, self._house.dataset_id


class LocalStateStore:
    """StateStore on the SDK's named key-value store on files."""

    def __init__(self, state_key: str) -> None:
        self._name = store_name(state_key)
        self._run = process.new_identity()
        self._store: KeyValueStore | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Use the store that the job's `stateKey` names."""
        return cls(_state_key(crawler))

    async def _opened(self) -> KeyValueStore:
        if self._store is None:
            self._store = await Actor.open_key_value_store(name=self._name)
        return self._store

    async def read(self, key: str) -> bytes | None:
        """The record under `key`, None where there is none."""
        value = await (await self._opened()).get_value(key)
        return bytes(value) if value is not None else None

    async def write(self, key: str, body: bytes) -> None:
        """Write one record in one step (the SDK writes a file beside it and renames)."""
        await (await self._opened()).set_value(key, body, content_type=_BYTES)

    async def delete(self, key: str) -> None:
        """Delete a record, if it is there."""
        await (await self._opened()).delete_value(key)

    async def keys(self, prefix: str) -> list[str]:
        """All keys that start with `prefix`, sorted."""
        store = await self._opened()
        return sorted([item.key async for item in store.iterate_keys() if item.key.startswith(prefix)])

    async def has_ended(self, run_id: str) -> bool | None:
        """Whether the process of that id is gone; None where it ran on another machine."""
        return process.has_ended(run_id)

    async def rows_of(self, place: str, offset: int, limit: int) -> list[dict[str, Any]] | None:
        """Nothing is looked up: the SDK empties the local dataset when a run begins."""
        return None

    def identity(self) -> tuple[str, str | None]:
        """This process; its rows cannot be looked up by a later run."""
        return self._run, None


def _state_key(crawler: Crawler) -> str:
    from sitemap_actor.run import run_of  # noqa: PLC0415 - records are written where there is no crawl

    return run_of(crawler).job.state_key
