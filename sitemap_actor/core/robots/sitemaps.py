"""Sitemap lines as addresses. They stand outside the groups (RFC 9309, 2.2.4) and should be absolute; many are not."""

import re

from sitemap_actor.core.urls import UrlError, read, resolve

_absolute = re.compile(r"https?:", re.IGNORECASE).match
_other_scheme = re.compile(r"[A-Za-z][A-Za-z0-9+-]*:(?![0-9])").match
_second_level = re.compile(r"(?:ac|co|com|edu|gob|gouv|gov|go|mil|ne|net|nom|or|org)\.[a-z]{2}").fullmatch


def resolved(values: list[str], robots_url: str) -> list[str]:
    """Return the addresses that Sitemap lines mean, in their order, each once.

    A value without a scheme means a host where its first part is the site's own host or one of the same domain, else a
    path. The robots.txt itself is left out. Whether an address is valid is not judged here.
    """
    found: dict[str, None] = {}
    for value in values:
        address = _resolved(value, robots_url)
        if address != robots_url:
            found[address] = None
    return list(found)


def _resolved(value: str, robots_url: str) -> str:
    if _absolute(value) or _other_scheme(value):
        return value
    if value.startswith("/"):
        return resolve(robots_url, value)
    parts = read(robots_url)
    if _same_domain(re.split("[/?#]", value, maxsplit=1)[0], parts.host):
        return f"{parts.scheme}://{value}"
    return f"{parts.site}/{value}"


def _same_domain(first: str, host: str) -> bool:
    """Whether text may be a host of the same registrable domain (its last two labels, or three as in example.co.uk)."""
    if "." not in first:
        return False
    try:
        named = read(f"https://{first}").host
    except UrlError:
        return False
    labels = host.split(".")
    if labels[-1].isdigit() or host.startswith("["):  # an address has no domain
        return named == host
    domain = ".".join(labels[-3:] if _second_level(".".join(labels[-2:])) else labels[-2:])
    return named in {host, domain} or named.endswith(f".{domain}")
