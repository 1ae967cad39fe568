"""The response of our download handler: a body on disk (or in 1 MiB of memory), and what was seen while it came."""

from collections import Counter
from dataclasses import dataclass, field
from typing import IO, Any

from scrapy.http import Response

from sitemap_actor.core.reasons import Fault


@dataclass(slots=True)
class Arrival:
    """How a body came in. Sizes in bytes; `wire_bytes` as sent, `unpacked_bytes` after every gzip layer."""

    wire_bytes: int = 0
    unpacked_bytes: int = 0
    short: bool = False
    """The connection ended before the body did (Content-Length, last chunk), or was reset."""
    short_detail: str | None = None
    timed_out: bool = False
    """`short` because its time was up: the server stopped sending, or was too slow with the whole of it."""
    cut: bool = False
    """We stopped reading on purpose: robots.txt past 500 KiB, HTML where a file was expected, the body of an error."""
    over_limit: bool = False
    """More than 50 MiB, packed or unpacked: nothing was kept of it."""
    damaged: bool = False
    """A gzip layer was cut, corrupt, or ended in a wrong checksum."""
    unsupported: str | None = None
    """The coding or container that is not read (br, zstd, zip, ...)."""
    layers: int = 0
    """gzip layers found by their magic, the HTTP coding not counted."""
    faults: Counter[Fault] = field(default_factory=Counter)


class SpooledResponse(Response):
    """A Scrapy response whose body is a file.

    `file` holds the unpacked body, at position 0 (None for a response without one); whoever reads it calls `close`.
    `body` and `head` are its first 64 KiB; for robots.txt `body` is all that was read (at most 500 KiB).
    Everything in `Arrival` is an attribute here too.
    """

    __slots__ = ("arrival", "file", "head")

    attributes = (*Response.attributes, "file", "arrival", "head")

    def __init__(
        self,
        *args: Any,
        file: IO[bytes] | None = None,
        arrival: Arrival | None = None,
        head: bytes | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.file = file
        self.arrival = arrival or Arrival()
        self.head = self.body[:65_536] if head is None else head

    def close(self) -> None:
        """Close and so delete the file (copies made by `replace` share it). May be called more than once."""
        if self.file is not None:
            self.file.close()

    def to_dict(self) -> dict[str, Any]:
        """Refuse: an open file cannot be stored, so a response of ours cannot wait on disk."""
        raise TypeError("a SpooledResponse cannot be serialised: its body is an open file")

    @property
    def wire_bytes(self) -> int:
        """Bytes of the body as sent."""
        return self.arrival.wire_bytes

    @property
    def unpacked_bytes(self) -> int:
        """Bytes of the body once unpacked."""
        return self.arrival.unpacked_bytes

    @property
    def short(self) -> bool:
        """Whether the connection ended before the body did."""
        return self.arrival.short

    @property
    def cut(self) -> bool:
        """Whether we stopped reading on purpose."""
        return self.arrival.cut

    @property
    def over_limit(self) -> bool:
        """Whether the body passed the size limit, packed or unpacked."""
        return self.arrival.over_limit

    @property
    def damaged(self) -> bool:
        """Whether a gzip layer was cut or corrupt."""
        return self.arrival.damaged

    @property
    def unsupported(self) -> str | None:
        """The coding or container that is not read, or None."""
        return self.arrival.unsupported

    @property
    def layers(self) -> int:
        """gzip layers found by their magic."""
        return self.arrival.layers

    @property
    def faults(self) -> Counter[Fault]:
        """Protocol faults of packing."""
        return self.arrival.faults
