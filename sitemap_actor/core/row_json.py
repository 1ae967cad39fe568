"""The rows of a batch as JSON text, straight from its columns: no dict for a row, no call for a text.

A column of which no text needs escaping (one look at the whole column tells) is put between quotation marks as it is; so is
nearly every one. The text is what `json.dumps` makes of the rows' dicts, character for character.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

from sitemap_actor.core.report import Row
from sitemap_actor.core.rows import Rows, UrlBatch

# Bytes that stand in a JSON string as they are; with `ascii_only`, others are escaped as well.
_AS_THEY_ARE = bytes(code for code in range(0x20, 0x100) if code not in b'"\\')
_ASCII_AS_IT_IS = bytes(code for code in _AS_THEY_ARE if code < 0x80 and code != 0x7F)


def json_rows(batch: UrlBatch, *, end: str, ascii_only: bool = False) -> str:
    """The rows of `batch` as JSON objects, `end` after each; `ascii_only` escapes all other characters."""
    quote = encode_basestring_ascii if ascii_only else encode_basestring
    pieces: list[Iterable[str]] = []
    literal = "{"
    for name, column in (
        ("url", batch.urls),
        ("lastmod", batch.lastmods),
        ("changefreq", batch.changefreqs),
        ("priority", batch.priorities),
    ):
        literal += f'"{name}": '
        if _is_plain(column, ascii_only=ascii_only):
            pieces += [repeat(f'{literal}"'), column]  # type: ignore[list-item]  # a plain column has no None
            literal = '", '
        elif column.count(None) == len(column):  # type: ignore[arg-type]  # the urls are texts, the others may be None
            literal += "null, "
        else:
            known = {text: "null" if text is None else quote(text) for text in set(column)}
            pieces += [repeat(literal), map(known.__getitem__, column)]
            literal = ", "
    literal += (
        f'"sourceSitemap": {quote(batch.file.url)}, "site": {quote(batch.reading.site.key)}, '
        f'"fetchedAt": {quote(batch.fetched_at)}'
    )
    if batch.extras is None:
        pieces.append(repeat(f"{literal}}}{end}"))
    else:
        pieces.append(_ends(literal, batch.extras, end, ascii_only=ascii_only))
    return "".join(chain.from_iterable(zip(*pieces, strict=False))) if batch.urls else ""


def json_array(rows: Sequence[Row], *, ascii_only: bool = False) -> str:
    """Rows as one JSON array."""
    if not isinstance(rows, Rows):
        return json.dumps(rows, ensure_ascii=ascii_only)
    texts = []
    for part in rows.parts:
        if isinstance(part, UrlBatch):
            texts.append(json_rows(part, end=",", ascii_only=ascii_only)[:-1])
        else:
            texts.append(json.dumps(part.changes, ensure_ascii=ascii_only)[1:-1])
    return f"[{','.join(filter(None, texts))}]"


def _is_plain(column: list[Any], *, ascii_only: bool) -> bool:
    """Whether every place of a column holds a text that stands in a JSON string as it is."""
    if None in column:
        return False
    return (
        not "".join(column)
        .encode("utf-8", "surrogatepass")
        .translate(None, _ASCII_AS_IT_IS if ascii_only else _AS_THEY_ARE)
    )


def _ends(literal: str, extras: Iterable[dict[str, Any] | None], end: str, *, ascii_only: bool) -> Iterator[str]:
    """What follows the common columns where extensions were asked for."""
    for extra in extras:
        yield f"{literal}, {json.dumps(extra, ensure_ascii=ascii_only)[1:]}{end}" if extra else f"{literal}}}{end}"
