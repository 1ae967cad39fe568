"""The download handler against a loopback site, friendly and hostile."""

import asyncio
import gzip
import os
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.exceptions import NotSupported

from sitemap_actor.core.errors import BadHttpError, DnsError, FetchError, NetworkError, TimeoutFetchError, TlsError
from sitemap_actor.core.reasons import Fault, SkipReason
from sitemap_actor.download.errors import Refusal
from sitemap_actor.download.response import SpooledResponse
from tests.spider.conftest import ClientFactory, SiteFactory
from tests.spider.server import (
    CLOSE,
    HANG,
    RESET,
    Certificate,
    DeafPort,
    Forever,
    Hold,
    Part,
    Reply,
    Script,
    Seen,
    Slowly,
    head,
    make_certificate,
)

XML = b"<?xml version='1.0'?><urlset><url><loc>https://example.com/</loc></url></urlset>"
LIMIT = 52_428_800
SHORT = 0.2  # seconds of a step, where a test has to wait one out


def whole(response: SpooledResponse) -> bytes:
    assert response.file is not None
    return response.file.read()


# What goes out


async def test_a_request_carries_only_what_it_must(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    unwanted = {
        "Cookie": "a=b",
        "Referer": "https://x.example/",
        "Authorization": "Basic eA==",
        "Proxy-Authorization": "y",
    }
    wanted = {"If-None-Match": '"v1"', "If-Modified-Since": "Mon, 01 Jan 2024 00:00:00 GMT", "Accept": "*/*"}
    await client().get(server.url, headers={**unwanted, **wanted, "Accept-Encoding": "br", "User-Agent": "Mozilla/5.0"})
    (seen,) = server.requests
    assert dict(seen.raw_headers) == {
        "Host": f"127.0.0.1:{server.port}",
        "User-Agent": "SitemapUrlExtractor/0.1 (test)",
        "Accept-Encoding": "gzip",
        **wanted,
    }
    assert len(seen.raw_headers) == 6


async def test_L10_an_address_with_credentials_is_not_requested(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    with pytest.raises(FetchError) as caught:
        await client().get(server.url.replace("//", "//user:secret@"))
    assert caught.value.reason == SkipReason.USERINFO
    assert "secret" not in str(caught.value)
    assert server.connections == 0


async def test_a_proxy_in_the_environment_is_not_used(
    site: SiteFactory, client: ClientFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server = site()
    assert (await client().get(server.url)).status == 404
    assert server.paths() == ["/"]


async def test_only_get_is_made(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    with pytest.raises(NotSupported):
        await client().handler.download_request(Request(server.url, method="POST"))
    assert server.connections == 0


async def test_an_address_goes_out_as_it_is_written(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    target = "/ver%25c3%25b6ff/%7euser/a;b,c?x=%2f&y=a+b&z="
    await client().get(server.origin + target + "#part")
    assert server.paths() == [target]


async def test_a_redirect_is_not_followed_and_a_cookie_not_kept(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/a"] = Reply(302, "moved", {"Location": "/b", "Set-Cookie": "door=open"})
    web = client()
    response = await web.get(server.origin + "/a")
    assert (response.status, response.headers["Location"], response.body) == (302, b"/b", b"moved")
    await web.get(server.origin + "/a")
    assert server.paths() == ["/a", "/a"]
    assert "cookie" not in server.requests[1].headers


async def test_one_connection_serves_several_requests(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    web = client()
    for _ in range(3):
        await web.get(server.url)
    assert (len(server.requests), server.connections) == (3, 1)


# What comes in


async def test_the_response_tells_what_came(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/sitemap.xml"] = Reply(body=XML, headers=[("ETag", '"v1"'), ("X-Twice", "1"), ("X-Twice", "2")])
    web = client()
    response = await web.get(server.origin + "/sitemap.xml")
    assert response.url == server.origin + "/sitemap.xml"
    assert (response.status, str(response.ip_address), response.protocol) == (200, "127.0.0.1", "HTTP/1.1")
    assert response.headers.getlist("X-Twice") == [b"1", b"2"]
    assert (response.wire_bytes, response.unpacked_bytes, response.layers) == (len(XML), len(XML), 0)
    assert not any((response.short, response.cut, response.over_limit, response.damaged, response.unsupported))
    assert whole(response) == response.body == response.head == XML
    assert (web.asked, web.bytes) == ([server.origin], [len(XML)])


async def test_ipv6(site: SiteFactory, client: ClientFactory) -> None:
    server = site("::1")
    server.routes["/a"] = Reply(body="six")
    response = await client().get(server.origin + "/a")
    assert (whole(response), str(response.ip_address)) == (b"six", "::1")


async def test_a_304_has_no_body(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/a"] = Reply(304, headers={"ETag": '"v1"'})
    web = client()
    for _ in range(2):
        response = await web.get(server.origin + "/a")
        assert (response.status, response.headers["ETag"], whole(response), response.short) == (
            304,
            b'"v1"',
            b"",
            False,
        )


@pytest.mark.parametrize(
    ("packed", "headers", "layers"),
    [
        pytest.param(gzip.compress(XML), {}, 1, id="G01_G08_by_its_bytes"),
        pytest.param(gzip.compress(XML), {"Content-Encoding": "gzip"}, 0, id="http_coding"),
        pytest.param(gzip.compress(XML), {"Content-Encoding": "x-gzip"}, 0, id="G02_x_gzip"),
        pytest.param(gzip.compress(gzip.compress(XML)), {"Content-Encoding": "gzip"}, 1, id="coding_and_file"),
        pytest.param(gzip.compress(gzip.compress(XML)), {}, 2, id="G03_twice"),
    ],
)
async def test_bodies_are_unpacked(
    packed: bytes, headers: dict[str, str], layers: int, site: SiteFactory, client: ClientFactory
) -> None:
    server = site()
    server.routes["/s"] = Reply(body=packed, headers=headers)
    response = await client().get(server.origin + "/s")
    assert whole(response) == response.body == XML
    assert (response.wire_bytes, response.unpacked_bytes, response.layers) == (len(packed), len(XML), layers)
    assert "Content-Encoding" not in response.headers


async def test_G04_what_follows_a_gzip_is_noted_and_not_read_for_ever(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/s.xml.gz"] = Script(head(), gzip.compress(XML), Forever(b"<!-- cached -->" * 1000))
    response = await client().get(server.origin + "/s.xml.gz")
    assert whole(response) == XML
    assert response.faults == {Fault.TRAILING_BYTES: 1}
    assert not any((response.damaged, response.short, response.cut))


async def test_G05_truncated_gzip_is_damaged_and_keeps_what_came(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/s"] = Reply(body=gzip.compress(os.urandom(50_000).hex().encode())[:-200])
    response = await client().get(server.origin + "/s")
    assert response.damaged
    assert not response.short
    assert len(whole(response)) > 90_000


async def test_G12_a_coding_not_asked_for_is_named(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/s"] = Script(head(content_encoding="br"), Forever(b"\x8b\x02\x80" * 1000))
    response = await client().get(server.origin + "/s")
    assert response.unsupported == "br"
    assert whole(response) == b""


async def test_a_body_byte_by_byte_is_the_same_body(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    packed = gzip.compress(XML)
    server.routes["/s"] = Script(Slowly(head(length=len(packed)) + packed))
    response = await client().get(server.origin + "/s")
    assert whole(response) == XML
    assert not response.short


async def test_chunked_bodies(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/s"] = Reply(chunks=[XML[:10], XML[10:40], XML[40:]])
    response = await client().get(server.origin + "/s")
    assert whole(response) == XML


async def test_a_large_body_goes_to_disk_and_its_head_stays_at_hand(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    body = os.urandom(3_000_000).hex().encode()
    server.routes["/s"] = Reply(body=body)
    response = await client().get(server.origin + "/s")
    assert response.body == response.head == body[:65_536]
    assert whole(response) == body


async def test_a_large_body_may_end_with_the_connection(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    body = os.urandom(1_500_000).hex().encode()
    server.routes["/s"] = Script(head(), body, CLOSE)
    response = await client().get(server.origin + "/s")
    assert whole(response) == body
    assert not response.short


async def test_copies_share_the_file_and_closing_it_is_final(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/s"] = Reply(body=XML)
    response = await client().get(server.origin + "/s")
    other = response.replace(status=203)
    assert isinstance(other, SpooledResponse)
    assert (other.status, other.file, other.wire_bytes) == (203, response.file, len(XML))
    other.close()
    other.close()
    assert response.file is not None
    assert response.file.closed
    with pytest.raises(TypeError):
        response.to_dict()


# Limits


async def test_the_size_limit_itself_is_allowed_and_one_byte_more_is_not(
    site: SiteFactory, client: ClientFactory
) -> None:
    server = site()
    server.routes["/full"] = Reply(body=gzip.compress(b" " * LIMIT, 1))
    server.routes["/over"] = Reply(body=gzip.compress(b" " * (LIMIT + 1), 1))
    web = client()
    full = await web.get(server.origin + "/full")
    assert (full.unpacked_bytes, full.over_limit, full.damaged) == (LIMIT, False, False)
    over = await web.get(server.origin + "/over")
    assert (over.over_limit, over.file) == (True, None)
    assert over.faults[Fault.OVER_50_MB] == 1


async def test_G10_a_bomb_is_left_at_the_limit(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    inner = gzip.compress(b"\0" * 20_000_000)
    server.routes["/s"] = Script(head(), gzip.compress(inner * 50), Forever(gzip.compress(inner * 50)))
    response = await client().get(server.origin + "/s")
    assert (response.over_limit, response.file) == (True, None)
    assert response.unpacked_bytes <= LIMIT


async def test_an_endless_body_is_left_at_the_limit(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/s"] = Script(head(), Forever(b"<url>" * 50_000))
    response = await client().get(server.origin + "/s")
    assert (response.over_limit, response.file, response.short) == (True, None, False)
    assert LIMIT < response.wire_bytes < LIMIT + 2_000_000


async def test_a_body_announced_as_too_large_is_not_read(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/s"] = Script(head(length=LIMIT + 1), HANG)
    response = await client().get(server.origin + "/s")
    assert (response.over_limit, response.file, response.wire_bytes) == (True, None, 0)
    assert response.faults == {Fault.OVER_50_MB: 1}


async def test_robots_txt_is_cut_at_500_KiB(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/robots.txt"] = Script(head(), Forever(b"Disallow: /a\n" * 1000))
    response = await client().get(server.origin + "/robots.txt", purpose="robots")
    assert response.cut
    assert len(response.body) == 512_000
    assert whole(response) == response.body


async def test_R25_a_robots_txt_of_exactly_500_KiB_is_whole(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/robots.txt"] = Reply(body=b"#" * 511_999 + b"\n")
    response = await client().get(server.origin + "/robots.txt", purpose="robots")
    assert (len(response.body), response.cut, response.short) == (512_000, False, False)


async def test_html_in_place_of_a_file_is_abandoned(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/s"] = Script(head(content_type="text/xml"), Forever(b"<!doctype html><html><p>text" * 100))
    response = await client().get(server.origin + "/s", purpose="sitemap")
    assert response.cut
    assert not response.short
    assert response.head.startswith(b"<!doctype html>")
    assert response.wire_bytes < 1_000_000


async def test_of_an_error_only_the_head_is_read(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/s"] = Script(head(503), Forever(b"<html>busy" * 100))
    response = await client().get(server.origin + "/s")
    assert (response.status, response.cut, len(response.body)) == (503, True, 65_536)


# Bodies that end too early


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(Script(head(length=1000), XML, CLOSE), id="fewer_bytes_than_promised"),
        pytest.param(Script(head(length=1000), XML, 0.05, RESET), id="reset_in_the_body"),
        pytest.param(Script(head(), XML, 0.05, RESET), id="reset_of_a_body_without_length"),
        pytest.param(Script(head(transfer_encoding="chunked"), b"50\r\n" + XML, CLOSE), id="cut_inside_a_chunk"),
        pytest.param(
            Script(head(transfer_encoding="chunked"), b"%x\r\n%b\r\n" % (len(XML), XML), CLOSE), id="no_last_chunk"
        ),
        pytest.param(
            Script(head(transfer_encoding="chunked") + b"%x\r\n%b\r\nnonsense\r\n" % (len(XML), XML)), id="bad_chunk"
        ),
        pytest.param(
            Script(
                head(transfer_encoding="chunked"), 0.02, b"%x\r\n%b\r\n" % (len(XML), XML), 0.02, b"nonsense\r\n", HANG
            ),
            id="bad_chunk_apart",
        ),
    ],
)
async def test_a_body_cut_short_says_so_and_keeps_what_came(
    script: Script, site: SiteFactory, client: ClientFactory
) -> None:
    server = site()
    server.routes["/s"] = script
    response = await client().get(server.origin + "/s")
    assert response.short
    assert response.arrival.short_detail
    assert whole(response) == XML
    assert len(server.requests) == 1


async def test_a_body_that_ends_with_the_connection_is_whole(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/s"] = Script(head(), XML, CLOSE)
    response = await client().get(server.origin + "/s")
    assert (whole(response), response.short) == (XML, False)


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param((head(length=len(XML)) + XML + b"surplus" * 100,), id="one_packet"),
        pytest.param((head(length=len(XML)), XML + b"surplus" * 100), id="surplus_with_the_body"),
        pytest.param((head(length=len(XML)), 0.02, XML, 0.02, b"surplus"), id="surplus_apart"),
        pytest.param(
            (head(length=len(XML))[:-3], 0.02, head(length=len(XML))[-3:] + XML + b"surplus"), id="head_in_two"
        ),
        pytest.param((Slowly(head(length=len(XML)) + XML + b"surplus"),), id="bytes"),
    ],
)
async def test_a_body_longer_than_promised_is_read_as_promised(
    parts: tuple[Part, ...], site: SiteFactory, client: ClientFactory
) -> None:
    server = site()
    server.routes["/s"] = Script(*parts, keep_alive=True)
    server.routes["/t"] = Reply(body="next")
    web = client()
    web.gaps[server.origin] = (
        0.1  # surplus that comes after the next request went out is taken for its answer: that is HTTP
    )
    response = await web.get(server.origin + "/s")
    assert (whole(response), response.short) == (XML, False)
    assert whole(await web.get(server.origin + "/t")) == b"next"


# No answer


@pytest.mark.parametrize(
    ("script", "error"),
    [
        pytest.param(Script(RESET), NetworkError, id="reset"),
        pytest.param(Script(CLOSE), NetworkError, id="closed"),
        pytest.param(Script(b"HTTP/1.1 200 OK\r\nContent-", RESET), NetworkError, id="reset_in_the_headers"),
        pytest.param(Script(b"HTTP/1.1 200 OK\r\nContent-", CLOSE), NetworkError, id="closed_in_the_headers"),
        pytest.param(Script(b"SSH-2.0-OpenSSH_9.2\r\n", CLOSE), BadHttpError, id="no_http"),
        pytest.param(Script(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00", CLOSE), BadHttpError, id="G16_http2_only"),
        pytest.param(
            Script(b"HTTP/1.1 200 OK\r\n", Forever(b"X-More: and more\r\n")), BadHttpError, id="endless_headers"
        ),
        pytest.param(Script(b"HTTP/1.1 200 OK\r\nX: ", Forever(b"x" * 1000)), BadHttpError, id="endless_header"),
        pytest.param(Script(b"HTTP/1.1 200 ", Forever(b"x" * 1000)), BadHttpError, id="endless_status"),
        pytest.param(Script(b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", CLOSE), BadHttpError, id="bad_header"),
        pytest.param(Script(head(content_length="many"), XML), BadHttpError, id="length_is_no_number"),
        pytest.param(
            Script(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nbody"),
            BadHttpError,
            id="G15_twice",
        ),
        pytest.param(
            Script(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 9\r\n\r\nbody"),
            BadHttpError,
            id="G15_contradiction",
        ),
    ],
)
async def test_no_answer_is_a_network_error_and_nothing_is_repeated(
    script: Script, error: type[FetchError], site: SiteFactory, client: ClientFactory
) -> None:
    server = site()
    server.routes["/s"] = script
    web = client()
    assert (await web.get(server.url)).status == 404  # so that the next one goes over a connection kept open
    with pytest.raises(error) as caught:
        await web.get(server.origin + "/s")
    assert (caught.value.reason, caught.value.retryable) == (SkipReason.NETWORK_ERROR, True)
    assert type(caught.value) is error
    assert server.paths() == ["/", "/s"]
    assert (await web.get(server.url)).status == 404  # and the host is not lost


async def test_a_closed_port_is_a_network_error(client: ClientFactory) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(NetworkError) as caught:
            await client().get(f"http://127.0.0.1:{port}/")
    assert caught.value.detail == "no connection (connection refused)"


async def test_a_name_without_an_address_is_a_dns_error(client: ClientFactory) -> None:
    web = client(SITEMAP_RESOLVER="tests.spider.server.lookup")
    with pytest.raises(DnsError) as caught:
        await web.get("http://nowhere.example.com/")
    assert (caught.value.reason, caught.value.retryable) == (SkipReason.DNS_ERROR, True)
    assert caught.value.detail == "nowhere.example.com could not be resolved (name or service not known)"


@pytest.mark.parametrize("url", ["http:///path", "http://a..b/"])
async def test_an_address_that_cannot_be_dialled_is_invalid(url: str, client: ClientFactory) -> None:
    with pytest.raises(FetchError) as caught:
        await client().get(url)
    assert (caught.value.reason, caught.value.retryable) == (SkipReason.INVALID_URL, False)


# TLS


async def test_a_trusted_certificate_is_accepted(
    site: SiteFactory, client: ClientFactory, certificate: Certificate
) -> None:
    server = site(certificate=certificate)
    server.routes["/s"] = Reply(body=XML)
    response = await client(SITEMAP_CA_FILE=str(certificate.ca_file)).get(server.origin + "/s")
    assert (whole(response), str(response.ip_address)) == (XML, "127.0.0.1")


@pytest.mark.parametrize("case", ["unknown_issuer", "another_name", "run_out"])
async def test_a_bad_certificate_is_a_tls_error(
    case: str, site: SiteFactory, client: ClientFactory, certificate: Certificate, tmp_path: Path
) -> None:
    if case == "unknown_issuer":
        served, trusted = make_certificate(tmp_path, "127.0.0.1"), certificate
    else:
        days = -1 if case == "run_out" else 1
        served = trusted = make_certificate(
            tmp_path, "127.0.0.1" if case == "run_out" else "other.example.com", days=days
        )
    server = site(certificate=served)
    with pytest.raises(TlsError) as caught:
        await client(SITEMAP_CA_FILE=str(trusted.ca_file)).get(server.url)
    assert (caught.value.reason, caught.value.retryable) == (SkipReason.TLS_ERROR, False)
    assert caught.value.detail.startswith("the certificate was not accepted (")
    assert server.requests == []


async def test_plain_http_on_an_https_address_is_a_tls_error(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    with pytest.raises(TlsError):
        await client().get(server.url.replace("http:", "https:"))


# Time


async def test_S13_a_server_that_never_answers(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/s"] = Script(HANG)
    with pytest.raises(TimeoutFetchError) as caught:
        await client().get(server.origin + "/s", download_timeout=SHORT)
    assert (caught.value.reason, caught.value.retryable) == (SkipReason.TIMEOUT, True)
    assert caught.value.detail == "waited 0.2 s for an answer"
    assert len(server.requests) == 1


async def test_a_body_that_stops(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/s"] = Script(head(length=1000), XML, HANG)
    web = client()
    response = await web.get(server.origin + "/s", download_timeout=SHORT)
    assert (response.short, response.arrival.timed_out) == (True, True)
    assert response.arrival.short_detail == "waited 0.2 s for more of the body"
    assert response.file is not None
    assert response.file.read() == XML
    assert web.bytes == [len(XML)]


async def test_the_whole_file_takes_at_most_four_steps(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    server.routes["/headers"] = Script(b"HTTP/1.1 200 OK\r\n", Slowly(b"X-A: b\r\n" * 1000, 0.05))
    server.routes["/body"] = Script(head(), Slowly(b"x" * 1000, 0.05))
    web = client()
    started = time.monotonic()
    with pytest.raises(TimeoutFetchError, match=r"the whole file took longer than 0\.8 s"):
        await web.get(server.origin + "/headers", download_timeout=SHORT)
    assert time.monotonic() - started >= 0.8
    response = await web.get(server.origin + "/body", download_timeout=SHORT)
    assert time.monotonic() - started >= 1.6
    assert (response.short, response.arrival.timed_out) == (True, True)
    assert response.arrival.short_detail == "the whole file took longer than 0.8 s"
    assert 0 < response.wire_bytes < 1000
    assert response.file is not None
    assert response.file.read() == b"x" * response.wire_bytes


async def test_no_connection_in_time(client: ClientFactory) -> None:
    with DeafPort() as deaf, pytest.raises(TimeoutFetchError, match=r"waited 0\.2 s for a connection"):
        await client().get(f"http://{deaf.host}:{deaf.port}/", download_timeout=SHORT)


async def test_a_name_server_that_never_answers(client: ClientFactory) -> None:
    answer = threading.Event()

    def silent(_host: str, _port: int) -> list[str]:
        answer.wait(30)
        return ["127.0.0.1"]

    try:
        with pytest.raises(TimeoutFetchError, match=r"waited 0\.2 s for a connection"):
            await client(SITEMAP_RESOLVER=silent).get("http://slow.example.com/", download_timeout=SHORT)
    finally:
        answer.set()


@pytest.mark.parametrize("stage", ["answer", "body"])
async def test_a_busy_event_loop_is_not_the_servers_delay(stage: str, site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    hold = Hold()
    parts = (hold, head(length=len(XML)), XML) if stage == "answer" else (head(length=len(XML)), XML[:9], hold, XML[9:])
    server.routes["/s"] = Script(*parts)
    download = asyncio.create_task(client().get(server.origin + "/s", download_timeout=SHORT))
    while not hold.reached.is_set():
        await asyncio.sleep(0)
    hold.release()
    time.sleep(6 * SHORT)  # the loop hears nothing, longer than a step and the whole file may take
    response = await download
    assert whole(response) == XML


async def test_a_busy_event_loop_does_not_use_up_the_time_to_connect(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    started = threading.Event()

    def slow(_host: str, _port: int) -> list[str]:
        started.set()
        return ["127.0.0.1"]

    web = client(SITEMAP_RESOLVER=slow)
    download = asyncio.create_task(web.get(f"http://www.example.com:{server.port}/", download_timeout=SHORT))
    while not started.is_set():
        await asyncio.sleep(0)
    time.sleep(6 * SHORT)
    assert (await download).status == 404


# The gate


async def test_one_host_is_asked_one_request_at_a_time_with_the_gap_after_the_end(
    site: SiteFactory, client: ClientFactory
) -> None:
    server = site()
    server.fallback = Reply(chunks=[b"a", 0.05, b"b"])
    web = client()
    web.gaps[server.origin] = 0.1
    await asyncio.gather(*(web.get(f"{server.origin}/{number}") for number in range(3)))
    assert server.paths() == ["/0", "/1", "/2"]
    assert server.most_at_once == 1
    for earlier, later in zip(server.requests, server.requests[1:], strict=False):
        assert earlier.ended is not None
        assert later.started - earlier.ended >= 0.09


async def test_not_before_keeps_a_request_back(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    due = time.monotonic() + 0.2
    await client().get(server.url, not_before=due)
    assert server.requests[0].started >= due


async def test_a_slow_host_holds_no_other(site: SiteFactory, client: ClientFactory) -> None:
    slow, quick = site("127.0.0.1"), site("127.0.0.2")
    hold = Hold()
    slow.fallback = Script(hold, head(length=0))
    web = client()
    waiting = asyncio.create_task(web.get(slow.url))
    while not hold.reached.is_set():
        await asyncio.sleep(0)
    assert (await web.get(quick.url)).status == 404
    assert not waiting.done()
    hold.release()
    assert (await waiting).status == 200


async def test_closing_the_gate_ends_a_download_at_once(site: SiteFactory, client: ClientFactory) -> None:
    server = site()
    hold = Hold()
    server.routes["/s"] = Script(head(length=1000), XML, hold, HANG)
    web = client()
    tasks = [asyncio.create_task(web.get(server.origin + path)) for path in ("/s", "/queued")]
    while not hold.reached.is_set():
        await asyncio.sleep(0)
    web.gate.close(Refusal(SkipReason.NOT_REACHED, "run_timeout"))
    results = await asyncio.gather(*tasks, return_exceptions=True)
    hold.release()
    assert [getattr(result, "reason", result) for result in results] == [SkipReason.NOT_REACHED] * 2
    assert server.paths() == ["/s"]


async def test_the_time_out_of_the_run_comes_before_that_of_the_request(
    site: SiteFactory, client: ClientFactory
) -> None:
    server = site()
    server.routes["/s"] = Script(HANG)
    web = client()
    web.run.job = type("Job", (), {"request_timeout_secs": SHORT})
    with pytest.raises(TimeoutFetchError, match=r"waited 0\.2 s"):
        await web.get(server.origin + "/s", download_timeout=180)


# In a crawl

CRAWL = """
import asyncio, sys
import scrapy
from scrapy.crawler import AsyncCrawlerProcess, AsyncCrawlerRunner
from types import SimpleNamespace
from sitemap_actor.download.gate import Gate

class Spider(scrapy.Spider):
    name = "s"
    handle_httpstatus_list = [404]
    @classmethod
    def from_crawler(cls, crawler):
        spider = super().from_crawler(crawler)
        spider.run = SimpleNamespace(gate=Gate(lambda host: 0.01))
        return spider
    async def start(self):
        for path in ("a", "b", "broken"):
            yield scrapy.Request(sys.argv[1] + path, errback=self.failed)
    def parse(self, response):
        print("GOT", response.status, response.file.read().decode(), flush=True)
        response.close()
    def failed(self, failure):
        print("FAILED", failure.value, flush=True)

handler = "sitemap_actor.download.handler.StreamingDownloadHandler"
settings = {
    "DOWNLOAD_HANDLERS": {"http": handler, "https": handler, "file": None, "data": None, "ftp": None, "s3": None},
    "SITEMAP_ALLOW_PRIVATE_ADDRESSES": True, "TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False,
    "RETRY_ENABLED": False, "LOG_LEVEL": "WARNING",
    "DOWNLOADER_MIDDLEWARES": {"scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None},
    "TWISTED_REACTOR_ENABLED": sys.argv[2] == "reactor",
}
if sys.argv[2] == "reactor":
    process = AsyncCrawlerProcess(settings)
    process.crawl(Spider)
    process.start()
else:
    async def main():
        await AsyncCrawlerRunner(settings).crawl(Spider)
    asyncio.run(main())
"""


@pytest.mark.parametrize("mode", ["reactor", "reactorless"])
def test_a_crawl_with_and_without_the_reactor(mode: str, site: SiteFactory, tmp_path: Path) -> None:
    server = site()
    server.routes["/a"] = Reply(body="one")
    server.routes["/b"] = Reply(404, gzip.compress(b"two"))
    server.routes["/broken"] = Script(RESET)
    script = tmp_path / "crawl.py"
    script.write_text(textwrap.dedent(CRAWL))
    done = subprocess.run(
        [sys.executable, "-X", "dev", str(script), server.url, mode],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        "FAILED network_error: the connection broke before an answer (connection reset by peer)",
        "GOT 200 one",
        "GOT 404 two",
    ], done.stderr
    assert "ResourceWarning" not in done.stderr
    assert "Traceback" not in done.stderr


def test_seen_knows_its_path() -> None:
    assert Seen("GET", "/a?b", {}, [], 1, 0.0).path == "/a"
