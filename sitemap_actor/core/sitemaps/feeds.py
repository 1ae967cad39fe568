"""RSS 2.0, RSS 1.0 and Atom feeds read as sitemaps that roll: each item's link and date (spec 6, X34).

RSS: the item's link, else a guid that is a permalink; pubDate, else dc:date. Atom: of several links the alternate one;
updated, else published (in Atom 0.3: modified, issued). Links are given as written; the caller resolves them.
"""

from collections import Counter
from enum import Enum, auto
from typing import TYPE_CHECKING

from sitemap_actor.core.reasons import Fault, FileKind
from sitemap_actor.core.sitemaps.entries import BrokenFileError, Collector, trim
from sitemap_actor.core.sitemaps.exact import MAX_DEPTH, Text
from sitemap_actor.core.sitemaps.names import Scopes, split

if TYPE_CHECKING:
    from pyexpat import XMLParserType

ROOTS = {"rss": FileKind.RSS, "rdf": FileKind.RSS, "feed": FileKind.ATOM}
"""The feeds' root elements, in lower case."""

_ATOM = "http://www.w3.org/2005/atom"
_DATES = ("pubdate", "date", "updated", "modified", "published", "issued")
_TEXTS = frozenset({"link", "guid", *_DATES})


class _Space(Enum):
    OWN = auto()
    DUBLIN_CORE = auto()
    OTHER = auto()


class _Item:
    __slots__ = ("alternates", "invalid", "texts")

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.alternates: list[str] = []
        self.invalid = False


class FeedHandlers:
    """Takes expat's events from the root element on, as `SitemapHandlers` does."""

    rolling = True
    rootless = False

    def __init__(self, parser: "XMLParserType", scopes: Scopes, sink: Collector, kind: FileKind) -> None:
        self.root_end = -1
        self.root_line = 0
        self.faults: Counter[Fault] = Counter()
        self._parser = parser
        self._scopes = scopes
        self._sink = sink
        self._atom = kind is FileKind.ATOM
        self._item: _Item | None = None
        self._item_depth = 0
        self._field = ""
        self._permalink = True
        self._spoiled = False
        self._depth = 0
        self._text = Text()
        parser.CharacterDataHandler = self._text.parts.append

    def between(self) -> bool:
        """Tell that there is no fast reading of feeds."""
        return False

    def shorten(self) -> None:
        """Bound what is held; called between feeds."""
        self._text.shorten()

    def start(self, name: str, attributes: list[str]) -> None:
        """Take a start tag."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BrokenFileError(f"elements nested more than {MAX_DEPTH} deep")
        if attributes and self._depth > 1:
            self._scopes.open(self._depth, attributes)
        if self._item is None:
            local = split(name)[1].lower()
            if local == ("entry" if self._atom else "item") and self._space(name) is _Space.OWN:
                self._item, self._item_depth = _Item(), self._depth
        elif self._field:
            self._spoiled = True
        elif self._depth == self._item_depth + 1:
            self._start_field(name, attributes)
        self._text.clear()

    def end(self, _name: str) -> None:
        """Take an end tag."""
        depth = self._depth
        self._depth = depth - 1
        if self._item is not None:
            if depth == self._item_depth:
                self._end_item(self._item)
                self._item = None
            elif self._field and depth == self._item_depth + 1:
                self._end_field(self._item)
        self._text.clear()
        if self._scopes.opened_at == depth:
            self._scopes.close()
        if depth == 1:
            self.root_end = self._parser.CurrentByteIndex
            self.root_line = self._parser.CurrentLineNumber

    def _space(self, name: str) -> _Space:
        prefix = split(name)[0]
        scope = self._scopes.current
        uri = scope.namespace(prefix)
        if uri is None:
            return _Space.DUBLIN_CORE if prefix == "dc" else _Space.OTHER
        if "purl.org/dc/" in uri:
            return _Space.DUBLIN_CORE
        if not uri or uri == scope.root[1] or (not prefix and self._atom):
            return _Space.OWN
        # An RSS item's elements stand in no namespace, in RSS 1.0's, or in one that somebody made up for them.
        foreign = uri.lower() == _ATOM or "w3.org" in uri
        return _Space.OWN if not self._atom and not foreign and not prefix else _Space.OTHER

    def _start_field(self, name: str, attributes: list[str]) -> None:
        local = split(name)[1].lower()
        space = self._space(name)
        if space is _Space.OTHER or local not in _TEXTS or (space is _Space.DUBLIN_CORE and local != "date"):
            return
        named = {key.lower(): value for key, value in zip(attributes[::2], attributes[1::2], strict=True)}
        if self._atom and local == "link":
            alternate = "alternate" in named.get("rel", "alternate").lower().split()
            if alternate and named.get("href") and self._item:
                self._item.alternates.append(trim(named["href"]))
            return
        self._field, self._spoiled = local, False
        self._permalink = named.get("ispermalink", "true").strip().lower() != "false"

    def _end_field(self, item: _Item) -> None:
        value = "" if self._spoiled else self._text.value()
        usable = self._field != "guid" or (self._permalink and value.lower().startswith(("http://", "https://", "/")))
        if value and usable:
            if self._text.too_long:
                item.invalid = item.invalid or self._field in {"link", "guid"}
                value = value if self._field in {"link", "guid"} else ""
            item.texts.setdefault(self._field, value)
        self._field = ""

    def _end_item(self, item: _Item) -> None:
        links = [*item.alternates, item.texts.get("link", ""), item.texts.get("guid", "")]
        link = next((text for text in links if text), None)
        if link is None:
            self.faults[Fault.EMPTY_LOC] += 1
        elif item.invalid:
            self._sink.add_invalid(link)
        else:
            lastmod = next((item.texts[name] for name in _DATES if item.texts.get(name)), None)
            self._sink.add(link, lastmod, None, None, None)
