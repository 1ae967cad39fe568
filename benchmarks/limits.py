"""What the work costs at least: one technique on one workload's files, in a process of its own.

`python -m benchmarks.limits TECHNIQUE FOLDER` prints a line of JSON: how many URLs, and the CPU seconds of the technique
alone, imports and reading from disk apart. The techniques that parse give every (loc, lastmod) at least, are safe (no DTD, no
entity of the file's own, no recovery) and need constant memory.
"""

import gzip
import hashlib
import io
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

Rows = list[tuple[str, str | None]]
_NS = "http://www.sitemaps.org/schemas/sitemap/0.9"
_PIECE = 65_536
_PACKED_PIECE = 1 << 20


def unpacked(folder: Path) -> list[bytes]:
    """The workload's sitemaps with pages, as bytes to parse."""
    bodies = [path.read_bytes() for path in sorted(folder.glob("sitemap*"))]
    plain = [gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body for body in bodies]
    return [body for body in plain if b"<sitemapindex" not in body[:500]]


def pieces(body: bytes) -> Iterator[bytes]:
    """About 64 KiB each, cut behind an entry, so that no element is in two of them."""
    start = 0
    while start < len(body):
        end = body.find(b"</url>", start + _PIECE)
        end = len(body) if end < 0 else end + len(b"</url>")
        yield body[start:end]
        start = end


def lxml_xpath(bodies: list[bytes], rows: Rows) -> None:
    """lxml: a pull parser without events builds the tree of 64 KiB at a time, XPath takes the texts out of it."""
    from lxml import etree

    names = {"namespaces": {"n": _NS}, "smart_strings": False}
    locs_of, lastmods_of = etree.XPath("n:url/n:loc/text()", **names), etree.XPath("n:url/n:lastmod/text()", **names)
    incomplete = etree.XPath("count(n:url[not(n:loc/text() and n:lastmod/text())])", **names)
    loc, lastmod = f"{{{_NS}}}loc", f"{{{_NS}}}lastmod"
    for body in bodies:
        parser = etree.XMLPullParser(
            events=("start",), tag=f"{{{_NS}}}urlset", resolve_entities=False, no_network=True, load_dtd=False,
            huge_tree=False, remove_comments=True, remove_pis=True, remove_blank_text=True, collect_ids=False,
        )  # fmt: skip
        root = None
        for piece in pieces(body):
            parser.feed(piece)
            if root is None:
                _, root = next(parser.read_events())
                assert not root.getroottree().docinfo.doctype
            locs, lastmods = locs_of(root), lastmods_of(root)
            if len(locs) == len(lastmods) == len(root) and not incomplete(root):
                rows.extend(zip(locs, lastmods, strict=True))
            elif not lastmods and len(locs) == len(root):
                rows.extend(zip(locs, repeat(None)))
            else:
                rows.extend((url.findtext(loc), url.findtext(lastmod)) for url in root)
            del root[:]
        parser.close()


def expat_append(bodies: list[bytes], rows: Rows) -> None:
    """pyexpat whose handlers are `list.append`: no Python call for an event, one loop over the list of each piece."""
    from xml.parsers import expat

    for body in bodies:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text, parser.buffer_size = True, 4 * _PIECE
        parser.StartDoctypeDeclHandler = _refuse
        if hasattr(parser, "SetReparseDeferralEnabled"):
            parser.SetReparseDeferralEnabled(False)
        events: list[str] = []
        parser.EndElementHandler = parser.CharacterDataHandler = events.append
        loc = lastmod = None
        text = ""
        for piece in pieces(body):
            parser.Parse(piece, False)
            # A name is the parser's own copy, so a text that reads like one is not taken for it.
            url, loc_name, lastmod_name = (parser.intern.get(f"{_NS} {name}") for name in ("url", "loc", "lastmod"))
            for event in events:
                if event is loc_name:
                    loc, text = text.strip(), ""
                elif event is lastmod_name:
                    lastmod, text = text.strip(), ""
                elif event is url:
                    rows.append((loc or "", lastmod))
                    loc = lastmod = None
                else:
                    text = event
            events.clear()
        parser.Parse(b"", True)


