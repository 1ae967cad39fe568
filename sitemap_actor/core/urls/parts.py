"""One URL: taken apart, made canonical, percent-encoded, resolved, and shown without its password.

What may not be in a URL and what is kept as listed is spec 6: control and invisible characters, userinfo, schemes other
than http and https, an impossible host or port and more than 8,192 characters are errors; spaces and non-ASCII
characters are not. Whether a host is public is not asked here (`core.addresses` is).
"""

import re
from typing import NamedTuple

from sitemap_actor.core import addresses
from sitemap_actor.core.reasons import SkipReason

LONGEST_URL = 8_192  # characters; longer ones are invalid
LONG_URL = 2_048  # characters; longer ones are a protocol fault

# Characters that nobody can see, so that they change a URL without anyone noticing: control characters, line and
# paragraph separators, lone surrogates, format characters (but those that show), and Unicode's other default-ignorable
# code points (fillers, variation selectors, tags). Spaces of any width are not among them. The texts stand between the
# brackets of a regular expression's [...]; the rare planes are kept apart because they slow the search down.
_INVISIBLE_BMP = (
    r"\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
)
_INVISIBLE_ABOVE = r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
INVISIBLE = _INVISIBLE_BMP + _INVISIBLE_ABOVE

DEFAULT_PORTS = {"http": 80, "https": 443}

_invisible = re.compile(f"[{INVISIBLE}]").search
_odd_bmp = re.compile(f"[#{_INVISIBLE_BMP}]").search
_odd_above = re.compile(f"[{_INVISIBLE_ABOVE}]").search
_split = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^#]*)", re.DOTALL).match
_scheme = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):").match
_authority = re.compile(r"(\[[^\[\]@]*\]|[^:\[\]@]*)(?::([0-9]*))?").fullmatch
_port_follows = re.compile(r"[0-9]{1,5}(?![^/?#])").match
# A password may hold the very characters that end an authority; then what follows the colon is no port.
_secret = re.compile(r"((?:[A-Za-z][A-Za-z0-9+.-]*:)?/*)(?:[^/?#]*@|[^/?#]*:(?![0-9]*(?:[/?#]|$)).*@)", re.DOTALL).match
_not_in_urls = re.compile(r"[^\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+")
_lower_hex = re.compile(r"%(?:[a-f][0-9A-Fa-f]|[0-9A-F][a-f])")


