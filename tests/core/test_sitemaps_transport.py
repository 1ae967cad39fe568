"""How bodies come off the wire (faults.md, G): codings, gzip by its magic, limits, damage."""

import gzip
import io
import tarfile
import zlib

import pytest

from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.core.sitemaps import Unpacker, outcome_of_unreadable
from sitemap_actor.core.sitemaps.unpack import LIMIT
from tests.core.sitemap_tools import fetch, see, unpack, urlset

PAGES = [f"https://example.com/{number}" for number in range(2_000)]
XML = urlset(*PAGES).encode()
PACKED = gzip.compress(XML, mtime=0)


def faults_of(unpacker: Unpacker) -> dict[str, int]:
    return {str(fault): count for fault, count in unpacker.faults.items()}


@pytest.mark.parametrize("name", ["https://example.com/s.xml.gz?x=1", "/S.XML.GZ"])
def test_G01_gz_name_with_plain_xml_inside_is_read_as_xml(name):
    body, unpacker = unpack(XML, name=name)
    assert body == XML
    assert (unpacker.layers, unpacker.damaged, faults_of(unpacker)) == (0, False, {"gzip_mismatch": 1})


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "GZIP", " gzip "])
def test_G02_http_coding_is_undone_once_and_the_file_layer_after_it(coding):
    body, unpacker = unpack(PACKED, coding, name="/s.xml.gz")
    assert (body, unpacker.layers, faults_of(unpacker)) == (XML, 0, {})
    body, unpacker = unpack(gzip.compress(PACKED), coding, name="/s.xml.gz")
    assert (body, unpacker.layers, faults_of(unpacker)) == (XML, 1, {})


def test_G02_coding_announced_but_not_applied():
    body, unpacker = unpack(XML, "gzip")
    assert (body, faults_of(unpacker)) == (XML, {"gzip_mismatch": 1})


def test_G03_gzip_inside_gzip_is_unwrapped_and_noted():
    body, unpacker = unpack(gzip.compress(PACKED))
    assert (body, unpacker.layers, unpacker.damaged) == (XML, 2, False)
    assert faults_of(unpacker) == {"gzip_mismatch": 1}


def test_G03_a_third_layer_is_an_unsupported_container():
    body, unpacker = unpack(gzip.compress(gzip.compress(PACKED)))
    assert body == b""
    assert unpacker.unsupported == "gzip packed more than twice"
    outcome = outcome_of_unreadable(unpacker.unsupported)
    assert (outcome.status, outcome.reason) == ("failed", SkipReason.UNSUPPORTED_FORMAT)


def test_G03_two_codings_in_one_header_are_both_undone():
    body, unpacker = unpack(gzip.compress(PACKED), "gzip, gzip")
    assert (body, unpacker.layers) == (XML, 0)
    _, unpacker = unpack(b"https://example.com/", "gzip, gzip, gzip")
    assert unpacker.unsupported == "gzip, gzip, gzip"


def test_G04_good_gzip_with_an_uncompressed_tail_is_whole():
    seen = fetch(PACKED + b"<!-- cached by a plugin -->" * 1_000)
    assert seen.verdict == ("ok", None)
    assert seen.locs == PAGES
    assert seen.faults == {"trailing_bytes": 1}


def test_G04_members_one_after_the_other_are_one_file():
    half = len(XML) // 2
    body, unpacker = unpack(gzip.compress(XML[:half]) + gzip.compress(b"") + gzip.compress(XML[half:]), size=10)
    assert (body, unpacker.damaged, faults_of(unpacker)) == (XML, False, {})


def test_G05_truncated_gzip_is_partial_with_the_complete_entries():
    seen = fetch(PACKED[:-200])
    assert seen.verdict == ("partial", SkipReason.MALFORMED)
    assert seen.outcome.detail == "gzip damaged"
    assert 0 < len(seen.rows) < 2_000
    assert seen.locs == PAGES[: len(seen.rows)]


@pytest.mark.parametrize("missing", [1, 4, 8])
def test_G05_gzip_without_its_whole_trailer_is_partial_though_all_entries_are_there(missing):
    seen = fetch(PACKED[:-missing])
    assert seen.verdict == ("partial", SkipReason.MALFORMED)
    assert seen.locs == PAGES


@pytest.mark.parametrize("position", [-1, -5])
def test_G05_gzip_with_a_wrong_length_or_checksum_is_partial(position):
    wrong = bytearray(PACKED)
    wrong[position] ^= 0xFF
    seen = fetch(bytes(wrong))
    assert seen.verdict == ("partial", SkipReason.MALFORMED)
    assert seen.locs == PAGES


