"""Reads an XML sitemap pushed in pieces of UTF-8: expat for everything exact, the fast pattern for ordinary regions.

How the two share a file: children of the root that are complete leave an XML parser in the state they found it in. So
where expat stands between two children of the root, with no token begun, a region of whole `<url>` entries may be
read by the pattern instead and never reach expat; whatever the pattern cannot read goes through expat as it stands.
Only line numbers have to be kept right. Both ways give the same entries, the same faults and the same error.

There is no recovery: the first error that expat finds ends the file, the entries before it count. A DOCTYPE refuses the
file on expat's own event. Memory is flat: no token, name list, nesting or text may grow with the file.
"""

import pyexpat
from collections import Counter

from sitemap_actor.core.reasons import Fault, FileKind, SkipReason
from sitemap_actor.core.sitemaps import names
from sitemap_actor.core.sitemaps.entries import BrokenFileError, Collector, RefusedFileError
from sitemap_actor.core.sitemaps.exact import SitemapHandlers
from sitemap_actor.core.sitemaps.fast import FastReader
from sitemap_actor.core.sitemaps.feeds import ROOTS, FeedHandlers
from sitemap_actor.core.sitemaps.names import PROTOCOL, Scopes, split

REGION = 61_440
"""Bytes gathered before they are read, some 300 entries: so few that no field in them can be too long."""

MAX_TOKEN = 1_048_576
"""The longest tag, comment or processing instruction, in bytes."""

_MAX_NAMES = 10_000  # different names in one file; expat keeps each of them
_MAX_DETOURS = 4  # how often one region goes back to the pattern after an entry that it could not read
_END = b"</url>"
_KINDS = {
    names.URLSET: FileKind.URLSET,
    names.URL: FileKind.URLSET,
    names.INDEX: FileKind.INDEX,
    names.SITEMAP: FileKind.INDEX,
}


