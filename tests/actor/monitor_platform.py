"""The fake platform with several runs, and what monitor mode left there, for tests."""

from collections import Counter
from copy import deepcopy
from typing import Any

from sitemap_actor.core.changes import codec
from tests.actor.fake_platform import FakePlatform, Store

_HELD = (
    *("number", "run_id", "run", "dataset", "kvs", "stores", "statuses", "prices", "limit_usd"),
    *("charges", "old_charges", "repeats", "messages", "calls", "_keys", "_visible"),
)


class Platform(FakePlatform):
    """Runs one after the other, each with a dataset and a store of its own."""

    def __init__(self) -> None:
        self.number = 0
        self.dataset, self.kvs = "dataset0", "kvs0"
        self.old_charges: list[list[tuple[str, int, str]]] = []
        super().__init__()
        self.next_run()

    def next_run(self, prices: dict[str, float] | None = None, limit: float | None = None) -> None:
        """The run before is over; another one begins."""
        self.statuses[self.run_id] = "FAILED"
        self.number += 1
        self.run_id = f"runOfTheTest{self.number:04}"
        self.statuses[self.run_id] = "RUNNING"
        self.dataset, self.kvs = f"dataset{self.number}", f"kvs{self.number}"
        self.stores["datasets", self.dataset] = Store("datasets", self.dataset)
        self.stores["key-value-stores", self.kvs] = Store("key-value-stores", self.kvs)
        self.old_charges.append(self.charges)
        self.charges = []
        self.begin_run(prices, limit, {"apify-actor-start": 1} if prices else None)

    def begin_run(self, *args: Any, **more: Any) -> None:
        super().begin_run(*args, **more)
        self.run |= {"defaultDatasetId": self.dataset, "defaultKeyValueStoreId": self.kvs}

    def env(self, **more: Any) -> dict[str, str]:
        return super().env(**more) | {
            "ACTOR_DEFAULT_DATASET_ID": self.dataset,
            "ACTOR_DEFAULT_KEY_VALUE_STORE_ID": self.kvs,
        }

    def snapshot(self) -> dict[str, Any]:
        """Everything the platform holds, to `restore` later."""
        return deepcopy({name: getattr(self, name) for name in _HELD})

    def restore(self, snapshot: dict[str, Any]) -> None:
        self.__dict__.update(deepcopy(snapshot))
        self.faults.clear()

    @property
    def items(self) -> list[Any]:
        return self.stores["datasets", self.dataset].items

    @property
    def records(self) -> dict[str, tuple[bytes, str]]:
        return self.stores["key-value-stores", self.kvs].records

    def all_charged(self) -> Counter[str]:
        """What all runs were charged."""
        total: Counter[str] = Counter()
        for charges in [*self.old_charges, self.charges]:
            for event, count, _key in charges:
                total[event] += count
        return total

    def state(self) -> dict[str, bytes]:
        """The records of the named store of monitor mode."""
        (store,) = (one for (kind, _id), one in self.stores.items() if kind == "key-value-stores" and one.name)
        return {key: body for key, (body, _type) in store.records.items()}


def remembered(state: dict[str, bytes], entry: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The pages and the sitemaps that the state holds, without times and numbers."""
    (head,) = (body for key, body in state.items() if key.endswith("-head"))
    read = codec.read_head(head, entry)
    pages: dict[str, Any] = {}
    names = {facts.number: facts.url for facts in read.site.sitemaps.values()}
    for key, digest in read.shards:
        for block in codec.read_shard(state[key], "pages", entry, digest):
            at: list[list[Any]] = [[] for _ in block["key"]]
            for page, sitemap, lastmod in zip(block["page"], block["sitemap"], block["lastmod"], strict=True):
                at[page].append((names[sitemap], lastmod))
            columns = (block[name] for name in ("key", "state", "kept", "instant", "missing", "unlisted", "quiet"))
            pages |= {
                key: (*rest, sorted(places))
                for (key, *rest), places in zip(zip(*columns, strict=True), at, strict=True)
            }
    sitemaps = {}
    for facts in read.site.sitemaps.values():
        values = facts.to_dict()
        values.pop("number", None)
        sitemaps[facts.url] = values
    return pages, {"whole": read.site.whole, "runs": read.site.runs, "sitemaps": sitemaps}
