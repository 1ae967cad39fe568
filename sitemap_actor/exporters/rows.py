"""Feed exporters that write one line (or element) per row of a batch, so that `-O urls.csv` is what a user expects.

The stock exporters cost 9 microseconds a row and more; csv and JSON are therefore written from a batch's columns, with the
stock classes doing everything else (headers, options, encodings). Where a feed asks for other fields, an indent or another
encoding, and for items that are no batches, the stock way is taken.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exporters import (
    CsvItemExporter,
    JsonItemExporter,
    JsonLinesItemExporter,
    MarshalItemExporter,
    PickleItemExporter,
    XmlItemExporter,
)

from sitemap_actor.core.rows import EXTRACT_COLUMNS, MONITOR_COLUMNS, ChangeBatch, UrlBatch
from sitemap_actor.run import run_of


def rows_of(item: Any) -> Iterator[dict[str, Any]]:
    """The rows of a batch; any other item is its own row."""
    return item.rows() if isinstance(item, UrlBatch | ChangeBatch) else iter((item,))


def json_rows(batch: UrlBatch, quote: Callable[[str], str]) -> list[str]:
    """The rows of a batch as JSON objects, without a dict for each; `quote` makes a JSON string of a text."""
    tail = (
        f', "sourceSitemap": {quote(batch.file.url)}, "site": {quote(batch.reading.site.key)}'
        f', "fetchedAt": {quote(batch.fetched_at)}'
    )
    # Few different values stand in these two columns.
    frequent = {value: "null" if value is None else quote(value) for value in {*batch.changefreqs, *batch.priorities}}
    freqs = map(frequent.__getitem__, batch.changefreqs)
    priorities = map(frequent.__getitem__, batch.priorities)
    lastmods = ["null" if lastmod is None else quote(lastmod) for lastmod in batch.lastmods]
    ends: Iterable[str] = repeat(tail + "}") if batch.extras is None else _ends(tail, batch.extras, quote)
    return [
        f'{{"url": {url}, "lastmod": {lastmod}, "changefreq": {freq}, "priority": {priority}{end}'
        for url, lastmod, freq, priority, end in zip(
            map(quote, batch.urls), lastmods, freqs, priorities, ends, strict=False
        )
    ]


def _ends(tail: str, extras: Iterable[dict[str, Any] | None], quote: Callable[[str], str]) -> Iterator[str]:
    """What follows the common columns where extensions were asked for."""
    ascii_only = quote is encode_basestring_ascii
    for extra in extras:
        yield f"{tail}, {json.dumps(extra, ensure_ascii=ascii_only)[1:]}" if extra else tail + "}"


class _Rows:
    """Exports each row of a batch as an item of its own."""

    def export_item(self, item: Any) -> None:
        """Write the rows."""
        for row in rows_of(item):
            super().export_item(row)  # type: ignore[misc]


class JsonLinesRowsExporter(_Rows, JsonLinesItemExporter):
    """One JSON object a line."""

    def export_item(self, item: Any) -> None:
        """Write the rows."""
        if isinstance(item, UrlBatch) and self.fields_to_export is None and self.encoding in {None, "utf-8"}:
            quote = encode_basestring if self.encoding else encode_basestring_ascii
            lines = json_rows(item, quote)
            lines.append("")
            self.file.write("\n".join(lines).encode())
        else:
            super().export_item(item)


class JsonRowsExporter(_Rows, JsonItemExporter):
    """One JSON array of objects."""

    def export_item(self, item: Any) -> None:
        """Write the rows."""
        plain = self.fields_to_export is None and self.encoding in {None, "utf-8"} and not self.encoder.indent
        if isinstance(item, UrlBatch) and plain:
            quote = encode_basestring if self.encoding else encode_basestring_ascii
            self._add_comma_after_first()
            self.file.write(",\n".join(json_rows(item, quote)).encode())
        else:
            super().export_item(item)


class CsvRowsExporter(_Rows, CsvItemExporter):
    """One line a row; the columns are those of the job, so that the header does not depend on the first row."""

    def __init__(self, *args: Any, columns: list[str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._own_columns = not self.fields_to_export
        if self._own_columns:
            self.fields_to_export = columns or list(EXTRACT_COLUMNS)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Take the columns from the job."""
        job = run_of(crawler).job
        columns = [*(MONITOR_COLUMNS if job.conduct.remembers else EXTRACT_COLUMNS), *job.extensions]
        return cls(*args, columns=columns, **kwargs)

    def export_item(self, item: Any) -> None:
        """Write the rows."""
        if not (isinstance(item, UrlBatch) and self._own_columns and item.extras is None):
            super().export_item(item)
            return
        if self._headers_not_written:
            self._headers_not_written = False
            self._write_headers_and_set_fields_to_export({})
        same = repeat(item.file.url), repeat(item.reading.site.key), repeat(item.fetched_at)
        self.csv_writer.writerows(zip(item.urls, item.lastmods, item.changefreqs, item.priorities, *same, strict=False))

    def _join_if_needed(self, value: Any) -> Any:
        """A list of objects (an extension) as JSON; nothing is lost in a cell."""
        return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


class XmlRowsExporter(_Rows, XmlItemExporter):
    """One `item` element a row."""


class PickleRowsExporter(_Rows, PickleItemExporter):
    """One pickle a row."""


class MarshalRowsExporter(_Rows, MarshalItemExporter):
    """One marshalled row after the other."""
