"""The form of the state between runs: a head record that names shards of compressed JSON lines (spec section 7).

A shard holds a line of what it is, then one line per block of up to 1,000 pages, in columns; a column that holds one value
throughout is written as a list of that value alone. The head has each shard's SHA-256, so damage, truncation and mix-ups
are told from absence. Nothing here is executable on reading.
"""

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sitemap_actor.core.changes.facts import SiteFacts, SitemapFacts
from sitemap_actor.core.changes.snapshot import MEMBER_COLUMNS, PAGE_COLUMNS, Block
from sitemap_actor.core.errors import SitemapActorError

FORMAT = "sitemap-monitor-state"
VERSION = 1
SHARD_TEXT_BYTES = 4_000_000
"""A shard is closed when its text reaches this, so it stays below the platform's 5 MB a record whatever it compresses to."""
_MAX_TEXT_BYTES = 64_000_000
_LEVEL = 4


class StateInvalidError(SitemapActorError):
    """A record of the state is not what this version wrote: damaged, cut short, foreign, or of a newer version."""


@dataclass(slots=True)
class Head:
    """What the head record says: the site's facts, and the shards of its generation as (key, SHA-256)."""

    site: SiteFacts
    shards: list[tuple[str, str]] = field(default_factory=list)


def write_head(head: Head) -> bytes:
    """The head record."""
    site = head.site
    return _packed(
        [
            {"format": FORMAT, "version": VERSION, "record": "head", "entry": site.entry},
            {
                "generation": site.generation,
                "runs": site.runs,
                "whole": site.whole,
                "quiet": site.quiet,
                "floor": site.floor,
                "run": site.run,
                "shards": head.shards,
                "sitemaps": [facts.to_dict() for facts in site.sitemaps.values()],
            },
        ]
    )


def read_head(body: bytes, entry: str) -> Head:
    """Read a head record back. Raises StateInvalidError on anything but a head of this site and version."""
    try:
        _check(lines := list(_unpacked(body)), "head", entry)
        values = lines[1]
        sitemaps = [SitemapFacts.from_dict(item) for item in values["sitemaps"]]
        facts = (values[name] for name in ("generation", "runs", "whole", "quiet", "floor", "run"))
        site = SiteFacts(entry, *facts)
        site.sitemaps = {facts.url: facts for facts in sitemaps}
        return Head(site, [(str(key), str(digest)) for key, digest in values["shards"]])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise StateInvalidError(f"the head record cannot be read: {type(error).__name__}") from error


def write_shards(blocks: Iterable[Block], record: str, entry: str) -> Iterator[bytes]:
    """The blocks as records, each below 5 MB. `record` says what they are ("pages", "journal")."""
    first = json.dumps({"format": FORMAT, "version": VERSION, "record": record, "entry": entry}).encode()
    lines, size = [first], 0
    for line in (line for block in blocks for line in _lines(block)):
        if size and size + len(line) > SHARD_TEXT_BYTES:
            yield zlib.compress(b"\n".join(lines), _LEVEL)
            lines, size = [first], 0
        lines.append(line)
        size += len(line)
    if size:
        yield zlib.compress(b"\n".join(lines), _LEVEL)


def _lines(block: Block) -> Iterator[bytes]:
    """The block as one line, or as several where one would be too long."""
    line = json.dumps(_narrowed(block), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    pages = len(block["key"])
    if len(line) <= SHARD_TEXT_BYTES or pages == 1:
        yield line
        return
    middle = pages // 2
    yield from _lines(_part(block, 0, middle))
    yield from _lines(_part(block, middle, pages))


def _part(block: Block, start: int, end: int) -> Block:
    """The pages from `start` to before `end`, with their memberships."""
    here = [place for place, page in enumerate(block["page"]) if start <= page < end]
    part: Block = {}
    for name, column in block.items():
        part[name] = [column[place] for place in here] if name in MEMBER_COLUMNS else column[start:end]
    part["page"] = [page - start for page in part["page"]]
    return part


def read_shard(body: bytes, record: str, entry: str, digest: str | None) -> Iterator[Block]:
    """The blocks of a shard. Raises StateInvalidError where it is not the record whose SHA-256 is `digest`."""
    if digest is not None and digest_of(body) != digest:
        raise StateInvalidError("a shard is not the one that the head record names")
    try:
        lines = _unpacked(body)
        _check([next(lines)], record, entry)
        for block in lines:
            yield _widened(block)
    except (KeyError, TypeError, ValueError, StopIteration) as error:
        raise StateInvalidError(f"a shard cannot be read: {type(error).__name__}") from error


def digest_of(body: bytes) -> str:
    """A record's SHA-256."""
    return hashlib.sha256(body).hexdigest()


def _check(lines: list[Any], record: str, entry: str) -> None:
    first = lines[0]
    if first.get("format") != FORMAT or first.get("record") != record or first.get("entry") != entry:
        raise StateInvalidError(f"not a {record} record of {entry}")
    if first.get("version") != VERSION:
        raise StateInvalidError(f"version {first.get('version')!r} is not known to this program")


def _packed(values: Iterable[Any]) -> bytes:
    return zlib.compress(b"\n".join(json.dumps(value, separators=(",", ":")).encode() for value in values), _LEVEL)


def _unpacked(body: bytes) -> Iterator[Any]:
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(body, _MAX_TEXT_BYTES)
    except zlib.error as error:
        raise StateInvalidError(f"a record is damaged ({error})") from error
    if not unpacker.eof or unpacker.unused_data:
        raise StateInvalidError("a record is cut short, or longer than it should be")
    return map(json.loads, text.decode("utf-8", "surrogatepass").split("\n"))


def _narrowed(block: Block) -> dict[str, Any]:
    """The block with every column of one value as a list of that value alone."""
    narrow: dict[str, Any] = {"pages": len(block["key"]), "members": len(block["page"])}
    for name, column in block.items():
        one_value = len(column) > 1 and column.count(column[0]) == len(column)
        narrow[name] = column[:1] if one_value else column
    if block["page"] == list(range(len(block["key"]))):
        del narrow["page"]
        if block["lastmod"] == block["kept"]:
            del narrow["lastmod"]
        if block["ord"] == block["instant"]:
            del narrow["ord"]
    return narrow


def _widened(narrow: dict[str, Any]) -> Block:
    """The block as it was before `_narrowed`. Raises KeyError, TypeError or ValueError where it cannot have been one."""
    pages, members = narrow.pop("pages"), narrow.pop("members")
    block: Block = {}
    for name, column in narrow.items():
        length = members if name in MEMBER_COLUMNS else pages
        block[name] = column if len(column) == length else column * length
        if len(block[name]) != length:
            raise ValueError(f"{name} has {len(column)} values")
    if "page" not in block:
        block["page"] = list(range(pages))
        block.setdefault("lastmod", block["kept"])
        block.setdefault("ord", block["instant"])
    if not set(PAGE_COLUMNS).union(MEMBER_COLUMNS) <= block.keys():
        raise KeyError("a column is missing")
    return block