class XmlReader:
    """Reads one XML file into `sink`. `lines` is how many lines were skipped before it; `fast` False is for comparing.

    After `close`: `kind` (None where no sitemap's root was met), `error` (why the reading ended early), `refused` (the
    file is not to be read at all), `rolling`, and `faults`.
    """

    def __init__(self, sink: Collector, extensions: frozenset[str] = frozenset(), *, lines: int = 0, fast: bool = True):
        self.kind: FileKind | None = None
        self.error: str | None = None
        self.at_end = False
        self.refused: RefusedFileError | None = None
        self.trailing = False
        self._sink = sink
        self._extensions = extensions
        self._fast = FastReader(prefixed=not extensions) if fast else None
        self._lines = lines
        self._scopes = Scopes()
        self._handlers: SitemapHandlers | FeedHandlers | None = None
        self._namespace_faults: Counter[Fault] = Counter()
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._rest = b""
        self._fed = 0
        self._in_cdata = False
        self._parser = self._make_parser()

    @property
    def done(self) -> bool:
        """Whether no further byte can change anything."""
        return self.error is not None or self.refused is not None or self.trailing

    @property
    def _root_end(self) -> int:
        """The position where the root's end tag starts, -1 before it was met."""
        return -1 if self._handlers is None else self._handlers.root_end

    @property
    def rolling(self) -> bool:
        """Whether the file is one that old entries leave by design."""
        return self._handlers is not None and self._handlers.rolling

    @property
    def faults(self) -> Counter[Fault]:
        """What was noticed against the protocol so far."""
        faults = Counter(self._namespace_faults)
        if self._handlers is not None:
            faults += self._handlers.faults
        if self._scopes.wrong_case or self._scopes.current.wrong_case:
            faults[Fault.WRONG_CASE] = 1
        if self.trailing:
            faults[Fault.TRAILING_BYTES] = 1
        return faults

    def feed(self, data: bytes) -> None:
        """Take the next bytes, UTF-8."""
        if self.done or not data:
            return
        self._pending.append(data)
        self._pending_size += len(data)
        if self._pending_size >= REGION:
            gathered = b"".join(self._pending)
            whole = len(gathered) - len(gathered) % REGION
            for start in range(0, whole, REGION):
                self._process(gathered[start : start + REGION])
            self._pending = [gathered[whole:]]
            self._pending_size = len(gathered) - whole

    def close(self) -> None:
        """Say that the file has ended."""
        if self.done:
            return
        self._process(b"".join(self._pending))
        self._pending, self._pending_size = [], 0
        self._expat(self._rest)
        if not self.done and self._root_end < 0:
            self.at_end = True
            self._expat(b"", final=True)

    def release(self) -> None:
        """Let go of the parser's buffers at once: they and the handlers hold each other, and nothing else breaks that
        circle before the garbage collector comes, thousands of files later.
        """
        parser = self._parser
        parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = None
        parser.StartDoctypeDeclHandler = parser.StartCdataSectionHandler = parser.EndCdataSectionHandler = None

    def _process(self, data: bytes) -> None:
        if self.done:
            return
        data, self._rest = self._rest + data, b""
        if self._fast is not None and self._root_end < 0:
            if not self._ready():
                data = self._advance(data)
            cut = data.rfind(_END) + len(_END) if self._ready() else 0
            if cut >= len(_END):
                self._rest = data[cut:]
                self._region(data[:cut])
                return
        self._expat(data)

    def _advance(self, data: bytes) -> bytes:
        """Feed expat up to a place where entries may follow each other, if one is near; return what is left."""
        if self._handlers is None:
            first = data.find(b"<url>")
            cut = max(first, 0)
        else:
            cut = data.find(_END) + len(_END)
            cut = cut if cut >= len(_END) else 0
        if cut:
            self._expat(data[:cut])
        return data[cut:]

    def _ready(self) -> bool:
        """Tell whether expat stands between two children of the root, with no token begun."""
        return (
            self._handlers is not None
            and not self.done
            and self._root_end < 0
            and not self._in_cdata
            and self._handlers.between()
            and self._fed == self._parser.CurrentByteIndex
        )

    def _region(self, region: bytes) -> None:
        """Read a region that ends where an entry ends."""
        try:
            text = region.decode()
        except UnicodeDecodeError:
            self._expat(region)
            return
        for _ in range(_MAX_DETOURS):
            text = self._by_pattern(text)
            if not text:
                return
            cut = text.index("</url>") + len("</url>")
            self._expat(text[:cut].encode())
            text = text[cut:]
            if not text or self.done:
                return
            if not self._ready():
                break
        self._expat(text.encode())

    def _by_pattern(self, text: str) -> str:
        """Read what the pattern can from the start of the text; return what is left."""
        columns = self._fast.read(text) if self._fast is not None else None
        if columns is None:
            return text
        read = text if columns.end == len(text) else text[: columns.end]
        self._lines += read.count("\n")
        if "\r" in read:
            self._lines += read.count("\r") - read.count("\r\n")
        handlers = self._handlers
        if isinstance(handlers, SitemapHandlers) and not handlers.rolling:
            handlers.rolling = any(f"<{prefix}:" in read for prefix in self._scopes.current.news_prefixes())
        self._sink.extend(columns.locs, columns.lastmods, columns.changefreqs, columns.priorities)
        return text[columns.end :]

    def _expat(self, data: bytes, *, final: bool = False) -> None:
        if self.done:
            return
        if self._root_end >= 0:
            self.trailing = self.trailing or bool(data.strip())
            return
        before = self._fed
        self._fed += len(data)
        try:
            self._parser.Parse(data, final)
        except pyexpat.ExpatError as error:
            if self._root_end < 0:
                line = error.lineno + self._lines
                self.error = f"{pyexpat.ErrorString(error.code)} at line {line}"
                return
        except BrokenFileError as error:
            self.error = f"{error} at line {self._parser.CurrentLineNumber + self._lines}"
            return
        except RefusedFileError as error:
            self.refused = error
            return
        if self._root_end >= 0:
            self._end_of_root(data, self._root_end - before)
        else:
            self._check_bounds()

    def _end_of_root(self, data: bytes, offset: int) -> None:
        """Settle what follows the root's end tag, which starts (for an empty element: ends) at the offset."""
        handlers = self._handlers
        if handlers is not None and handlers.rootless:
            self.error = f"no urlset or sitemapindex around the entries, line {handlers.root_line + self._lines}"
            return
        start = max(offset, 0)
        if offset < 0 or data.startswith(b"</", start):
            start = data.index(b">", start) + 1
        self.trailing = bool(data[start:].strip())

    def _check_bounds(self) -> None:
        line = self._parser.CurrentLineNumber + self._lines
        if self._fed - self._parser.CurrentByteIndex > MAX_TOKEN:
            self.error = f"a tag or comment longer than {MAX_TOKEN} bytes at line {line}"
        elif len(self._parser.intern) > _MAX_NAMES:
            self.error = f"more than {_MAX_NAMES} different names at line {line}"
        elif self._handlers is not None:
            self._handlers.shorten()

    def _make_parser(self) -> pyexpat.XMLParserType:
        # The bytes are UTF-8 already, whatever the declaration says.
        parser = pyexpat.ParserCreate("utf-8")
        parser.ordered_attributes = True
        parser.buffer_text = True
        parser.buffer_size = 65_536
        parser.SetParamEntityParsing(pyexpat.XML_PARAM_ENTITY_PARSING_NEVER)
        if hasattr(parser, "SetReparseDeferralEnabled"):
            # Whether a token is complete has to be known at once; what is fed in one go is bounded here.
            parser.SetReparseDeferralEnabled(False)
        parser.StartElementHandler = self._on_root
        parser.StartDoctypeDeclHandler = self._on_doctype
        parser.StartCdataSectionHandler = self._on_cdata
        parser.EndCdataSectionHandler = self._on_cdata_end
        return parser

    def _on_root(self, name: str, attributes: list[str]) -> None:
        self._scopes.open_root(name, attributes)
        local = split(name)[1].lower()
        kind = self._scopes.current.kind(name)
        handlers: SitemapHandlers | FeedHandlers
        if kind in _KINDS:
            self.kind = _KINDS[kind]
            handlers = SitemapHandlers(self._parser, self._scopes, self._sink, self._extensions)
            namespace = self._scopes.current.root[1]
            if not namespace:
                self._namespace_faults[Fault.MISSING_NAMESPACE] = 1
            elif namespace != PROTOCOL:
                self._namespace_faults[Fault.WRONG_NAMESPACE] = 1
        elif local in ROOTS:
            self.kind = ROOTS[local]
            handlers = FeedHandlers(self._parser, self._scopes, self._sink, self.kind)
        else:
            what = "HTML" if local == "html" else f"an XML file whose root element is {name[:100]}"
            raise RefusedFileError(SkipReason.UNSUPPORTED_FORMAT, what)
        self._handlers = handlers
        self._parser.StartElementHandler = handlers.start
        self._parser.EndElementHandler = handlers.end
        handlers.start(name, attributes)

    def _on_doctype(self, name: str, *_rest: object) -> None:
        if name.lower() == "html":
            raise RefusedFileError(SkipReason.UNSUPPORTED_FORMAT, "HTML")
        raise RefusedFileError(SkipReason.UNSAFE_XML, f"the file has a DOCTYPE ({name[:100]})")

    def _on_cdata(self) -> None:
        self._in_cdata = True

    def _on_cdata_end(self) -> None:
        self._in_cdata = False
