"""Every special range and every spelling (fault H09): a truth table against the IANA registries."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_actor.core.addresses import HostError, ascii_host, is_public, refusal

# First and last address of each block in the IANA special-purpose registries (and what the registries leave to others:
# multicast, the old site-local range, unallocated space), then the public neighbours on both sides.
SPECIAL = [
    ("0.0.0.0/8", "this network"),
    ("10.0.0.0/8", "private network"),
    ("100.64.0.0/10", "carrier-grade NAT"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private network"),
    ("192.0.0.0/24", "protocol assignments"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "6to4 relay"),
    ("192.168.0.0/16", "private network"),
    ("198.18.0.0/15", "benchmarking"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/5", "reserved"),
    ("255.255.255.255/32", "broadcast"),
    ("::/128", "unspecified address"),
    ("::1/128", "loopback"),
    ("::8.8.8.8/128", "IPv4-compatible address"),
    ("::ffff:0:0/96", "IPv4-mapped address"),
    ("::ffff:0:0:0/96", "IPv4-translated address"),
    ("64:ff9b::/96", "NAT64"),
    ("64:ff9b:1::/48", "local-use NAT64"),
    ("100::/64", "discard-only"),
    ("100:0:0:1::/64", "dummy prefix"),
    ("2001::/32", "Teredo"),
    ("2001:2::/48", "benchmarking"),
    ("2001:10::/28", "ORCHID"),
    ("2001:20::/28", "protocol assignments"),
    ("2001:1::1/128", "protocol assignments"),
    ("2001:db8::/32", "documentation"),
    ("2002::/16", "6to4"),
    ("3ffe::/16", "former 6bone"),
    ("3fff::/20", "documentation"),
    ("5f00::/16", "segment routing"),
    ("fc00::/7", "unique local address"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "site-local"),
    ("ff00::/8", "multicast"),
    ("4000::/3", "outside the global unicast range"),
    ("8000::/3", "outside the global unicast range"),
    ("200::/7", "outside the global unicast range"),
]


@pytest.mark.parametrize(("block", "why"), SPECIAL)
def test_H09_special_ranges_are_not_public(block: str, why: str) -> None:
    network = ipaddress.ip_network(block)
    for address in (network[0], network[-1], network[network.num_addresses // 2]):
        if (block, str(address)) != ("::/128", "::1"):
            assert is_public(address) == (False, why)
            assert is_public(str(address)) == (False, why)
        assert refusal(str(address)) == f"{address}: {why}"


@pytest.mark.parametrize(
    "address",
    [
        "1.0.0.0",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "192.31.196.1",
        "192.52.193.1",
        "192.175.48.1",
        "2000::",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2001:db7:ffff::",
        "2001:db9::",
        "2003::1",
        "2606:4700::1111",
        "2620:4f:8000::1",
        "3fff:1000::",
        "3ffd::1",
        "2a00:1450::1",
    ],
)
def test_H09_neighbours_are_public(address: str) -> None:
    assert is_public(address) == (True, "")
    assert refusal(address) is None


@pytest.mark.parametrize(
    ("address", "wrong"),
    [
        ("100.64.0.1", "is_private"),
        ("64:ff9b::7f00:1", "is_global"),
        ("2002:7f00:1::", "is_global"),
        ("fec0::1", "is_global"),
        ("224.0.0.1", "is_global"),
        ("192.88.99.1", "is_global"),
    ],
)
def test_H09_the_library_is_not_what_decides(address: str, wrong: str) -> None:
    library = getattr(ipaddress.ip_address(address), wrong)
    assert isinstance(library, bool)  # whatever it says, in whichever version of Python
    assert not is_public(address)[0]


@pytest.mark.parametrize("embedded", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "8.8.8.8"])
def test_H09_ipv4_inside_ipv6_is_refused_whatever_it_is(embedded: str) -> None:
    number = int(ipaddress.IPv4Address(embedded))
    forms = [
        f"::ffff:{embedded}",
        f"::{embedded}",
        f"64:ff9b::{embedded}",
        str(ipaddress.IPv6Address((0x2002 << 112) | number << 80)),
        str(ipaddress.IPv6Address((0x20010000 << 96) | (number ^ 0xFFFFFFFF))),
    ]
    assert [is_public(form)[0] for form in forms] == [False] * 5
    assert all(refusal(f"[{form}]") for form in forms)


@pytest.mark.parametrize("text", ["", "example.com", "127.1", "1.2.3.4.5", "::g", "fe80::1%eth0", "2001:4860::8888%1"])
def test_H09_what_is_no_plain_address_is_not_public(text: str) -> None:
    assert is_public(text)[0] is False


LOOPBACK = [
    *(
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0X7F.0.0.0x1",
        "017700000001",
        "0177.0.0.1",
    ),
    *(
        "0177.1",
        "127.0.0.1.",
        "127.000.000.001",
        "00000177.0.0.01",
        "\u2460\u2461\u2466.0.0.1",
        "\uff11\uff12\uff17.0.0.1",
    ),
    *(
        "127\u30020\u30020\u30021",
        "127\uff0e1",
        "%31%32%37.0.0.1",
        "127%2e0%2E0%2e1",
        "0x7f.0x0.0x0.0x1",
        "\u00b2130706433",
    ),
    *("%EF%BC%91%EF%BC%92%EF%BC%97.1", "127.0.0\u00ad.1"),
]


@pytest.mark.parametrize("host", LOOPBACK)
def test_H09_spellings_of_loopback(host: str) -> None:
    assert ascii_host(host) == "127.0.0.1"
    assert refusal(host) == "127.0.0.1: loopback"


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("0", "0.0.0.0"),
        ("0x", "0.0.0.0"),
        ("169.254.43518", "169.254.169.254"),
        ("0xa9fea9fe", "169.254.169.254"),
        ("2852039166", "169.254.169.254"),
        ("0251.0376.0251.0376", "169.254.169.254"),
        ("10.1", "10.0.0.1"),
        ("192.168.257", "192.168.1.1"),
        ("4294967295", "255.255.255.255"),
    ],
)
def test_H09_other_spellings(host: str, address: str) -> None:
    assert ascii_host(host) == address
    assert refusal(host)


@pytest.mark.parametrize("host", ["134744072", "8.8.2056", "0x8.8.8.8", "010.8.8.8"])
def test_H09_public_literals_in_odd_spellings(host: str) -> None:
    assert (ascii_host(host), refusal(host)) == ("8.8.8.8", None)


@pytest.mark.parametrize(
    "host",
    [
        "[::1]",
        "::1",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::FFFF:7F00:1]",
        "[fe80::1%25eth0]",
        "[fe80::1%eth0]",
        "[2606:4700::1111%251]",
        "[::]",
        "[fd00:ec2::254]",
        "[::127.0.0.1]",
        "[%3A%3A1]",
    ],
)
def test_H09_ipv6_literals(host: str) -> None:
    assert refusal(host)


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "printer.local",
        "db.internal",
        "router.home.arpa",
        "intranet",
        "x",
        "host.lan",
        "nas.home",
        "app.corp",
        "www.private",
        "a.intranet",
        "localhost.localdomain",
        "abc.onion",
        "loc%61lhost",
        "\uff4cocalhost",
        "local\xadhost",
        "lo\u200dcalhost",
        "com.",
        "\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3",
    ],
)
def test_local_names_are_refused(host: str) -> None:
    assert refusal(host)


@pytest.mark.parametrize(
    ("host", "ascii_form"),
    [
        ("example.com", "example.com"),
        ("EXAMPLE.com.", "example.com"),
        ("b\u00fccher.example", "xn--bcher-kva.example"),
        ("B\u00dcCHER.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444", "xn--e1afmkfd.xn--p1ai"),
        ("\u2603.net", "xn--n3h.net"),
        ("a_b.example.com", "a_b.example.com"),
        ("-a-.example.com", "-a-.example.com"),
        ("1.example.com", "1.example.com"),
        ("0x7f.example.com", "0x7f.example.com"),
        ("local.example.com", "local.example.com"),
        ("notlocalhost.com", "notlocalhost.com"),
        ("[2606:4700:0::1111]", "[2606:4700::1111]"),
    ],
)
def test_names_that_need_dns(host: str, ascii_form: str) -> None:
    assert (ascii_host(host), refusal(host)) == (ascii_form, None)


@pytest.mark.parametrize(
    "host",
    [
        "",
        ".",
        "..",
        "a..b",
        ".a.com",
        "a.com..",
        "1.2.3.4.5",
        "256.1.1.1",
        "1.2.3.256",
        "4294967296",
        "1.1.65536",
        "08.1.1.1",
        "a.1",
        "example.0x1",
        "[::1",
        "::1]",
        "[]",
        "[::g]",
        "[1.2.3.4]",
        "1:2",
        "ex ample.com",
        "*.example.com",
        "a/b",
        "a@b",
        "a%2Fb.com",
        "a%40b.com",
        "%ff.com",
        "%",
        "a%00.com",
        "\u2488.com",
        "a" * 64 + ".com",
        "a." * 127 + "com",
        "\ufffd.com",
        "9" * 5000,
        "a" * 5000,
        "0x" + "f" * 100,
        "ex\u2100mple.com",
        "a,b.com",
        "<b>.com",
    ],
)
def test_impossible_hosts(host: str) -> None:
    with pytest.raises(HostError):
        ascii_host(host)
    assert refusal(host)


@given(st.text(max_size=40))
def test_any_text_is_a_host_or_none_and_settled_at_once(text: str) -> None:
    try:
        host = ascii_host(text)
    except HostError:
        assert refusal(text) is not None
    else:
        assert host.isascii()
        assert ascii_host(host) == host
        assert (refusal(host) is None) == (refusal(text) is None)


@given(st.integers(0, 2**32 - 1))
def test_every_number_is_read_as_an_address(number: int) -> None:
    expected = str(ipaddress.IPv4Address(number))
    assert [ascii_host(form) for form in (str(number), hex(number), f"0{number:o}", expected)] == [expected] * 4
