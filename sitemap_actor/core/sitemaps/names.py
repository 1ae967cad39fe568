"""What an element name means: namespaces as sites really write them.

expat runs without namespace processing, because a prefix never declared is no well-formedness error here (spec 6). So
the declarations are followed by hand: `Scopes` knows which are in force, and `Scope.kind` tells what a raw name
stands for.

A sitemap name is a known local name, in any letter case, without namespace, in the root's own namespace (whatever it
is), or in any spelling of the protocol's. The extensions' namespaces are foreign whatever their local names are, so
an `image:loc` is never a page's `loc`.
"""

import re

from sitemap_actor.core.sitemaps.entries import BrokenFileError

PROTOCOL = "http://www.sitemaps.org/schemas/sitemap/0.9"

_SPELLINGS = re.compile(
    r"(?:https?:)?//(?:www\.)?(?:sitemaps?\.org|google\.com)/schemas/(?:sitemaps?|siteindex)(?:/[0-9.]+)?/?",
    re.IGNORECASE,
)
_EXTENSION = re.compile(r"(?:schemas/sitemap-(image|video|news|[a-z]+)/)|(w3\.org/1999/xhtml)", re.IGNORECASE)
_MAX_NAMES = 1_024
_MAX_SCOPES = 64
_MAX_DECLARED = 256


# The part an element plays. Plain numbers in an order that can be compared: an enumeration's members cost more than
# everything else that is done per element.
FOREIGN = 0
IMAGE = 1
VIDEO = 2
NEWS = 3
XHTML = 4
URLSET = 5
INDEX = 6
URL = 7
SITEMAP = 8
LOC = 9
LASTMOD = 10
CHANGEFREQ = 11
PRIORITY = 12

_LOCAL = {
    "urlset": URLSET,
    "sitemapindex": INDEX,
    "url": URL,
    "sitemap": SITEMAP,
    "loc": LOC,
    "lastmod": LASTMOD,
    "changefreq": CHANGEFREQ,
    "priority": PRIORITY,
}
_BY_NAME = {"image": IMAGE, "video": VIDEO, "news": NEWS, "xhtml": XHTML}


def split(raw: str) -> tuple[str, str]:
    """Return the prefix (empty for none) and the local name of a raw name."""
    prefix, colon, local = raw.partition(":")
    return (prefix, local) if colon else ("", raw)


def is_protocol(uri: str) -> bool:
    """Tell whether a namespace is the protocol's, in any spelling that occurs."""
    return _SPELLINGS.fullmatch(uri.strip()) is not None


class Scope:
    """The namespace declarations in force at one place. `root` is the root element's (prefix, namespace).

    `kinds` remembers what `kind` said.
    """

    def __init__(self, uris: dict[str, str], root: tuple[str, str]) -> None:
        self.uris = uris
        self.root = root
        self.wrong_case = False
        self._plain: bool | None = None
        self.kinds: dict[str, int] = {}

    def kind(self, raw: str) -> int:
        """Tell what the element of this raw name is here."""
        kind = self.kinds.get(raw)
        if kind is None:
            kind = self._resolve(raw)
            if len(self.kinds) < _MAX_NAMES:
                self.kinds[raw] = kind
        return kind

    def namespace(self, prefix: str) -> str | None:
        """Return the namespace that a prefix (empty: the default) is bound to, None for a prefix never declared."""
        return self.uris.get(prefix, None if prefix else "")

    def plain(self) -> bool:
        """Tell whether unprefixed names are sitemap names here, and prefixed ones never are."""
        if self._plain is None:
            prefixes = [prefix for prefix in (*self.uris, self.root[0]) if prefix]
            self._plain = self._is_sitemap("") and not any(map(self._is_sitemap, prefixes))
        return self._plain

    def news_prefixes(self) -> list[str]:
        """Return the prefixes under which an element is a news element here."""
        return [prefix for prefix in {*self.uris, "news"} if prefix and self._extension(prefix) == NEWS]

    def _resolve(self, raw: str) -> int:
        prefix, local = split(raw)
        if self._is_sitemap(prefix):
            kind = _LOCAL.get(local.lower(), FOREIGN)
            if kind and local not in _LOCAL:
                self.wrong_case = True
            return kind
        return self._extension(prefix)

    def _is_sitemap(self, prefix: str) -> bool:
        uri = self.namespace(prefix)
        if uri is None or _EXTENSION.search(uri):
            # A root in an extension's namespace is a slip; only names written just like it are meant.
            return (prefix, uri or "") == self.root and prefix not in _BY_NAME
        return not uri or uri == self.root[1] or is_protocol(uri)

    def _extension(self, prefix: str) -> int:
        uri = self.namespace(prefix)
        if uri is None:
            return _BY_NAME.get(prefix, FOREIGN)
        match = _EXTENSION.search(uri)
        if match is None:
            return FOREIGN
        return XHTML if match[2] else _BY_NAME.get((match[1] or "").lower(), FOREIGN)


class Scopes:
    """Follows the declarations down and up the tree; `current` is the scope in force."""

    def __init__(self) -> None:
        self.current = Scope({}, ("", ""))
        self.opened_at = 0
        self.wrong_case = False
        self._outer: list[tuple[int, Scope]] = []
        self._seen: dict[tuple[int, tuple[str, ...]], tuple[Scope, Scope]] = {}

    def open_root(self, raw: str, attributes: list[str]) -> None:
        """Enter the root element, which settles what counts as the file's own namespace."""
        uris = _declared(attributes)
        prefix, _ = split(raw)
        self.current = Scope(uris, (prefix, uris.get(prefix, "")))

    def open(self, depth: int, attributes: list[str]) -> None:
        """Enter an element (not the root) at `depth` that may declare namespaces."""
        uris = _declared(attributes)
        if not uris:
            return
        outer = self.current
        if len(uris) + len(outer.uris) > _MAX_DECLARED:
            raise BrokenFileError("too many namespace declarations")
        key = (id(outer), tuple(part for pair in uris.items() for part in pair))
        known = self._seen.get(key)
        # The pair keeps the outer scope alive, so that its id stays its own.
        if known is None or known[0] is not outer:
            known = (outer, Scope({**outer.uris, **uris}, outer.root))
            if len(self._seen) < _MAX_SCOPES and sum(map(len, key[1])) < _MAX_NAMES:
                self._seen[key] = known
        self._outer.append((self.opened_at, outer))
        self.current, self.opened_at = known[1], depth

    def close(self) -> None:
        """Leave the element whose declarations are in force."""
        self.wrong_case = self.wrong_case or self.current.wrong_case
        self.opened_at, self.current = self._outer.pop()


def _declared(attributes: list[str]) -> dict[str, str]:
    """Return the namespaces declared among attributes (names and values alternating)."""
    return {
        name[6:]: value
        for name, value in zip(attributes[::2], attributes[1::2], strict=True)
        if name.startswith("xmlns") and name[5:6] in {":", ""}
    }
