"""Memory stays flat and time linear, whatever the file is made of."""

import io
import time
import tracemalloc
from collections.abc import Iterator

import pytest

from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.core.sitemaps import SitemapReader
from tests.core.sitemap_tools import NS, see

A = "https://example.com/a"
START = f"<urlset {NS}><url><loc>{A}</loc></url>"
MIB = 1_048_576


class Endless(io.RawIOBase):
    """A file of a start, a part many times over, and an end, never held whole."""

    def __init__(self, start: str, part: str, times: int, end: str) -> None:
        self._pieces = self._cut(start.encode(), part.encode(), times, end.encode())
        self._rest = b""
        self._at = 0

    @staticmethod
    def _cut(start: bytes, part: bytes, times: int, end: bytes) -> Iterator[bytes]:
        yield start
        many = max(1, 65_536 // len(part))
        for _ in range(times // many):
            yield part * many
        yield part * (times % many)
        yield end

    def read(self, size: int = -1) -> bytes:
        while len(self._rest) < size:
            piece = next(self._pieces, None)
            if piece is None:
                break
            self._rest += piece
        out, self._rest = self._rest[:size], self._rest[size:]
        return out

    def tell(self) -> int:
        return 0


def peak_of(file: io.RawIOBase, extensions: frozenset[str] = frozenset()) -> tuple[int, int, SitemapReader]:
    """Return the most memory held, how many pages came out, and the reader."""
    reader = SitemapReader(extensions=extensions)
    tracemalloc.start()
    try:
        pages = sum(len(batch.locs) for batch in reader.read(file))
        return tracemalloc.get_traced_memory()[1], pages, reader
    finally:
        tracemalloc.stop()


END = f"<url><loc>{A}</loc></url></urlset>"
PICTURE = "<i:image><i:loc>x</i:loc></i:image>"
WHOLE = {
    "white space between entries": (START, " ", 12 * MIB, END),
    "text between entries": (START, "x ", 6 * MIB, END),
    "white space in a loc": (START + "<url><loc>", " ", 12 * MIB, f"{A}</loc></url></urlset>"),
    "white space after a loc": (f"{START}<url><loc>{A}", "\n", 12 * MIB, "</loc></url></urlset>"),
    "a long lastmod": (f"{START}<url><loc>{A}</loc><lastmod>", "2024", 3 * MIB, "</lastmod></url></urlset>"),
    "a long text in CDATA": (f"{START}<![CDATA[", "</url>]] ", MIB, f"]]>{END}"),
    "many comments": (START, "<!-- a comment -->", MIB // 2, END),
    "one entry with many pictures": (f"{START}<url><loc>{A}</loc>", PICTURE, 200_000, "</url></urlset>"),
    "ordinary entries": (START, f"<url><loc>{A}</loc><lastmod>2024-01-01</lastmod></url>\n", 100_000, "</urlset>"),
    "entries that only expat reads": (START, f"<url><loc><![CDATA[{A}]]></loc></url>\n", 50_000, "</urlset>"),
}  # fmt: skip


@pytest.mark.parametrize("what", WHOLE)
def test_memory_is_flat_on_files_that_are_whole(what):
    start, part, times, end = WHOLE[what]
    peak, pages, reader = peak_of(Endless(start, part, times, end), frozenset({"images"}))
    assert (reader.outcome.status, pages) == ("ok", reader.outcome.entries)
    assert pages >= 2
    assert peak < 4 * MIB


BROKEN = {
    "a comment without end": (START + "<!--", "x ", 6 * MIB, ""),
    "a tag without end": (START + "<url ", "a='b' ", 2 * MIB, ""),
    "one attribute without end": (START + "<url a='", ">", 12 * MIB, ""),
    "elements inside each other": (START, "<a>", 4 * MIB, ""),
    "entries inside each other": (START, "<url>", 2 * MIB, ""),
    "a processing instruction without end": (START + "<?x ", "?", 12 * MIB, ""),
}


@pytest.mark.parametrize("what", BROKEN)
def test_memory_is_flat_on_files_that_break(what):
    peak, pages, reader = peak_of(Endless(*BROKEN[what]))
    assert (reader.outcome.status, reader.outcome.reason, pages) == ("partial", SkipReason.MALFORMED, 1)
    assert peak < 12 * MIB


def test_memory_is_flat_on_ever_new_names():
    def pieces() -> Iterator[bytes]:
        yield START.encode()
        for number in range(60):
            yield b"".join(b"<n%d.%d/>" % (number, each) for each in range(5_000))

    file = Endless("", "", 0, "")
    file._pieces = pieces()
    peak, pages, reader = peak_of(file)
    assert (reader.outcome.reason, pages) == (SkipReason.MALFORMED, 1)
    assert "different names" in reader.outcome.detail
    assert peak < 16 * MIB


def test_memory_is_flat_on_text_without_line_ends():
    peak, pages, reader = peak_of(Endless("", "x", 12 * MIB, ""))
    assert (reader.outcome.reason, pages) == (SkipReason.UNSUPPORTED_FORMAT, 0)
    assert peak < 4 * MIB


def test_the_caller_gets_its_turn_where_no_entry_comes():
    reader = SitemapReader()
    batches = list(reader.read(Endless(START, " ", 12 * MIB, END)))
    assert 8 <= len(batches) <= 16
    assert sum(len(batch.locs) for batch in batches) == 2
    batches = list(SitemapReader().read(io.BytesIO(f"{A}\n".encode() * 200_000)))
    assert [len(batch.locs) for batch in batches] == [0] * 4 + [1_000] * 200


def test_a_tag_of_more_than_a_mebibyte_is_refused():
    seen = see(f'{START}<url a="{"x" * 1_300_000}"><loc>{A}</loc></url></urlset>')
    assert (seen.verdict, seen.locs) == (("partial", SkipReason.MALFORMED), [A])
    assert "longer than 1048576 bytes" in seen.outcome.detail


def test_a_loc_of_more_than_65536_characters_is_invalid():
    for fill in ("x", " \n", "&amp;", "é"):
        long = f"https://example.com/{fill * 70_000}y"
        for size in (None, 1_000, 65_536):
            seen = see(f"<urlset {NS}><url><loc>{long}</loc></url><url><loc>{A}</loc></url></urlset>", size=size)
            assert (seen.verdict, seen.locs, seen.outcome.entries) == (("ok", None), [A], 2)
            assert seen.invalid == [long.replace("&amp;", "&")[:65_536]]
    seen = see(f"{A}\nhttps://example.com/{'x' * 500_000}\n{A}\n")
    assert (seen.locs, [len(text) for text in seen.invalid]) == ([A, A], [65_536])


def test_a_loc_of_exactly_65536_characters_is_handed_on():
    page = "https://example.com/".ljust(65_536, "x")
    white = " " * 70_000
    for size in (None, 1_000):
        assert see(f"<urlset {NS}><url><loc>{white}{page}{white}</loc></url></urlset>", size=size).locs == [page]


def test_256_levels_are_read():
    deep = "<a>" * 254 + "</a>" * 254
    assert see(f"<urlset {NS}><url>{deep}<loc>{A}</loc></url></urlset>").locs == [A]
    seen = see(f"<urlset {NS}><url><a>{deep}</a><loc>{A}</loc></url></urlset>")
    assert (seen.verdict, seen.outcome.detail) == (
        ("partial", SkipReason.MALFORMED),
        "elements nested more than 256 deep at line 1",
    )


TRICKY = {
    "spaces in locs": "<url><loc>https://e.com/" + " a" * 500 + "</loc></url>",
    "spaces that end nowhere": "<url><loc>https://e.com/" + " " * 5_000 + "\x01</loc></url>",
    "ampersands": "<url><loc>" + "&amp;" * 2_000 + "</loc></url>",
    "brackets": "<url><loc>x" + "]" * 5_000 + "</loc></url>",
    "open fields": "<url><loc>x</loc>" + "<lastmod>" * 1_000,
    "open prefixed elements": "<url>" + "<a:b>" * 200 + "</url>",
    "prefixed elements side by side": "<url>" + "<a:b/>" * 2_000 + "<c></url>",
    "nested without match": "<url><a:b>" + "<a:c>x</a:c>" * 1_000 + "</a:d></url>",
    "attributes": "<url><a:b " + "c='d' " * 50 + "/></url>",
    "quotes": '<url><a:b c="' + "&amp;" * 2_000 + "<",
    "CDATA": "<url><a:b>" + "<![CDATA[]]" * 500 + "</a:b></url>",
}


@pytest.mark.parametrize("what", TRICKY)
def test_the_pattern_takes_linear_time(what):
    def seconds(times: int) -> float:
        data = f"<urlset {NS}>{TRICKY[what] * times}</urlset>"
        best = 9.0
        for _ in range(3):
            before = time.process_time()
            see(data)
            best = min(best, time.process_time() - before)
        return best

    # Twenty times as much may take forty times as long, or next to nothing.
    assert seconds(400) < max(0.25, 40 * seconds(20))
