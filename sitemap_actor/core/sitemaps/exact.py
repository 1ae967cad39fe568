"""The exact reading of a urlset or a sitemap index: what each start and end tag means.

Rules (spec 6): an entry counts once its end tag was seen; an entry is what it says it is, wherever it stands; only a
field directly inside an entry is the entry's; the first loc counts. Nothing is put together that the file does not say:
a field with an element inside has no value.

Text arrives by `list.append`, so that no Python function runs per piece, and is looked at where a tag ends it.
"""

import re
from collections import Counter
from typing import TYPE_CHECKING

from sitemap_actor.core.reasons import Fault
from sitemap_actor.core.sitemaps import names
from sitemap_actor.core.sitemaps.entries import FIELD_LIMIT, INVISIBLE, BrokenFileError, Collector, trim
from sitemap_actor.core.sitemaps.extras import ExtrasBuilder
from sitemap_actor.core.sitemaps.names import INDEX, LOC, SITEMAP, URL, URLSET, Scopes

if TYPE_CHECKING:
    from pyexpat import XMLParserType

MAX_DEPTH = 256
"""How deep elements may be nested: every open one costs memory."""

_ABSOLUTE = re.compile(r"https?://\S+", re.IGNORECASE)


class Text:
    """The text since the last tag, held up to the limit however long it is; `too_long` tells that it was cut there."""

    __slots__ = ("parts", "too_long")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.too_long = False

    def clear(self) -> None:
        """Begin anew."""
        self.parts.clear()
        self.too_long = False

    def shorten(self) -> None:
        """Drop what cannot matter any more: white space in front, and everything past the limit.

        Called between feeds, which bounds what is held; the value comes out the same however often it is.
        """
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
                text = text[: FIELD_LIMIT + 1]
        self.parts[:] = [text]

    def value(self) -> str:
        """Return the text, trimmed, cut at the limit where it is longer."""
        parts = self.parts
        text = trim(parts[0] if len(parts) == 1 else "".join(parts))
        if len(text) > FIELD_LIMIT:
            self.too_long = True
        return text[:FIELD_LIMIT] if self.too_long else text


class _Entry:
    """An open `<url>` or `<sitemap>`: its fields so far, how many locs, and the text that stands directly inside."""

    __slots__ = ("invalid", "locs", "own", "values")

    def __init__(self) -> None:
        self.values: list[str | None] = [None, None, None, None]
        self.locs = 0
        self.invalid = False
        self.own: Text | None = None


