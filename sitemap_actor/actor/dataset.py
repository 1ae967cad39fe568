"""Rows into the run's dataset, each exactly once.

The platform takes a push as a whole or not at all, but its answer may get lost, and nothing makes a repeated push harmless.
So a push is never repeated on trust: after anything but a clear answer the dataset's tail is read until it is sure which rows
arrived, and only the missing ones are pushed again. A push that the platform rejects because of some rows (the dataset's
schema, their size) is narrowed down to those; they are handed back as refused, and all others are saved.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import impit
from apify import Actor
from apify.storages import Dataset
from apify_client.errors import ApifyApiError

from sitemap_actor.actor.house import TRIES, House, PlatformError, in_words, is_passing, patiently, pause_before
from sitemap_actor.core.report import Row
from sitemap_actor.core.row_json import json_array
from sitemap_actor.core.rows import Event, Rows, count_events

logger = logging.getLogger(__name__)

MAX_CALL_ROWS = 1_000
MAX_BODY_BYTES = 4_500_000  # the platform takes 5 MB a call
PAGE_ROWS = 5_000
UNSURE_PAUSES_SECS = (0.0, 0.5, 1.5, 3.0)
"""When the tail is read after a push without a clear answer: the platform may still be busy with it."""


@dataclass(slots=True)
class Receipt:
    """What became of pushed rows; filled while pushing, so that it is true after an error too."""

    saved: int = 0
    events: Counter[Event] = field(default_factory=Counter)
    """The events of the rows saved."""
    refused: list[tuple[Row, str]] = field(default_factory=list)

    def note(self, rows: Sequence[Row]) -> None:
        """Rows were saved."""
        self.saved += len(rows)
        self.events += count_events(rows)


class RowStore(Protocol):
    """Where a sink puts its rows."""

    def rows_before(self) -> AsyncIterator[list[Row]]:
        """The rows that an earlier life of this run left, page by page, with the fields url, site and changeType."""

    async def push(self, rows: Sequence[Row], receipt: Receipt) -> None:
        """Save `rows` in their order. Raises `PlatformError` where rows are left that can be neither saved nor refused."""


def _calls(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """The rows in the portions in which they are pushed."""
    if isinstance(rows, Rows):
        yield from rows.calls(MAX_CALL_ROWS)
    else:
        for start in range(0, len(rows), MAX_CALL_ROWS):
            yield rows[start : start + MAX_CALL_ROWS]


def _encoded(rows: Sequence[Row]) -> str:
    """The rows as JSON that UTF-8 can carry."""
    body = json_array(rows)
    if not body.isascii():
        try:
            body.encode()
        except UnicodeEncodeError:
            return json_array(rows, ascii_only=True)
    return body


class PlatformDataset:
    """The run's default dataset at home. Rows are pushed by this class alone, so it knows how many there are."""

    def __init__(self, house: House) -> None:
        self._api = house.dataset
        self._count = 0

    async def rows_before(self) -> AsyncIterator[list[Row]]:
        """See `RowStore`. From here on the dataset's size is known."""
        while True:
            page = await self._read(self._count, PAGE_ROWS, ["url", "site", "changeType", "sourceSitemap"])
            if not page:
                return
            self._count += len(page)
            yield page

    async def _read(self, offset: int, limit: int, fields: list[str] | None = None) -> list[Row]:
        async def call() -> Any:
            return await self._api.list_items(offset=offset, limit=limit, fields=fields)

        page = await patiently("Reading the dataset", call)
        return list(page.items)

    async def push(self, rows: Sequence[Row], receipt: Receipt) -> None:
        """See `RowStore`."""
        for call in _calls(rows):
            await self._push(call, receipt)

    async def _push(self, rows: Sequence[Row], receipt: Receipt) -> None:
        """Push in one call, or in as many as the rows' size or the platform's refusals make necessary."""
        body = _encoded(rows)
        if len(body) > MAX_BODY_BYTES // 4 and len(body.encode()) > MAX_BODY_BYTES and len(rows) > 1:
            await self._push_halves(rows, receipt)
            return
        refusal = await self._push_whole(rows, body, receipt)
        if refusal is None:
            return
        bad = _named(refusal, len(rows))
        if len(rows) == 1:
            receipt.refused.append((rows[0], _why(refusal)))
        elif bad:
            receipt.refused += [(rows[place], why) for place, why in bad.items()]
            good = [row for place, row in enumerate(rows) if place not in bad]
            if good:
                await self._push(good, receipt)
        else:
            await self._push_halves(rows, receipt)

    async def _push_halves(self, rows: Sequence[Row], receipt: Receipt) -> None:
        middle = len(rows) // 2
        await self._push(rows[:middle], receipt)
        await self._push(rows[middle:], receipt)

    async def _push_whole(self, rows: Sequence[Row], body: str, receipt: Receipt) -> ApifyApiError | None:
        """Push until every row is in the dataset, or the platform refuses the push because of what is in it."""
        missing = rows
        for attempt in range(1, TRIES + 1):
            try:
                await self._api.push_items(body)
            except (ApifyApiError, impit.HTTPError) as error:
                if isinstance(error, ApifyApiError) and error.status_code in {400, 413}:
                    return error
                if not is_passing(error):
                    raise PlatformError("Saving rows", in_words(error)) from error
                logger.info(
                    "The dataset did not take %d rows (%s); looking at what arrived.", len(missing), in_words(error)
                )
                left = await self._not_arrived(missing, surely_none=_is_rate_limit(error))
                self._note(receipt, [row for row in missing if row not in left] if len(left) < len(missing) else [])
                if not left:
                    return None
                if len(left) < len(missing):
                    missing, body = left, _encoded(left)
                if attempt == TRIES:
                    raise PlatformError("Saving rows", in_words(error)) from error
                await pause_before(attempt)
            else:
                self._note(receipt, missing)
                return None
        raise AssertionError("unreachable")

    def _note(self, receipt: Receipt, rows: Sequence[Row]) -> None:
        self._count += len(rows)
        receipt.note(rows)

    async def _not_arrived(self, rows: Sequence[Row], *, surely_none: bool) -> Sequence[Row]:
        """Those of the pushed rows that are not in the dataset."""
        if surely_none:
            return rows
        for pause in UNSURE_PAUSES_SECS:
            await asyncio.sleep(pause)
            tail = await self._read(self._count, len(rows))
            if tail:
                there = {_mark(row) for row in tail}
                return [row for row in rows if _mark(row) not in there]
        return rows


