"""What the sitemap tests share: reading bytes in pieces, and a plain picture of what came out."""

import io
from dataclasses import dataclass, field

from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.core.sitemaps import Entries, Outcome, SitemapReader, Unpacker

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
IMAGE = 'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
VIDEO = 'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
NEWS = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
XHTML = 'xmlns:xhtml="http://www.w3.org/1999/xhtml"'


@dataclass
class Seen:
    """Everything that one reading gave."""

    rows: list[tuple[str, str | None, str | None, str | None]] = field(default_factory=list)
    children: list[tuple[str, str | None]] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    extras: list[dict | None] = field(default_factory=list)
    batches: list[Entries] = field(default_factory=list)
    outcome: Outcome | None = None

    @property
    def locs(self) -> list[str]:
        return [row[0] for row in self.rows]

    @property
    def verdict(self) -> tuple[str, str | None]:
        return self.outcome.status, self.outcome.reason

    @property
    def faults(self) -> dict[str, int]:
        return {str(fault): count for fault, count in self.outcome.faults.items()}

    def same_as(self, other: "Seen") -> bool:
        return self.picture() == other.picture()

    def picture(self) -> tuple:
        return self.rows, self.children, self.invalid, self.extras, self.outcome


def see(
    data: bytes | str,
    *,
    size: int | None = None,
    content_type: str | None = None,
    extensions: set[str] = frozenset(),
    fast: bool = True,
    cut: SkipReason | None = None,
    detail: str | None = None,
) -> Seen:
    """Read unpacked bytes: as a file, or pushed in chunks of `size` bytes."""
    data = data.encode() if isinstance(data, str) else data
    reader = SitemapReader(
        content_type=content_type, url="https://example.com/s", extensions=frozenset(extensions), fast=fast
    )
    if size is None:
        batches = [batch for batch in reader.read(io.BytesIO(data), cut=cut, detail=detail) if batch != Entries()]
    else:
        batches = [batch for start in range(0, len(data), size) for batch in reader.feed(data[start : start + size])]
        batches += reader.close(cut=cut, detail=detail)
    seen = Seen(batches=batches, outcome=reader.outcome)
    for batch in batches:
        assert len(batch.locs) == len(batch.lastmods) == len(batch.changefreqs) == len(batch.priorities)
        seen.rows += zip(batch.locs, batch.lastmods, batch.changefreqs, batch.priorities, strict=True)
        seen.children += batch.children
        seen.invalid += batch.invalid
        if batch.extras is not None:
            assert len(batch.extras) == len(batch.locs)
            seen.extras += batch.extras
    if seen.outcome.status == "failed":
        assert not batches
    else:
        assert seen.outcome.entries == len(seen.rows) + len(seen.invalid)
        assert seen.outcome.children == len(seen.children)
    return seen


def unpack(
    data: bytes, encoding: str | None = None, *, size: int = 1_000_000, **options: object
) -> tuple[bytes, Unpacker]:
    """Unpack bytes that come in chunks of `size`."""
    unpacker = Unpacker(encoding, **options)
    pieces = [piece for start in range(0, len(data), size) for piece in unpacker.feed(data[start : start + size])]
    pieces += unpacker.close()
    assert all(len(piece) <= 1_048_576 for piece in pieces)
    return b"".join(pieces), unpacker


def fetch(data: bytes, encoding: str | None = None, **options: object) -> Seen:
    """Unpack and read, as the spider does."""
    body, unpacker = unpack(data, encoding)
    assert unpacker.unsupported is None
    cut = SkipReason.MALFORMED if unpacker.damaged else None
    seen = see(body, cut=cut, detail="gzip damaged" if cut else None, **options)
    seen.outcome.faults.update(unpacker.faults)
    return seen


def urlset(*urls: str, root: str = NS) -> str:
    """A urlset of these locs, as plain as can be."""
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {root}>{entries}</urlset>\n'
