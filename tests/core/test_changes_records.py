"""Codec, vault, journal, lease, profiles: the parts around the comparison."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitemap_actor.core.changes import codec
from sitemap_actor.core.changes.facts import SiteFacts, SitemapFacts, rolls_by_name
from sitemap_actor.core.changes.index import PageIndex
from sitemap_actor.core.changes.lease import PREFIX, STALE_SECS, Lease
from sitemap_actor.core.changes.profiles import is_profile_sitemap, profile_pages
from sitemap_actor.core.changes.site import SiteState
from sitemap_actor.core.changes.vault import Vault

ENTRY = "https://example.com/"
SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Store:
    """A StateStore in memory, for one run of several."""

    def __init__(
        self, records: dict[str, bytes] | None = None, run: str = "run-a", ended: set[str] | None = None
    ) -> None:
        self.records = {} if records is None else records
        self.run = run
        self.ended = set() if ended is None else ended

    async def read(self, key: str) -> bytes | None:
        return self.records.get(key)

    async def write(self, key: str, body: bytes) -> None:
        assert len(body) < 5_000_000
        self.records[key] = body

    async def delete(self, key: str) -> None:
        self.records.pop(key, None)

    async def keys(self, prefix: str) -> list[str]:
        return sorted(key for key in self.records if key.startswith(prefix))

    def identity(self) -> tuple[str, str | None]:
        return self.run, "place"

    async def has_ended(self, run_id: str) -> bool | None:
        return run_id in self.ended or None

    async def rows_of(self, place: str, offset: int, limit: int) -> list[dict[str, Any]] | None:
        return None


def block(keys: list[str], **columns: list[Any]) -> dict[str, list[Any]]:
    size = len(keys)
    plain: dict[str, list[Any]] = {
        "key": keys, "state": [1] * size, "first": [5] * size, "kept": [None] * size, "instant": [None] * size,
        "missing": [0] * size, "unlisted": [0] * size, "quiet": [0] * size,
        "page": list(range(size)), "sitemap": [1] * size, "url": [None] * size, "lastmod": [None] * size,
        "ord": [-3e15] * size, "changefreq": [None] * size, "priority": [None] * size, "extras": [None] * size,
    }  # fmt: skip
    return plain | columns


TEXTS = st.none() | st.text(max_size=12)


@SLOW
@given(st.data())
def test_blocks_come_back_as_they_were(data: st.DataObject) -> None:
    keys = data.draw(st.lists(st.text(st.characters(exclude_characters="\n"), max_size=20), min_size=1, max_size=9))
    size = len(keys)

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return data.draw(
            st.lists(values, min_size=size, max_size=size)
            | st.lists(values, min_size=1, max_size=1).map(lambda one: one * size)
        )

    given_block = block(
        keys, kept=column(TEXTS), instant=column(st.none() | st.floats(0, 2e9)), lastmod=column(TEXTS),
        ord=column(st.floats(-3e15, 2e9)), extras=column(TEXTS), missing=column(st.integers(0, 3)),
    )  # fmt: skip
    (shard,) = codec.write_shards([given_block], "pages", ENTRY)
    (back,) = codec.read_shard(shard, "pages", ENTRY, codec.digest_of(shard))
    assert back == given_block


def test_lone_surrogates_survive() -> None:
    given_block = block(["https://example.com/\ud800"])
    (shard,) = codec.write_shards([given_block], "pages", ENTRY)
    assert list(codec.read_shard(shard, "pages", ENTRY, None)) == [given_block]


def test_a_block_too_long_for_a_record_is_split() -> None:
    import random

    dice = random.Random(1)
    extras = ["".join(dice.choices("abcdefghijklmnop0123456789", k=60_000)) for _ in range(400)]
    given_block = block([f"https://example.com/{number}" for number in range(400)], extras=extras)
    shards = list(codec.write_shards([given_block], "pages", ENTRY))
    assert len(shards) > 1
    assert max(map(len, shards)) < 5_000_000
    back = [one for shard in shards for one in codec.read_shard(shard, "pages", ENTRY, None)]
    assert [key for one in back for key in one["key"]] == given_block["key"]
    assert [text for one in back for text in one["extras"]] == extras
    assert all(one["page"] == list(range(len(one["key"]))) for one in back)


@SLOW
@given(st.binary(max_size=60))
def test_no_bytes_are_taken_for_a_head(body: bytes) -> None:
    with pytest.raises(codec.StateInvalidError):
        codec.read_head(body, ENTRY)


def test_every_cut_and_every_flipped_byte_of_a_head_is_noticed_or_harmless() -> None:
    site = SiteFacts(ENTRY, 3, 7, whole=True)
    site.sitemaps["s"] = SitemapFacts("s", 1, ("robots.txt",), whole=True, confirmed=5, etag='"x"')
    body = codec.write_head(codec.Head(site, [("key", "digest")]))
    for size in range(len(body)):
        with pytest.raises(codec.StateInvalidError):
            codec.read_head(body[:size], ENTRY)
    for place in range(len(body)):
        changed = body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]
        try:
            assert codec.read_head(changed, ENTRY).site == site
        except codec.StateInvalidError:
            pass
    with pytest.raises(codec.StateInvalidError):
        codec.read_head(body, "https://example.org/")


def test_two_sites_never_share_a_key() -> None:
    marks = {
        Vault(Store(), entry).mark for entry in ("https://a.example/", "http://a.example/", "https://a.example/s.xml")
    }
    assert len(marks) == 3


async def test_a_crash_before_the_flip_leaves_the_old_state(tmp_path: Path) -> None:
    store = Store()
    made = iter(range(100))

    def make(facts: SiteFacts) -> SiteState:
        return SiteState(tmp_path / f"{next(made)}.sqlite", facts, now=0)

    vault = Vault(store, ENTRY)
    (await vault.open(make, journal_base=None)).close()
    await vault.flip(await vault.prepare(SiteFacts(ENTRY, 1), [block(["https://example.com/1"])]))
    before = dict(store.records)
    await vault.prepare(SiteFacts(ENTRY, 2), [block(["https://example.com/2"])])
    again = Vault(store, ENTRY)
    state = await again.open(make, journal_base=None)
    assert (state.facts.generation, state.snapshot.known, again.invalid) == (1, 1, None)
    state.close()
    assert before.items() <= store.records.items()
    await again.flip(await again.prepare(SiteFacts(ENTRY, 2), [block(["https://example.com/3"])]))
    third = Vault(store, ENTRY)
    state = await third.open(make, journal_base=None)
    assert (state.facts.generation, len(store.records)) == (2, 2)
    state.close()


class Dies(Exception):
    pass


class NoDeletes(Store):
    """Dies where it is to delete something."""

    async def delete(self, key: str) -> None:
        raise Dies


async def test_what_a_crash_after_the_flip_leaves_goes_with_the_next_change(tmp_path: Path) -> None:
    made = iter(range(100))

    def make(facts: SiteFacts) -> SiteState:
        return SiteState(tmp_path / f"{next(made)}.sqlite", facts, now=0)

    async def run(store: Store, page: str | None) -> str | None:
        """One run that remembers that page alone, or whatever it found."""
        vault = Vault(store, ENTRY)
        state = await vault.open(make, journal_base=None)
        facts = state.facts.copy()
        state.close()
        facts.generation += 1
        await vault.flip(await vault.prepare(facts, [block([page])] if page else None))
        return vault.invalid

    store = Store()
    await run(store, "https://example.com/1")
    with pytest.raises(Dies):
        await run(NoDeletes(store.records), "https://example.com/2")
    assert len(store.records) == 3
    await run(store, None)
    await run(store, "https://example.com/3")
    assert len(store.records) == 2

    # What a state that cannot be read names is not such a leftover.
    (head,) = [key for key in store.records if key.endswith("-head")]
    (kept,) = [key for key in store.records if key != head]
    store.records[head] = b"damaged"
    assert await run(store, "https://example.com/4") is not None
    for number in range(5, 8):
        assert await run(store, f"https://example.com/{number}") is None
    assert kept in store.records
    assert len(store.records) == 4  # head, shard, and the two kept aside


@SLOW
@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, max_size=300), st.lists(st.integers(-(2**63), 2**63 - 1))
)
def test_the_page_index_is_a_dictionary(entered: list[int], asked: list[int]) -> None:
    index, plain = PageIndex(), {digest: number for number, digest in enumerate(entered, 1)}
    index._allot(4)
    for digest, number in plain.items():
        index.add([digest], [number])
    every = [*entered, *asked, 0]
    assert index.find(every) == [plain.get(digest, 0) for digest in every]


# --- lease


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0
        self.meanwhile: list[Any] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, secs: float) -> None:
        self.now += secs
        for action in self.meanwhile:
            await action()


def lease(store: Store, clock: Clock) -> Lease:
    return Lease(store, clock=clock, sleep=clock.sleep)


async def test_the_second_run_finds_the_lease_of_the_first() -> None:
    clock, records = Clock(), {}
    first = lease(Store(records, "b"), clock)
    assert await first.acquire() is None
    assert await lease(Store(records, "a"), clock).acquire() == "b"
    assert await lease(Store(records, "b"), clock).acquire() is None  # the same run, after a restart
    await first.release()
    assert await lease(Store(records, "a"), clock).acquire() is None


@pytest.mark.parametrize("ids", [("a", "b"), ("b", "a")])
async def test_of_two_that_start_together_the_lowest_id_stays(ids: tuple[str, str]) -> None:
    clock, records = Clock(), {}
    outcomes: dict[str, str | None] = {}
    late = lease(Store(records, ids[1]), Clock())

    async def other() -> None:
        clock.meanwhile.clear()
        # It looked before the first one claimed, and claims now.
        await late._claim(holds=False)
        outcomes[ids[1]] = await late._other(before_claim=False)

    clock.meanwhile.append(other)
    outcomes[ids[0]] = await lease(Store(records, ids[0]), clock).acquire()
    assert {run for run, winner in outcomes.items() if winner is None} == {"a"}
    assert outcomes["b"] == "a"


async def test_a_crashed_holder_is_taken_over_once_its_end_is_known() -> None:
    clock, records = Clock(), {}
    await lease(Store(records, "a"), clock).acquire()
    assert await lease(Store(records, "b"), clock).acquire() == "a"
    assert await lease(Store(records, "b", {"a"}), clock).acquire() is None
    assert [json.loads(body)["run"] for key, body in records.items() if key.startswith(PREFIX)] == ["b"]


async def test_a_holder_that_does_not_renew_is_taken_over_and_notices() -> None:
    clock, records = Clock(), {}
    first = lease(Store(records, "a"), clock)
    await first.acquire()
    clock.now += STALE_SECS - 1
    assert await first.renew()
    clock.now += STALE_SECS - 1
    assert await lease(Store(records, "b"), clock).acquire() == "a"
    clock.now += 1
    assert await lease(Store(records, "b"), clock).acquire() is None
    assert not await first.renew()
    await first.release()
    assert [json.loads(body)["run"] for body in records.values()] == ["b"]


# --- names


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/users/joe", True), ("/users/joe/", True), ("/USERS/Joe", True), ("/author/x?y=1", True), ("/people/x#a", True),
        ("/users", False), ("/users/", False), ("/users/joe/posts", False), ("/en/users/joe", False), ("/superusers/joe", False),
        ("/?next=/users/joe", False), ("/users//", False),
    ],
)  # fmt: skip
def test_profile_pages(path: str, expected: bool) -> None:
    assert profile_pages(["https://example.com/a", f"https://example.com{path}"]) == ([1] if expected else [])


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://e.com/sitemap.users.xml", True), ("https://e.com/members.xml.gz", True), ("https://e.com/sitemap-authors1.xml", True),
        ("https://e.com/author-sitemap.xml", True), ("https://e.com/userprofiles.xml", False), ("https://users.com/sitemap.xml", False),
        ("https://e.com/s.xml?type=users", False), ("https://e.com/a/People/1.xml", True), ("https://e.com/%75sers.xml", True),
        ("https://e.com/sitemap_user_1.xml", True),
    ],
)  # fmt: skip
def test_profile_sitemaps(url: str, expected: bool) -> None:
    assert is_profile_sitemap(url) is expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://news.example.com/sitemap.xml", False), ("https://e.com/News/s.xml", True), ("https://e.com?x=news", True),
        ("https://e.com/latest.xml", True), ("https://e.com/s.xml", False),
    ],
)  # fmt: skip
def test_rolling_by_name(url: str, expected: bool) -> None:
    assert rolls_by_name(url, ["LATEST", ""]) is expected