def _mark(row: Row) -> tuple[Any, ...]:
    return row.get("url"), row.get("site"), row.get("changeType"), row.get("sourceSitemap")


def _is_rate_limit(error: Exception) -> bool:
    return isinstance(error, ApifyApiError) and error.status_code == 429


def _named(error: ApifyApiError, count: int) -> dict[int, str]:
    """The places of the rows that the platform names as invalid, with why; none where it names none."""
    data: Any = error.data
    items = data.get("invalidItems") if isinstance(data, dict) else None
    bad = {}
    for item in items if isinstance(items, list) else []:
        place = item.get("itemPosition") if isinstance(item, dict) else None
        if isinstance(place, int) and 0 <= place < count:
            bad[place] = _why(error)
    return bad


def _why(error: ApifyApiError) -> str:
    return "too large for the dataset" if error.status_code == 413 else "not what the dataset's schema allows"


class LocalDataset:
    """The SDK's dataset on files. A local run has no earlier life: what lies there is another run's."""

    def __init__(self) -> None:
        self._dataset: Dataset | None = None

    async def rows_before(self) -> AsyncIterator[list[Row]]:
        """See `RowStore`."""
        self._dataset = await Actor.open_dataset()
        nothing: tuple[list[Row], ...] = ()
        for page in nothing:
            yield page

    async def push(self, rows: Sequence[Row], receipt: Receipt) -> None:
        """See `RowStore`."""
        assert self._dataset is not None  # noqa: S101 - rows_before comes first
        await self._dataset.push_data(list(rows))
        receipt.note(rows)