def expat_empty(bodies: list[bytes], rows: Rows) -> None:
    """pyexpat with handlers that do nothing: the measure of spec section 9."""
    from xml.parsers import expat

    for body in bodies:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = _nothing
        for piece in pieces(body):
            parser.Parse(piece, False)
        parser.Parse(b"", True)
        rows.extend([("", None)] * body.count(b"</loc>"))


def own_reader(bodies: list[bytes], rows: Rows) -> None:
    """The product's reader: all four fields, every fault counted, any file that servers send."""
    from sitemap_actor.core.sitemaps import SitemapReader

    for body in bodies:
        for entries in SitemapReader(url="http://127.0.0.1/sitemap.xml").read(io.BytesIO(body)):
            rows.extend(zip(entries.locs, entries.lastmods, strict=True))


def text_lines(bodies: list[bytes], rows: Rows) -> None:
    """A text sitemap, decoded and split."""
    for body in bodies:
        rows.extend((line, None) for line in body.decode().split("\n") if line)


def gunzip(folder: Path) -> tuple[int, float]:
    """zlib, 64 KiB in, at most 1 MiB out at a time."""
    packed = [body for path in sorted(folder.glob("*.gz")) for body in [path.read_bytes()]]
    started = time.process_time()
    for body in packed:
        unpacker = zlib.decompressobj(31)
        for start in range(0, len(body), _PIECE):
            data = body[start : start + _PIECE]
            while data:
                unpacker.decompress(data, _PACKED_PIECE)
                data = unpacker.unconsumed_tail
    return len(packed), time.process_time() - started


def _batches(folder: Path) -> Iterator[Any]:
    """The workload's rows as the product's batches."""
    from types import SimpleNamespace

    from sitemap_actor.core.rows import UrlBatch
    from sitemap_actor.core.sitemaps import SitemapReader

    reading: Any = SimpleNamespace(site=SimpleNamespace(key="http://127.0.0.1:8813"))
    file: Any = SimpleNamespace(url="http://127.0.0.1:8813/sitemap-0.xml.gz")
    for body in unpacked(folder):
        for entries in SitemapReader(url=file.url).read(io.BytesIO(body)):
            columns = (entries.locs, entries.lastmods, entries.changefreqs, entries.priorities)
            instants: list[float | None] = [None] * len(entries.locs)
            yield UrlBatch(reading, file, file.url, "2026-11-30T21:18:00Z", *columns, None, instants)


def rows_as_json(folder: Path) -> tuple[int, float]:
    """All seven fields of every row as JSON lines, from columns, to a file: the fastest way found."""
    from sitemap_actor.core.row_json import json_rows

    count, spent = 0, 0.0
    with open(os.devnull, "wb") as file:
        for batch in _batches(folder):
            started = time.process_time()
            file.write(json_rows(batch, end="\n").encode())
            spent += time.process_time() - started
            count += len(batch)
    return count, spent


def rows_by_dumps(folder: Path) -> tuple[int, float]:
    """The same rows as dicts, `json.dumps` for each."""
    count, spent = 0, 0.0
    with open(os.devnull, "w") as file:
        for batch in _batches(folder):
            started = time.process_time()
            file.writelines(json.dumps(row) + "\n" for row in batch.rows())
            spent += time.process_time() - started
            count += len(batch)
    return count, spent


def _refuse(*_: object) -> None:
    raise ValueError("a DOCTYPE")


def _nothing(*_: object) -> None:
    pass


PARSERS: dict[str, Callable[[list[bytes], Rows], None]] = {
    parse.__name__: parse for parse in (lxml_xpath, expat_append, own_reader, expat_empty, text_lines)
}
OTHERS: dict[str, Callable[[Path], tuple[int, float]]] = {
    other.__name__: other for other in (gunzip, rows_as_json, rows_by_dumps)
}


def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    if name in OTHERS:
        count, spent = OTHERS[name](folder)
        print(json.dumps({"count": count, "work_cpu": spent}))
        return
    rows: Rows = []
    count, spent, digest = 0, 0.0, hashlib.sha256()
    for body in unpacked(folder):
        started = time.process_time()
        PARSERS[name]([body], rows)
        spent += time.process_time() - started
        count += len(rows)
        digest.update(repr(rows).encode())
        rows.clear()
    print(json.dumps({"count": count, "work_cpu": spent, "rows": digest.hexdigest()[:8]}))


if __name__ == "__main__":
    main()
