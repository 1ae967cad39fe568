"""Fuzzes unpacking, sniffing and reading: nothing may raise, and no way of reading may differ from another."""

import io
import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent.parent))

with atheris.instrument_imports(include=["sitemap_actor.core.sitemaps"]):
    from sitemap_actor.core.sitemaps import SitemapReader, Unpacker, xml

CODINGS = [None, None, None, "gzip", "br", "gz"]
TYPES = [None, "text/xml; charset=iso-8859-1", "text/plain"]
EXTENSIONS = [frozenset(), frozenset(), frozenset({"images", "news", "alternates", "videos"})]
LIMIT = 1_000_000


def unpack(data: bytes, coding: str | None, size: int) -> tuple[object, ...]:
    unpacker = Unpacker(coding, LIMIT)
    pieces = [piece for start in range(0, len(data), size) for piece in unpacker.feed(data[start : start + size])]
    pieces += unpacker.close()
    body = b"".join(pieces)
    assert len(body) == unpacker.unpacked_bytes <= LIMIT
    return body, unpacker.damaged, unpacker.layers, unpacker.unsupported, unpacker.over_limit, unpacker.faults


def read(
    data: bytes, *, size: int = 0, fast: bool = True, content_type: str | None, extensions: frozenset[str]
) -> list[object]:
    reader = SitemapReader(content_type=content_type, extensions=extensions, fast=fast)
    if size:
        batches = [batch for start in range(0, len(data), size) for batch in reader.feed(data[start : start + size])]
        batches += reader.close()
    else:
        batches = list(reader.read(io.BytesIO(data)))
    columns: list[list[object]] = [[], [], [], [], [], [], []]
    for batch in batches:
        assert len(batch.locs) == len(batch.lastmods) == len(batch.changefreqs) == len(batch.priorities) <= 1_000
        parts = (
            batch.locs,
            batch.lastmods,
            batch.changefreqs,
            batch.priorities,
            batch.extras or [],
            batch.children,
            batch.invalid,
        )
        for column, part in zip(columns, parts, strict=True):
            column.extend(part)
    assert all(columns[0]), "an empty loc came out"
    assert (reader.outcome.status == "ok") == (reader.outcome.reason is None)
    assert not (reader.outcome.status == "failed" and any(columns))
    return [columns, reader.outcome]


def one_input(data: bytes) -> None:
    # The last bytes choose the circumstances, so that ordinary files are good seeds.
    choice = atheris.FuzzedDataProvider(data[-8:])
    coding, content_type = choice.PickValueInList(CODINGS), choice.PickValueInList(TYPES)
    extensions = choice.PickValueInList(EXTENSIONS)
    size = choice.ConsumeIntInRange(1, 64)
    xml.REGION = choice.PickValueInList([24, 100, 1_000, 61_440])
    whole = unpack(data, coding, 1_000_000)
    assert whole == unpack(data, coding, size) or whole[4], "unpacking depends on the chunks"
    body = whole[0]
    assert isinstance(body, bytes)
    seen = read(body, content_type=content_type, extensions=extensions)
    assert seen == read(body, fast=False, content_type=content_type, extensions=extensions), "the fast way differs"
    assert seen == read(body, size=size, content_type=content_type, extensions=extensions), (
        "reading depends on the chunks"
    )


def main() -> None:
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
