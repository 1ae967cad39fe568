"""Splits a list of sites into parts, one for each run.

The part of a site follows from its host name and the number of parts alone. So two entries of one host are never read by two
runs at once, and in monitor mode a site stays with the memory of its part, whatever else joins or leaves the list.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from sitemap_actor.core.job import MAX_LIST_ENTRIES
from sitemap_actor.core.urls import UrlError, parse_entry


class ScaleOutError(Exception):
    """What keeps the work from going on, in a sentence for the person who started it."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """A line of the list that is no site, and why."""

    entry: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Part:
    """The sites of one run; `number` counts from 1."""

    number: int
    sites: tuple[str, ...]


def read_sites(text: str) -> tuple[list[str], list[Unusable]]:
    """The entries of a list with one site per line, each once, and the lines that are none. `#` begins a comment line."""
    sites, unusable = [], []
    lines = (line.strip() for line in text.splitlines())
    for entry in dict.fromkeys(line for line in lines if line and not line.startswith("#")):
        try:
            parse_entry(entry, allow_private=True)  # whether a private address may be read is for the run to say
        except UrlError as error:
            unusable.append(Unusable(entry, error.reason, error.detail))
        else:
            sites.append(entry)
    return sites, unusable


def parts_for(sites: Sequence[str], per_run: int) -> int:
    """How many parts make `per_run` sites each, on average."""
    return max(1, -(-len(sites) // per_run))


def split(sites: Iterable[str], count: int) -> list[Part]:
    """At most `count` parts; those without a site are left out. Raises `ScaleOutError` where a part is too large."""
    members: dict[int, list[str]] = {}
    for entry in sites:
        members.setdefault(_number_of(entry, count), []).append(entry)
    largest = max(map(len, members.values()), default=0)
    if largest > MAX_LIST_ENTRIES:
        raise ScaleOutError(
            f"A run takes {MAX_LIST_ENTRIES:,} sites, and one of {count:,} parts would have {largest:,}: use more parts."
        )
    return [Part(number, tuple(members[number])) for number in sorted(members)]


def _number_of(entry: str, count: int) -> int:
    host = urlsplit(parse_entry(entry, allow_private=True).site).hostname or ""
    return int.from_bytes(hashlib.sha256(host.encode()).digest()[:8]) % count + 1
