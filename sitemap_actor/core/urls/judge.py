"""Whole columns of URLs: which are rows, what their canonical forms are, what they do against the protocol.

A batch whose URLs all begin with one `scheme://host/`, spelled canonically, and hold neither `#` nor invisible
characters is its own canonical form: it needs a few passes over the joined text and costs a fraction of a microsecond
per URL. In any other batch each URL is looked at, and only those that are not plain in that sense go through the exact,
slower reading of `parts`. Both ways give the same answer.
"""

import re
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from sitemap_actor.core import addresses
from sitemap_actor.core.reasons import Fault, SkipReason
from sitemap_actor.core.urls.parts import (
    LONG_URL,
    Parts,
    UrlError,
    host_key,
    odd,
    read,
    redacted,
    refuse_private,
    resolve,
)

_MOST_ORIGINS = 10_000  # a list of ever new hosts must not grow the memory
_PLAIN_ASCII = bytes(code for code in range(0x20, 0x7F) if code != ord("#"))
_origin_of = re.compile(r"(https?://[A-Za-z0-9.:_-]+/)").match
_plain_ascii = re.compile(r"(https?://[A-Za-z0-9.:_-]+/)[ -\x22$-~]*").fullmatch


@dataclass(slots=True)
class Judged:
    """A column of URLs after judging; `urls` and `keys` are as long as the column given and in its order.

    urls: as listed, relative ones resolved (a refused one has its password removed); keys: canonical forms (the same
    list object where nothing differs; a refused URL's key is meaningless); refused: index, reason and detail of each
    URL that is no row; faults: protocol faults of the URLs that are rows.
    """

    urls: list[str]
    keys: list[str]
    refused: list[tuple[int, SkipReason, str]]
    faults: Counter[Fault]


class _Origin(NamedTuple):
    """What is known of one spelling of `scheme://host[:port]/`."""

    plain: bool  # valid, public (or allowed), and spelled canonically
    faults: tuple[Fault, ...]
    inside: str  # what a URL of the sitemap's own directory begins with; the prefix itself where that does not matter