class UrlError(ValueError):
    """An address that cannot be used: `reason` is SKIPPED's code, `detail` says why without quoting any secret."""

    def __init__(self, reason: SkipReason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class Parts(NamedTuple):
    """A valid http or https URL in pieces."""

    scheme: str  # lower case
    host: str  # as a resolver sees it: A-labels, no trailing dot, IPv6 in brackets
    port: str  # ":8080", empty where it is the scheme's own
    listed_host: str  # lower case, otherwise as spelled
    rest: str  # path and query as listed, without the fragment

    @property
    def site(self) -> str:
        """`scheme://host[:port]`, one spelling per host."""
        return f"{self.scheme}://{self.host}{self.port}"

    @property
    def canonical(self) -> str:
        """The form in which duplicates are found (spec 5)."""
        return f"{self.scheme}://{self.listed_host}{self.port}{self.rest}"


def read(url: str) -> Parts:
    """Take an absolute http or https URL apart. Raises UrlError for what spec 6 calls invalid."""
    if len(url) > LONGEST_URL:
        raise UrlError(SkipReason.INVALID_URL, f"longer than {LONGEST_URL:,} characters")
    refuse_invisible(url)
    pieces = _split(url)
    if not pieces:
        raise _no_address(url)
    scheme = pieces[1].lower()
    if scheme not in DEFAULT_PORTS:
        raise UrlError(SkipReason.UNSUPPORTED_SCHEME, f"scheme {scheme}")
    authority = pieces[2]
    if "@" in authority:
        raise UrlError(SkipReason.USERINFO, "user name or password in the address")
    found = _authority(authority)
    if not found:
        raise UrlError(SkipReason.INVALID_URL, "impossible host or port")
    try:
        host = addresses.ascii_host(found[1])
    except addresses.HostError as error:
        raise UrlError(SkipReason.INVALID_URL, str(error)) from None
    return Parts(scheme, host, _port(scheme, found[2]), found[1].lower(), pieces[3])


def requestable(url: str) -> str:
    """Return the URL with its host as a resolver sees it, path and query as listed, for a request to be made of it.

    HTTP libraries map international names in ways of their own (IDNA 2003, 2008), which name different hosts: the one
    whose robots.txt was read has to be the one that is asked. Raises UrlError where the URL is invalid.
    """
    parts = read(url)
    return parts.site + (parts.rest if parts.rest.startswith("/") else f"/{parts.rest}")


def refuse_invisible(text: str) -> None:
    """Raise UrlError(invalid_character) where the text holds a control or invisible character."""
    hidden = _invisible(text)
    if hidden:
        detail = f"U+{ord(hidden[0]):04X} at character {hidden.start() + 1}"
        raise UrlError(SkipReason.INVALID_CHARACTER, detail)


def odd(text: str) -> bool:
    """Whether a URL (or many, joined) holds a `#` or an invisible character, so that it is not its canonical form."""
    return _odd_bmp(text) is not None or (not text.isascii() and _odd_above(text) is not None)


def refuse_private(parts: Parts) -> None:
    """Raise UrlError(private_address) where the host is a literal or a name that is not public."""
    why = addresses.refusal(parts.host)
    if why:
        raise UrlError(SkipReason.PRIVATE_ADDRESS, why)


def canonical(url: str) -> str:
    """Return the form in which duplicates are found: scheme and host lower-cased, default port and fragment dropped.

    Text that is no absolute URL only loses its fragment.
    """
    pieces = _split(url)
    if not pieces:
        return url.partition("#")[0]
    scheme, authority, rest = pieces[1].lower(), pieces[2], pieces[3]
    found = _authority(authority)
    if not found:  # such a URL is refused anyway
        return f"{scheme}://{authority}{rest}"
    try:
        port = _port(scheme, found[2])
    except UrlError:
        port = f":{found[2]}"
    return f"{scheme}://{found[1].lower()}{port}{rest}"


def site_of(url: str) -> str:
    """Return `scheme://host[:port]` of a valid URL, one spelling per host: A-labels, no default port, no trailing dot.

    Raises UrlError where the URL is invalid.
    """
    return read(url).site


def host_key(url: str) -> str:
    """Return the key under which a host's rules, pace and fate are kept; the same as `site_of`."""
    return read(url).site


def resolve(base: str, text: str) -> str:
    """Resolve `/path` and `//host/path` against a sitemap's address; any other text comes back as it is."""
    if not text.startswith("/"):
        return text
    scheme, separator, rest = base.partition("://")
    if text.startswith("//"):
        return f"{scheme}:{text}"
    return f"{scheme}{separator}{first_segment(rest)}{text}"


def first_segment(text: str) -> str:
    """Return text up to the first character that ends an authority."""
    return re.split("[/?#]", text, maxsplit=1)[0]


def percent_encoded(url: str) -> str:
    """Return the URL as it would be requested: A-label host, no fragment, everything outside the URL alphabet encoded.

    Escapes already there stay, with their hex digits in upper case. Raises UrlError where the URL is invalid.
    """
    parts = read(url)
    return parts.site + (escaped(parts.rest) if parts.rest.startswith("/") else f"/{escaped(parts.rest)}")


def escaped(text: str) -> str:
    """Percent-encode what no URL may hold (spaces, quotes, non-ASCII as UTF-8); a stray `%` stays as it is."""
    if "%" in text:
        text = _lower_hex.sub(lambda found: found[0].upper(), text)
    return _not_in_urls.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), text)


def redacted(text: str) -> str:
    """Return text with whatever may be a user name or password in it replaced by `***`."""
    if "@" not in text or text[:7].lower() == "mailto:":
        return text
    found = _secret(text)
    return f"{found[1]}***@{text[found.end() :]}" if found else text


def lacks_scheme(text: str) -> bool:
    """Whether text that may be an address names no scheme; in `example.com:8080/a` the colon announces a port."""
    found = _scheme(text)
    if not found:
        return True
    return "." in found[1] or (_port_follows(text, found.end()) is not None and found[1].lower() not in {"tel", "sms"})


def _port(scheme: str, digits: str | None) -> str:
    """Return ":port", or nothing for the scheme's own port; raises UrlError for a port that cannot be."""
    if not digits:
        return ""
    number = int(digits) if len(digits) <= 9 else 0
    if not 0 < number < 65_536:
        raise UrlError(SkipReason.INVALID_URL, "impossible port")
    return "" if number == DEFAULT_PORTS.get(scheme) else f":{number}"


def _no_address(url: str) -> UrlError:
    """Say what is wrong with text that does not begin with `scheme://`."""
    if lacks_scheme(url):
        return UrlError(SkipReason.INVALID_URL, "no absolute URL")
    scheme = url.partition(":")[0].lower()
    if scheme in DEFAULT_PORTS:
        return UrlError(SkipReason.INVALID_URL, "no host")
    return UrlError(SkipReason.UNSUPPORTED_SCHEME, f"scheme {scheme}")
