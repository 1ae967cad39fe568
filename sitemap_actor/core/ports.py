"""The ports: what the product needs of the place it runs in. `actor/` and `jobs/` implement them; settings name the class.

A class that implements a port is built with `from_crawler(crawler)` where it has one, so it may read settings.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from sitemap_actor.core.report import Row
from sitemap_actor.core.rows import Event

T = TypeVar("T")


class Sink(Protocol):
    """Where rows are saved, and charged where that applies."""

    async def open(self) -> None:
        """Get ready; after a restart of the same run, find out what it had saved and charged already."""

    async def deliver(self, rows: Sequence[Row]) -> int:
        """Save `rows` in their order and charge for them; return how many, from the front, were saved.

        Fewer than given means that the spending limit was reached at the first row left out. Raises `DeliveryError` where
        rows can be neither saved nor charged.
        """

    def has_room(self) -> bool:
        """Whether the spending limit pays for another row, of the cheapest kind."""

    def take_refused(self) -> list[tuple[Row, str]]:
        """The rows delivered since the last call that the place refuses to hold (they count as settled), with why."""

    def saved_before(self, site: str, key: str) -> bool:
        """Whether an earlier life of this run saved the page whose canonical URL is `key`."""

    def saved_before_count(self) -> int:
        """How many rows an earlier life of this run saved."""

    def charged(self) -> Mapping[Event, int] | None:
        """How often each event was charged in this run, earlier lives included; None where nothing is charged."""

    async def close(self) -> None:
        """Let go of what `open` took."""


class RecordStore(Protocol):
    """Where REPORT, SKIPPED and the other records go."""

    async def begin(self) -> None:
        """A run begins: where the place outlives runs, an earlier run's records are put away."""

    async def write(self, name: str, body: bytes, content_type: str) -> None:
        """Write one record, replacing an earlier one of that name."""

    def where(self) -> str:
        """Where a person finds the records, for the closing line."""


class StateStore(Protocol):
    """What monitor mode remembers between runs: small records under keys of `[a-zA-Z0-9!\\-_.'()]{1,256}`."""

    async def read(self, key: str) -> bytes | None:
        """The record under `key`, None where there is none. Errors are raised, never taken for absence."""

    async def write(self, key: str, body: bytes) -> None:
        """Write one record in one step, replacing an earlier one."""

    async def delete(self, key: str) -> None:
        """Delete a record, if it is there."""

    async def keys(self, prefix: str) -> list[str]:
        """All keys that start with `prefix`, sorted."""

    def identity(self) -> tuple[str, str | None]:
        """This run's id, the same again after a restart of the run, and where its rows go: a name by which a later run can
        look them up, None where none can.
        """

    async def has_ended(self, run_id: str) -> bool | None:
        """Whether the run of that id is known to have ended; None where nobody can tell."""

    async def rows_of(self, place: str, offset: int, limit: int) -> list[dict[str, Any]] | None:
        """Rows that another run saved in `place`, in order; an empty list past the last; None where the place is gone."""


class Aside(Protocol):
    """Does work that takes long while the caller, who awaits it, lets others go on."""

    def __call__(self, work: Callable[..., T], /, *given: Any) -> Awaitable[T]:
        """Call `work` with what is given; its answer, or what it raises."""


async def in_place(work: Callable[..., T], /, *given: Any) -> T:
    """The `Aside` of those who have nobody to let go on."""
    return work(*given)