class UrlJudge:
    """Judges the `loc` columns of one sitemap (spec 6) and counts their faults against the protocol (spec 8)."""

    def __init__(self, base_url: str, *, allow_private: bool = False) -> None:
        """Take the sitemap's final address, and whether private and local hosts pass. Raises UrlError."""
        base = read(base_url)
        self._base = base_url
        self._allow_private = allow_private
        self._scheme, self._host = base.scheme, base.host + base.port
        self._directory = base.rest.partition("?")[0].rpartition("/")[0] + "/"
        self._origins: dict[str, _Origin] = {}

    def judge(self, urls: list[str]) -> Judged:
        """Judge a column: what is no row is named with its reason, the rest is kept, and faults are counted."""
        return self._plain_batch(urls) or self._mixed_batch(urls)

    def _plain_batch(self, urls: list[str]) -> Judged | None:
        """Judge a batch of one host and nothing odd in a few passes; None where it is not such a batch."""
        prefix = _prefix(urls[0]) if urls else None
        if not prefix:
            return None
        joined, count = "\n".join(urls), len(urls)
        if not _all_start_with(joined, prefix, count) or max(map(len, urls)) > LONG_URL:
            return None
        if joined.isascii():
            if joined.encode("ascii").translate(None, _PLAIN_ASCII) != b"\n" * (count - 1):
                return None
        elif joined.count("\n") != count - 1 or odd(joined.replace("\n", " ")):
            return None
        origin = self._origin(prefix)
        if not origin.plain:
            return None
        faults = Counter(dict.fromkeys(origin.faults, count))
        inside = origin.inside
        if inside != prefix:
            outside = count - joined.count(f"\n{inside}") - joined.startswith(inside)
            if outside:
                faults[Fault.OUTSIDE_PATH] = outside
        return Judged(urls, urls, [], faults)

    def _mixed_batch(self, urls: list[str]) -> Judged:
        kept, keys = list(urls), list(urls)
        refused: list[tuple[int, SkipReason, str]] = []
        faults: Counter[Fault] = Counter()
        prefixes: list[str] = []
        origins = self._origins
        for index, url in enumerate(urls):
            found = _plain_ascii(url) if url.isascii() else (None if odd(url) else _origin_of(url))
            if found and len(url) <= LONG_URL:
                prefix = found[1]
                origin = origins.get(prefix) or self._origin(prefix)
                if origin.plain:
                    prefixes.append(prefix)
                    if not url.startswith(origin.inside):
                        faults[Fault.OUTSIDE_PATH] += 1
                    continue
            try:
                kept[index], keys[index] = self._exact(url, faults)
            except UrlError as error:
                kept[index] = keys[index] = redacted(url)
                refused.append((index, error.reason, error.detail))
        for prefix, count in Counter(prefixes).items():
            for fault in self._origin(prefix).faults:
                faults[fault] += count
        return Judged(kept, keys, refused, faults)

    def _exact(self, url: str, faults: Counter[Fault]) -> tuple[str, str]:
        """Return a URL resolved and its canonical form, counting its faults; raises UrlError where it is no row."""
        resolved = resolve(self._base, url)
        parts = read(resolved)
        if not self._allow_private:
            refuse_private(parts)
        if resolved is not url:
            faults[Fault.RELATIVE_LOC] += 1
        if len(url) > LONG_URL:
            faults[Fault.LONG_URL] += 1
        for fault in self._origin_faults(parts):
            faults[fault] += 1
        if self._same_host(parts) and not (parts.rest or "/").startswith(self._directory):
            faults[Fault.OUTSIDE_PATH] += 1
        return resolved, parts.canonical

    def _origin(self, prefix: str) -> _Origin:
        known = self._origins.get(prefix)
        if known is None:
            if len(self._origins) >= _MOST_ORIGINS:
                self._origins.clear()
            known = self._origins[prefix] = self._judge_origin(prefix)
        return known

    def _judge_origin(self, prefix: str) -> _Origin:
        try:
            parts = read(prefix)
        except UrlError:
            return _Origin(False, (), prefix)
        plain = parts.canonical == prefix and (self._allow_private or not addresses.refusal(parts.host))
        inside = prefix + self._directory[1:] if self._same_host(parts) else prefix
        return _Origin(plain, self._origin_faults(parts), inside)

    def _same_host(self, parts: Parts) -> bool:
        return parts.host + parts.port == self._host

    def _origin_faults(self, parts: Parts) -> tuple[Fault, ...]:
        other = () if self._same_host(parts) else (Fault.OTHER_HOST,)
        insecure = (Fault.HTTP_ON_HTTPS,) if (parts.scheme, self._scheme) == ("http", "https") else ()
        return other + insecure


def group_by_host(urls: list[str]) -> dict[str, list[int]]:
    """Return the indices of valid URLs under the keys of their hosts, both in order of appearance."""
    if not urls:
        return {}
    prefix = _prefix(urls[0])
    if prefix and _all_start_with("\n".join(urls), prefix, len(urls)):
        return {host_key(prefix): list(range(len(urls)))}
    groups: dict[str, list[int]] = {}
    keys: dict[str, str] = {}
    for index, url in enumerate(urls):
        spelled = _prefix(url) or url
        key = keys.get(spelled)
        if key is None:
            key = keys[spelled] = host_key(url)
        groups.setdefault(key, []).append(index)
    return groups


def _prefix(url: str) -> str | None:
    """Return `scheme://host[:port]/` as spelled, where the URL is plain up to there."""
    found = _origin_of(url)
    return found[0] if found else None


def _all_start_with(joined: str, prefix: str, count: int) -> bool:
    """Whether each of `count` URLs joined by newlines begins with the prefix (none of them holding a newline)."""
    return joined.startswith(prefix) and joined.count(f"\n{prefix}") == count - 1
