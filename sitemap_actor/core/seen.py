"""Which pages were seen, in 8 to 16 bytes for each: a table of digests with open addressing.

A set of the same 500,000 digests takes 36 MB, this 8, for a few hundred nanoseconds more a page. At most half of it is
filled, so that most look-ups end at the first place. Nothing can interrupt its growing, which moves every digest: so it has
its size from the start, where that is known.
"""

from array import array
from collections.abc import Iterable

_LEAST = 1 << 12  # places; always a power of two
_SPARE = 16_384  # what is on its way while a run comes to its end


class Seen:
    """A set of digests: 64 bits, signed, evenly spread, as `hash` makes them of a text. `expected`: at most so many."""

    def __init__(self, expected: int = 0) -> None:
        # A free place is 0. A digest that happens to be 0 is never found again: once in 2^64 times.
        self._table = array("q", [0]) * max(_LEAST, 1 << (2 * (expected + _SPARE) - 1).bit_length())
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, digest: int) -> bool:
        return bool(digest) and self._table[self._place_of(digest)] == digest

    def add(self, digests: list[int]) -> list[int]:
        """Add digests; return those that were there before, once for each time too many."""
        if self._count + len(digests) > len(self._table) // 2:
            self._grow()
        table, mask = self._table, len(self._table) - 1
        met: list[int] = []
        for digest in digests:
            if table[place := digest & mask]:
                met.append(digest)
            else:
                table[place] = digest
        known = self._add_slowly(met)
        self._count += len(digests) - len(known)
        return known

    def _add_slowly(self, digests: Iterable[int]) -> list[int]:
        """Add digests whose first place is taken, most of them by strangers."""
        known = []
        for digest in digests:
            place = self._place_of(digest)
            if self._table[place]:
                known.append(digest)
            else:
                self._table[place] = digest
        return known

    def _place_of(self, digest: int) -> int:
        """Where a digest stands, or would be put."""
        table, mask = self._table, len(self._table) - 1
        place = digest & mask
        while (there := table[place]) and there != digest:
            place = (place + 1) & mask
        return place

    def _grow(self) -> None:
        old = self._table
        self._table = array("q", [0]) * (2 * len(old))
        self._add_slowly(filter(None, old))