def test_G05_what_stands_before_the_damage_is_kept():
    wrong = PACKED[: len(PACKED) // 2] + b"\xff" * 50 + PACKED[len(PACKED) // 2 + 50 :]
    body, unpacker = unpack(wrong, size=10_000_000)
    assert unpacker.damaged
    assert len(body) > len(XML) // 4
    assert body[:10_000] == XML[:10_000]


def test_G05_second_member_cut_to_its_first_byte_is_damage():
    _, unpacker = unpack(PACKED + b"\x1f")
    assert unpacker.damaged


@pytest.mark.parametrize("content_type", ["application/gzip", "application/octet-stream", "application/xml", None, ""])
def test_G08_content_type_of_a_gzip_does_not_matter(content_type):
    seen = fetch(PACKED, content_type=content_type)
    assert (seen.verdict, seen.locs, seen.faults) == (("ok", None), PAGES, {})


@pytest.mark.parametrize("coding", ["gz", "compress", "br", "zstd", "identity, foo"])
@pytest.mark.parametrize("body", [XML, b"\xef\xbb\xbf\n" + XML, PACKED])
def test_G09_unknown_coding_is_passed_over_where_the_bytes_are_xml_or_gzip(coding, body):
    unpacked, unpacker = unpack(body, coding)
    assert unpacked.endswith(XML)
    assert unpacker.unsupported is None
    assert faults_of(unpacker) == {"gzip_mismatch": 1}


@pytest.mark.parametrize("coding", ["gz", "compress", "br"])
def test_G09_unknown_coding_of_anything_else_is_unsupported(coding):
    body, unpacker = unpack(b"https://example.com/\n" * 50, coding)
    assert (body, unpacker.unsupported) == (b"", coding)
    assert outcome_of_unreadable(coding).reason is SkipReason.UNSUPPORTED_ENCODING


@pytest.mark.parametrize("bomb", [b" " * 200_000_000, b"<url><loc>https://example.com/</loc></url>" * 3_000_000])
def test_G10_bomb_stops_at_the_limit(bomb):
    packed = gzip.compress(bomb, 9)
    unpacker = Unpacker(None)
    size = 0
    for start in range(0, len(packed), 4_096):
        for piece in unpacker.pieces(packed[start : start + 4_096]):
            assert len(piece) <= 1_048_576
            size += len(piece)
    assert unpacker.over_limit
    assert size == unpacker.unpacked_bytes <= LIMIT
    assert (unpacker.feed(packed), unpacker.close()) == ([], [])
    assert faults_of(unpacker) == {"over_50_mb": 1}


def test_G10_a_bomb_between_two_layers_stops_as_well():
    inner = gzip.compress(b"small") + b"\0" * 60_000_000
    _, unpacker = unpack(gzip.compress(inner))
    assert unpacker.over_limit


def test_G10_exactly_the_limit_is_allowed_on_both_sides():
    for packed in (b"x" * 1_000, gzip.compress(b"x" * 1_000)):
        body, unpacker = unpack(packed, limit=1_000, size=7)
        assert (len(body), unpacker.over_limit) == (1_000, False)
        _, unpacker = unpack(packed, limit=999, size=7)
        assert unpacker.over_limit
    _, unpacker = unpack(b"x" * 1_001, limit=1_000, size=7)
    assert (unpacker.over_limit, unpacker.wire_bytes) == (True, 1_001)


def test_G11_gzipped_text_sitemap():
    seen = fetch(gzip.compress(b"https://example.com/a\nhttps://example.com/b\n"), content_type="application/x-gzip")
    assert (seen.locs, str(seen.outcome.kind)) == (["https://example.com/a", "https://example.com/b"], "text")


@pytest.mark.parametrize("coding", ["zstd", None])
def test_G12_zstd_nobody_asked_for_is_never_text(coding):
    frame = b"\x28\xb5\x2f\xfd\x04\x00\x59\x00\x00https://example.com/"
    body, unpacker = unpack(frame, coding)
    assert (body, unpacker.unsupported) == (b"", "zstd")
    assert outcome_of_unreadable("zstd").reason is SkipReason.UNSUPPORTED_ENCODING


def test_G12_brotli_is_unsupported():
    _, unpacker = unpack(b"\x8b\x03\x80hello\x03", "br")
    assert unpacker.unsupported == "br"


def test_G13_zip_and_tar_are_not_extracted():
    assert unpack(b"PK\x03\x04" + bytes(100))[1].unsupported == "zip"
    assert unpack(gzip.compress(b"PK\x03\x04" + bytes(100)))[1].unsupported == "zip"
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        info = tarfile.TarInfo("sitemap.xml")
        info.size = len(XML)
        tar.addfile(info, io.BytesIO(XML))
    for packed in (archive.getvalue(), gzip.compress(archive.getvalue())):
        body, unpacker = unpack(packed, size=100)
        assert (body, unpacker.unsupported) == (b"", "tar")
        assert outcome_of_unreadable("tar").reason is SkipReason.UNSUPPORTED_FORMAT


def test_gzip_under_another_name_is_noted_but_not_without_a_name():
    assert faults_of(unpack(PACKED, name="https://example.com/sitemap.xml")[1]) == {"gzip_mismatch": 1}
    assert faults_of(unpack(PACKED, name="https://example.com/sitemap.xml.gz")[1]) == {}
    assert faults_of(unpack(PACKED)[1]) == {}


def test_raw_deflate_is_not_taken_for_text():
    _, unpacker = unpack(zlib.compress(b"https://example.com/\n" * 100), "deflate")
    assert unpacker.unsupported == "deflate"


def test_many_tiny_members_take_no_quadratic_time():
    member = gzip.compress(b"")
    body, unpacker = unpack(member * 50_000 + PACKED, size=1_000_000)
    assert (body, unpacker.damaged) == (XML, False)


def test_nothing_at_all():
    for coding in (None, "gzip"):
        body, unpacker = unpack(b"", coding)
        assert (body, unpacker.damaged, unpacker.unsupported, faults_of(unpacker)) == (b"", False, None, {})
    assert see(b"").verdict == ("failed", SkipReason.EMPTY)