class SitemapHandlers:
    """Takes expat's events from the root element on; what comes of them goes to `sink`.

    `rolling` tells that a news element was met, `rootless` that the root is an entry itself; `root_end` is the position
    where the root's end tag starts (-1 before it), `faults` what was noticed.
    """

    def __init__(
        self, parser: "XMLParserType", scopes: Scopes, sink: Collector, extensions: frozenset[str] = frozenset()
    ) -> None:
        self.rolling = False
        self.rootless = False
        self.root_end = -1
        self.root_line = 0
        self.faults: Counter[Fault] = Counter()
        self._parser = parser
        self._scopes = scopes
        self._kinds = scopes.current.kinds
        self._sink = sink
        self._builder = ExtrasBuilder(extensions) if extensions else None
        self._building = False
        self._depth = 0
        self._stack: list[int] = [names.FOREIGN]
        self._containers: list[int] = []
        self._entries: list[_Entry] = []
        self._skip = 0
        self._spoiled = False
        self._text = Text()
        self._parts = self._text.parts
        parser.CharacterDataHandler = self._parts.append

    def between(self) -> bool:
        """Tell whether the place is directly inside a urlset whose entries are written without prefix."""
        return self._stack[-1] == URLSET and not self._skip and self._scopes.current.plain()

    def shorten(self) -> None:
        """Bound what is held; called between feeds."""
        self._text.shorten()

    def start(self, name: str, attributes: list[str]) -> None:
        """Take a start tag."""
        depth = self._depth = self._depth + 1
        if attributes:
            self._declare(depth, attributes)
        kind = self._kinds.get(name)
        if kind is None:
            kind = self._scopes.current.kind(name)
        if self._skip:
            self._inside_foreign(kind, name, attributes)
            return
        top = self._stack[-1]
        if top == SITEMAP:
            self._keep_own_text()
        if kind >= LOC and URL <= top <= SITEMAP:
            self._stack.append(kind)
            self._spoiled = False
        elif URL <= kind <= SITEMAP and top <= SITEMAP:
            self._open_entry(kind)
        elif URLSET <= kind <= INDEX and top <= INDEX:
            self._stack.append(kind)
            self._containers.append(kind)
        else:
            self._open_foreign(kind, name, attributes, top)
        if depth > MAX_DEPTH:
            raise BrokenFileError(f"elements nested more than {MAX_DEPTH} deep")
        self._text.clear()

    def end(self, _name: str) -> None:
        """Take an end tag."""
        depth = self._depth
        self._depth = depth - 1
        if self._skip:
            self._end_foreign(depth)
        else:
            kind = self._stack.pop()
            if kind >= LOC:
                self._end_field(kind)
            elif kind >= URL:
                self._end_entry(kind)
            else:
                self._containers.pop()
        self._text.clear()
        if self._scopes.opened_at == depth:
            self._scopes.close()
            self._kinds = self._scopes.current.kinds
        if depth == 1:
            self.root_end = self._parser.CurrentByteIndex
            self.root_line = self._parser.CurrentLineNumber

    def _declare(self, depth: int, attributes: list[str]) -> None:
        if depth > 1:
            self._scopes.open(depth, attributes)
            self._kinds = self._scopes.current.kinds

    def _open_entry(self, kind: int) -> None:
        if len(self._stack) == 1:
            self.rootless = True
        self._stack.append(kind)
        self._entries.append(_Entry())
        if self._builder:
            self._builder.reset()

    def _open_foreign(self, kind: int, name: str, attributes: list[str], top: int) -> None:
        self._skip = self._depth
        if kind == names.NEWS:
            self.rolling = True
        if top >= LOC:
            self._spoiled = True
        elif top == URL and self._builder and self._builder.wants(kind):
            self._building = True
            self._builder.start(kind, name, attributes)

    def _inside_foreign(self, kind: int, name: str, attributes: list[str]) -> None:
        if kind == names.NEWS:
            self.rolling = True
        if self._building and self._builder:
            self._builder.start(kind, name, attributes)
        self._text.clear()
        if self._depth > MAX_DEPTH:
            raise BrokenFileError(f"elements nested more than {MAX_DEPTH} deep")

    def _end_foreign(self, depth: int) -> None:
        if self._building and self._builder:
            self._building = not self._builder.end(self._parts)
        if self._skip == depth:
            self._skip = 0

    def _keep_own_text(self) -> None:
        """Keep the text between a sitemap entry's children: it may be all the entry has (S07)."""
        entry = self._entries[-1]
        if self._parts and not entry.locs:
            entry.own = entry.own or Text()
            entry.own.parts += self._parts
            entry.own.shorten()

    def _end_field(self, kind: int) -> None:
        value = "" if self._spoiled else self._text.value()
        entry = self._entries[-1]
        if kind == LOC:
            entry.locs += 1
            if value and entry.values[0] is None:
                entry.values[0] = value
                entry.invalid = self._text.too_long
        elif value and not self._text.too_long and entry.values[kind - LOC] is None:
            entry.values[kind - LOC] = value

    def _end_entry(self, kind: int) -> None:
        if kind == SITEMAP:
            self._keep_own_text()
        entry = self._entries.pop()
        loc, lastmod, changefreq, priority = entry.values
        if entry.locs > 1:
            self.faults[Fault.EXTRA_LOC] += entry.locs - 1
        if loc is None:
            self.faults[Fault.EMPTY_LOC] += 1
            own = entry.own.value() if entry.own else ""
            loc = own if entry.own and not entry.own.too_long and _ABSOLUTE.fullmatch(own) else None
        if self._containers and self._containers[-1] != (URLSET if kind == URL else INDEX):
            self.faults[Fault.MIXED_INDEX_URLSET] += 1
        if loc is None:
            return
        if entry.invalid:
            self._sink.add_invalid(loc)
        elif kind == SITEMAP:
            self._sink.add_child(loc, lastmod)
        elif self._builder:
            self._sink.add(loc, lastmod, changefreq, priority, self._builder.extras)
            self._sink.weigh_extras(self._builder.size)
        else:
            self._sink.add(loc, lastmod, changefreq, priority, None)
