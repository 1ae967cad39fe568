"""Builds the extension objects of one entry: alternates, images, videos, news, as the sitemap gives them.

Keys are the local names of the elements; a child that repeats becomes a list; an element with children becomes an
object; one with attributes becomes an object of its text under `value` and its attributes. Elements of other
namespaces inside are left out. What one entry may hold is bounded, because nothing else bounds it: past the limit its
objects end.
"""

from typing import Any

from sitemap_actor.core.sitemaps.entries import Extras, trim
from sitemap_actor.core.sitemaps.names import Kind, split

WANTED = {"alternates": Kind.XHTML, "images": Kind.IMAGE, "videos": Kind.VIDEO, "news": Kind.NEWS}
"""The extensions' input names, and the kind of element each of them collects."""

ENTRY_LIMIT = 262_144
"""The most characters of extension objects that one entry may hold."""

_FIELD = {kind: name for name, kind in WANTED.items()}
_OBJECT = {Kind.IMAGE: "image", Kind.VIDEO: "video", Kind.NEWS: "news"}


class _Node:
    __slots__ = ("attributes", "children", "local", "texts")

    def __init__(self, local: str, attributes: dict[str, str]) -> None:
        self.local = local
        self.attributes = attributes
        self.children: dict[str, Any] = {}
        self.texts: list[str] = []


class ExtrasBuilder:
    """Takes the events of one entry's extension elements; `extras` is what they came to, None for nothing."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self._wanted = frozenset(WANTED[name] for name in wanted)
        self._path: list[_Node | None] = []
        self._kind = Kind.FOREIGN
        self.reset()

    def reset(self) -> None:
        """Begin a new entry."""
        self.extras: Extras | None = None
        self.size = 0

    def wants(self, kind: Kind) -> bool:
        """Tell whether an element of this kind, directly inside an entry, is to be collected."""
        return kind in self._wanted

    def start(self, kind: Kind, raw: str, attributes: list[str]) -> None:
        """Enter an element, the first one being one that `wants` said yes to."""
        if not self._path:
            self._kind = kind
        if kind is not self._kind or self.size > ENTRY_LIMIT:
            self._path.append(None)
            return
        pairs = zip(attributes[::2], attributes[1::2], strict=True)
        named = {split(name)[1]: value for name, value in pairs if not name.startswith("xmlns")}
        node = _Node(split(raw)[1], named)
        self.size += len(node.local) + sum(len(name) + len(value) for name, value in named.items())
        self._path.append(node)

    def data(self, text: str) -> None:
        """Take a piece of text."""
        node = self._path[-1]
        if node is not None and self.size <= ENTRY_LIMIT:
            node.texts.append(text)
            self.size += len(text)

    def end(self) -> bool:
        """Leave an element; return whether it was the first one."""
        node = self._path.pop()
        if not self._path:
            if node is not None:
                self._finish(node)
            return True
        parent = self._path[-1]
        if node is None or parent is None:
            return False
        value = _value(node)
        if node.local not in parent.children:
            parent.children[node.local] = value
        elif isinstance(parent.children[node.local], list):
            parent.children[node.local].append(value)
        else:
            parent.children[node.local] = [parent.children[node.local], value]
        return False

    def _finish(self, node: _Node) -> None:
        found: dict[str, Any] | None = None
        local = node.local.lower()
        if self._kind is Kind.XHTML:
            if local == "link" and "alternate" in node.attributes.get("rel", "alternate").lower().split():
                found = {name: trim(value) for name, value in node.attributes.items() if name != "rel"}
        elif local == _OBJECT[self._kind]:
            found = node.children
        elif local == "loc":
            # Written without the element that should hold it.
            found = {node.local: _value(node)}
        if found:
            self.extras = self.extras or {}
            self.extras.setdefault(_FIELD[self._kind], []).append(found)


def _value(node: _Node) -> Any:
    if node.children:
        return {**node.attributes, **node.children}
    text = trim("".join(node.texts))
    return {"value": text, **node.attributes} if node.attributes else text
