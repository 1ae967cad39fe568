"""The exact reading of a urlset or a sitemap index: what each start and end tag means.

Rules (spec 6): an entry counts once its end tag was seen; an entry is what it says it is, wherever it stands; only a
field directly inside an entry is the entry's; the first loc counts. Nothing is put together that the file does not
say: a field with an element inside has no value.
"""

import re
from collections import Counter
from typing import TYPE_CHECKING

from sitemap_actor.core.reasons import Fault
from sitemap_actor.core.sitemaps.entries import FIELD_LIMIT, INVISIBLE, BrokenFileError, Collector
from sitemap_actor.core.sitemaps.extras import ExtrasBuilder
from sitemap_actor.core.sitemaps.names import Kind, Scopes

if TYPE_CHECKING:
    from pyexpat import XMLParserType

MAX_DEPTH = 256
"""How deep elements may be nested: every open one costs memory."""

_ABSOLUTE = re.compile(r"https?://\S+", re.IGNORECASE)


class Text:
    """The text of one field as expat hands it out, held up to the limit however long it is.

    `parts.append` is the handler, so that no Python function runs per piece; `shorten` is called between feeds.
    """

    __slots__ = ("parts", "too_long")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.too_long = False

    def shorten(self) -> None:
        """Drop what cannot matter any more: white space in front, and everything past the limit."""
        if sum(map(len, self.parts)) <= FIELD_LIMIT:
            return
        text = "".join(self.parts).lstrip(INVISIBLE)
        if len(text) > FIELD_LIMIT:
            kept = text.rstrip(INVISIBLE)
            if len(kept) > FIELD_LIMIT:
                self.too_long = True
                text = kept[:FIELD_LIMIT]
            else:
                # Whatever is still to come, more than white space makes the value too long.
                text = kept + " " * (FIELD_LIMIT + 1 - len(kept))
        self.parts[:] = [text]

    def value(self) -> str:
        """Return the text, trimmed, cut at the limit where `too_long` says so."""
        parts = self.parts
        text = (parts[0] if len(parts) == 1 else "".join(parts)).strip(INVISIBLE)
        if len(text) > FIELD_LIMIT:
            self.too_long = True
        return text[:FIELD_LIMIT] if self.too_long else text


class _Entry:
    """An open `<url>` or `<sitemap>`: its fields so far, and the text that stands directly inside."""

    __slots__ = ("invalid", "locs", "own", "values")

    def __init__(self, own: Text) -> None:
        self.values: list[str | None] = [None, None, None, None]
        self.locs = 0
        self.invalid = False
        self.own = own


