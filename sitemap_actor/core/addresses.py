"""Which addresses and host names belong to the public internet: the one judge, for URLs and for connections alike.

Source: the IANA special-purpose address registries (RFC 6890 and its updates), read strictly. The library's own
`is_global` and `is_private` are not used: depending on the Python version they call NAT64, 6to4, site-local and even
multicast addresses global. Ranges that the registries call reachable but that no website lives in (192.0.0.9/32,
2001:1::1/128 and the like) are refused with the block around them. An IPv6 address that carries an IPv4 one is always
refused, whatever it carries: it is a second way to the same machine, and no site publishes one.

A host is judged in the form that a resolver would see: percent-decoded, mapped by IDNA (so that full-width or circled
digits become digits), without a trailing dot, with decimal, octal, hexadecimal and shortened IPv4 spellings read as
`inet_aton` reads them. Only literals and names that are local by definition are judged here; what a public-looking
name resolves to has to be judged again, address by address, where the connection is made.
"""

import ipaddress
import re
from functools import lru_cache
from urllib.parse import unquote_to_bytes

import idna

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_SPECIAL_V4: tuple[tuple[ipaddress.IPv4Network, str], ...] = tuple(
    (ipaddress.IPv4Network(network), why)
    for network, why in (
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
        ("255.255.255.255/32", "broadcast"),
        ("240.0.0.0/4", "reserved"),
    )
)
# The first network that holds the address gives the reason, so narrow ones stand before wide ones.
_SPECIAL_V6: tuple[tuple[ipaddress.IPv6Network, str], ...] = tuple(
    (ipaddress.IPv6Network(network), why)
    for network, why in (
        ("::/128", "unspecified address"),
        ("::1/128", "loopback"),
        ("::ffff:0:0/96", "IPv4-mapped address"),
        ("::ffff:0:0:0/96", "IPv4-translated address"),
        ("::/96", "IPv4-compatible address"),
        ("64:ff9b::/96", "NAT64"),
        ("64:ff9b:1::/48", "local-use NAT64"),
        ("100::/64", "discard-only"),
        ("100:0:0:1::/64", "dummy prefix"),
        ("2001::/32", "Teredo"),
        ("2001:2::/48", "benchmarking"),
        ("2001:10::/28", "ORCHID"),
        ("2001::/23", "protocol assignments"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"),
        ("3ffe::/16", "former 6bone"),
        ("3fff::/20", "documentation"),
        ("5f00::/16", "segment routing"),
        ("fc00::/7", "unique local address"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
)
_GLOBAL_UNICAST_V6 = ipaddress.IPv6Network("2000::/3")

# Names that public DNS never holds. RFC 6761, 6762 (with its appendix G), 7686, 8375; ICANN reserved .internal in 2024.
_LOCAL_SUFFIXES: dict[str, str] = {
    "localhost": "loopback name",
    "localdomain": "local name",
    "local": "multicast DNS name",
    "internal": "private-use name",
    "home.arpa": "home network name",
    "intranet": "private network name",
    "private": "private network name",
    "corp": "private network name",
    "home": "private network name",
    "lan": "private network name",
    "onion": "onion name, not in public DNS",
}

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+").fullmatch
_DNS_LABEL = re.compile(r"[a-z0-9_-]{1,63}").fullmatch
_LONGEST_HOST = 1_000  # characters as spelled; percent-encoded IDNA text may be longer than the 253 of the name itself
_IDNA_DOTS = str.maketrans("\u3002\uff0e\uff61", "...")


class HostError(ValueError):
    """No resolver could look this host up: the message says why, in words for SKIPPED."""


def is_public(ip: IPAddress | str) -> tuple[bool, str]:
    """Say whether an address is globally routable, and what it is where it is not (an empty string where it is).

    Text that is no plain IP address is not public either: what cannot be judged is refused.
    """
    if isinstance(ip, str):
        try:
            ip = ipaddress.ip_address(ip)
        except ValueError:
            return False, "not an IP address"
    if isinstance(ip, ipaddress.IPv4Address):
        for network4, why in _SPECIAL_V4:
            if ip in network4:
                return False, why
        return True, ""
    if ip.scope_id is not None:
        return False, "address with a zone"
    for network6, why in _SPECIAL_V6:
        if ip in network6:
            return False, why
    if ip not in _GLOBAL_UNICAST_V6:
        return False, "outside the global unicast range"
    return True, ""


@lru_cache(maxsize=4096)
def ascii_host(host: str) -> str:
    """Return a URL's host as a resolver sees it: lower case, A-labels, no trailing dot, literals in usual form.

    IPv6 literals come back in brackets. Raises HostError for what can be neither an address nor a name in DNS.
    """
    if len(host) > _LONGEST_HOST:
        raise HostError("host longer than 253 characters")
    if host.startswith("["):
        return _bracketed(host)
    if ":" in host:
        return _bracketed(f"[{host}]")
    name = _mapped(host)
    name = name.removesuffix(".")
    if not name:
        raise HostError("no host")
    labels = name.split(".")
    if _NUMBER(labels[-1]):
        return str(_ipv4(labels))
    if len(name) > 253:
        raise HostError("host longer than 253 characters")
    for label in labels:
        if not _DNS_LABEL(label):
            raise HostError(
                "empty or over-long part in the host" if not label or len(label) > 63 else "impossible host"
            )
    return name


@lru_cache(maxsize=4096)
def refusal(host_or_address: str) -> str | None:
    """Say why a host or address is not public, whatever its spelling; None for a public one or a name that needs DNS.

    A host that could not be looked up at all is refused too (ask `ascii_host` first where the difference matters).
    """
    try:
        host = ascii_host(host_or_address)
    except HostError as error:
        return str(error)
    literal = host.strip("[]")
    if host.startswith("[") or _NUMBER(host.rpartition(".")[2]):
        public, why = is_public(literal)
        return None if public else f"{literal}: {why}"
    if "." not in host:
        return f"{host}: {_LOCAL_SUFFIXES.get(host, 'local name without a domain')}"
    for suffix, why in _LOCAL_SUFFIXES.items():
        if host == suffix or host.endswith(f".{suffix}"):
            return f"{host}: {why}"
    return None


def _bracketed(host: str) -> str:
    if not host.endswith("]"):
        raise HostError("impossible IPv6 address")
    inner = host[1:-1].replace("%25", "%", 1)
    try:
        return f"[{ipaddress.IPv6Address(inner)}]"
    except ValueError:
        raise HostError("impossible IPv6 address") from None


def _mapped(host: str) -> str:
    """Undo percent-encoding and IDNA's equivalences; the result is lower-case ASCII."""
    if "%" in host:
        try:
            host = unquote_to_bytes(host).decode("utf-8")
        except UnicodeDecodeError:
            raise HostError("impossible host") from None
    if host.isascii():
        return host.lower()
    host = host.translate(_IDNA_DOTS)
    try:
        return idna.encode(host, uts46=True).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError):
        pass
    try:  # IDNA 2003, which still has the names (emoji, for one) that IDNA 2008 gave up, as HTTP clients do
        return host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        raise HostError("impossible international host name") from None


def _ipv4(labels: list[str]) -> ipaddress.IPv4Address:
    """Read 1 to 4 numbers as inet_aton does: the last one fills what the others leave."""
    if len(labels) > 4:
        raise HostError("impossible IPv4 address")
    numbers = [_number(label) for label in labels]
    *leading, last = numbers
    if any(number > 255 for number in leading) or last >= 256 ** (5 - len(numbers)):
        raise HostError("impossible IPv4 address")
    value = last
    for position, number in enumerate(leading):
        value += number << (24 - 8 * position)
    return ipaddress.IPv4Address(value)


def _number(text: str) -> int:
    if not _NUMBER(text) or len(text) > 64:  # int() of a long text costs time and would overflow anyway
        raise HostError("impossible IPv4 address")
    try:
        if text[:2] in ("0x", "0X"):
            return int(text[2:] or "0", 16)
        return int(text, 8 if len(text) > 1 and text[0] == "0" else 10)
    except ValueError:
        raise HostError("impossible IPv4 address") from None