class SitemapHandlers:
    """Takes expat's events from the root element on; what comes of them goes to `sink`.

    `rolling` tells that a news element was met, `rootless` that the root is an entry itself, `depth` 0 that the root
    has ended, and `between` that the place reached is one where whole entries may follow each other.
    """

    def __init__(
        self, parser: "XMLParserType", scopes: Scopes, sink: Collector, extensions: frozenset[str] = frozenset()
    ) -> None:
        self.depth = 0
        self.rolling = False
        self.rootless = False
        self.faults: Counter[Fault] = Counter()
        self._parser = parser
        self._scopes = scopes
        self._sink = sink
        self._builder = ExtrasBuilder(extensions) if extensions else None
        self._building = False
        self._stack: list[Kind] = [Kind.FOREIGN]
        self._containers: list[Kind] = []
        self._entries: list[_Entry] = []
        self._skip = 0
        self._spoiled = False
        self._text = Text()

    def between(self) -> bool:
        """Tell whether the place is directly inside a urlset whose entries are written without prefix."""
        return self._stack[-1] is Kind.URLSET and not self._skip and self._scopes.current.plain()

    def shorten(self) -> None:
        """Bound what is held; called between feeds."""
        self._text.shorten()
        if self._entries:
            self._entries[-1].own.shorten()

    def start(self, name: str, attributes: list[str]) -> None:
        """Take a start tag."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise BrokenFileError(f"elements nested more than {MAX_DEPTH} deep")
        if attributes and self.depth > 1:
            self._scopes.open(self.depth, attributes)
        kind = self._scopes.current.kind(name)
        if self._skip:
            if kind is Kind.NEWS:
                self.rolling = True
            if self._building and self._builder:
                self._builder.start(kind, name, attributes)
            return
        top = self._stack[-1]
        if kind >= Kind.LOC and Kind.URL <= top <= Kind.SITEMAP:
            self._stack.append(kind)
            self._spoiled = False
            self._text = Text()
            self._parser.CharacterDataHandler = self._text.parts.append
        elif Kind.URL <= kind <= Kind.SITEMAP and top <= Kind.SITEMAP:
            self._open_entry(kind)
        elif Kind.URLSET <= kind <= Kind.INDEX and top <= Kind.INDEX:
            self._stack.append(kind)
            self._containers.append(kind)
        else:
            self._open_foreign(kind, name, attributes, top)

    def end(self, _name: str) -> None:
        """Take an end tag."""
        depth = self.depth
        self.depth = depth - 1
        if self._skip:
            if self._building and self._builder and self._builder.end():
                self._building = False
                self._listen()
            if self._skip == depth:
                self._skip = 0
        else:
            kind = self._stack.pop()
            if kind >= Kind.LOC:
                self._end_field(kind)
            elif kind >= Kind.URL:
                self._end_entry(kind, self._entries.pop())
                self._listen()
            else:
                self._containers.pop()
        if self._scopes.opened_at == depth and depth > 1:
            self._scopes.close()

    def _open_entry(self, kind: Kind) -> None:
        if self.depth == 1:
            self.rootless = True
        self._stack.append(kind)
        self._entries.append(_Entry(Text()))
        self._listen()
        if self._builder:
            self._builder.reset()

    def _open_foreign(self, kind: Kind, name: str, attributes: list[str], top: Kind) -> None:
        self._skip = self.depth
        if kind is Kind.NEWS:
            self.rolling = True
        if top >= Kind.LOC:
            self._spoiled = True
        elif top is Kind.URL and self._builder and self._builder.wants(kind):
            self._building = True
            self._builder.start(kind, name, attributes)
            self._parser.CharacterDataHandler = self._builder.data

    def _listen(self) -> None:
        """Send text where it belongs at this place: only a sitemap entry's own text can matter (S07)."""
        own = self._stack[-1] is Kind.SITEMAP
        self._parser.CharacterDataHandler = self._entries[-1].own.parts.append if own else None

    def _end_field(self, kind: Kind) -> None:
        value = "" if self._spoiled else self._text.value()
        entry = self._entries[-1]
        if self._stack[-1] is Kind.SITEMAP:
            self._listen()
        else:
            self._parser.CharacterDataHandler = None
        if kind is Kind.LOC:
            entry.locs += 1
            if value and entry.values[0] is None:
                entry.values[0] = value
                entry.invalid = self._text.too_long
        elif value and not self._text.too_long and entry.values[kind - Kind.LOC] is None:
            entry.values[kind - Kind.LOC] = value

    def _end_entry(self, kind: Kind, entry: _Entry) -> None:
        loc, lastmod, changefreq, priority = entry.values
        if entry.locs > 1:
            self.faults[Fault.EXTRA_LOC] += entry.locs - 1
        if loc is None:
            self.faults[Fault.EMPTY_LOC] += 1
            own = entry.own.value() if kind is Kind.SITEMAP else ""
            loc = own if _ABSOLUTE.fullmatch(own) else None
        if self._containers and self._containers[-1] is not (Kind.URLSET if kind is Kind.URL else Kind.INDEX):
            self.faults[Fault.MIXED_INDEX_URLSET] += 1
        if loc is None:
            return
        if entry.invalid:
            self._sink.add_invalid(loc)
        elif kind is Kind.SITEMAP:
            self._sink.add_child(loc, lastmod)
        elif self._builder:
            self._sink.add(loc, lastmod, changefreq, priority, self._builder.extras)
            self._sink.weigh_extras(self._builder.size)
        else:
            self._sink.add(loc, lastmod, changefreq, priority, None)
