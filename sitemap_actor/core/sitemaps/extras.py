"""Builds the extension objects of one entry: alternates, images, videos, news, as the sitemap gives them.

Keys are the local names of the elements; a child that repeats becomes a list; an element with children becomes an
object; one with attributes becomes an object of its text under `value` and its attributes. Elements of other
namespaces inside are left out. What one entry may hold is bounded, because nothing else bounds it: past the limit its
objects end.
"""

from typing import Any

from sitemap_actor.core.sitemaps import names
from sitemap_actor.core.sitemaps.entries import Extras, trim

WANTED = {"alternates": names.XHTML, "images": names.IMAGE, "videos": names.VIDEO, "news": names.NEWS}
"""The extensions' input names, and the kind of element each of them collects."""

ENTRY_LIMIT = 262_144
"""The most characters of extension objects that one entry may hold."""

_FIELD = {kind: name for name, kind in WANTED.items()}
_OBJECT = {names.IMAGE: "image", names.VIDEO: "video", names.NEWS: "news"}


class _Node:
    __slots__ = ("attributes", "children", "local", "mixed")

    def __init__(self, local: str, attributes: dict[str, str]) -> None:
        self.local = local
        self.attributes = attributes
        self.children: dict[str, Any] = {}
        self.mixed = False


class ExtrasBuilder:
    """Takes the events of one entry's extension elements; `extras` is what they came to, None for nothing.

    `size` counts the characters held.
    """

    def __init__(self, wanted: frozenset[str]) -> None:
        self._wanted = frozenset(WANTED[name] for name in wanted)
        self._path: list[_Node | None] = []
        self._kind = names.FOREIGN
        self.reset()

    def reset(self) -> None:
        """Begin a new entry."""
        self.extras: Extras | None = None
        self.size = 0

    def wants(self, kind: int) -> bool:
        """Tell whether an element of this kind, directly inside an entry, is to be collected."""
        return kind in self._wanted

    def start(self, kind: int, raw: str, attributes: list[str]) -> None:
        """Enter an element, the first one being one that `wants` said yes to."""
        if not self._path:
            self._kind = kind
        elif (parent := self._path[-1]) is not None:
            parent.mixed = True
        if kind != self._kind or self.size > ENTRY_LIMIT:
            self._path.append(None)
            return
        local = raw.rpartition(":")[2]
        self.size += len(local)
        named: dict[str, str] = {}
        for name, value in zip(attributes[::2], attributes[1::2], strict=True):
            if not name.startswith("xmlns"):
                named[name.rpartition(":")[2]] = value
                self.size += len(name) + len(value)
        self._path.append(_Node(local, named))

    def end(self, parts: list[str]) -> bool:
        """Leave an element, `parts` being the text since the last tag; return whether it was the first one."""
        node = self._path.pop()
        parent = self._path[-1] if self._path else None
        if node is not None:
            value = self._value(node, parts)
            if not self._path:
                self._finish(node, value)
            elif parent is not None and value is not None:
                _put(parent.children, node.local, value)
        return not self._path

    def _value(self, node: _Node, parts: list[str]) -> Any:
        """Return an element's children, or its text, with its attributes; None for text broken up by elements."""
        if node.children:
            return {**node.attributes, **node.children}
        if node.mixed:
            return None
        text = trim("".join(parts))
        self.size += len(text)
        return {"value": text, **node.attributes} if node.attributes else text

    def _finish(self, node: _Node, value: Any) -> None:
        found: dict[str, Any] | None = None
        local = node.local.lower()
        if self._kind == names.XHTML:
            if local == "link" and "alternate" in node.attributes.get("rel", "alternate").lower().split():
                found = {name: trim(text) for name, text in node.attributes.items() if name != "rel"}
        elif local == _OBJECT[self._kind]:
            found = node.children
        elif local == "loc" and value:
            # Written without the element that should hold it.
            found = {node.local: value}
        if found:
            if self.extras is None:
                self.extras = {}
            self.extras.setdefault(_FIELD[self._kind], []).append(found)


def _put(children: dict[str, Any], local: str, value: Any) -> None:
    if local not in children:
        children[local] = value
    elif isinstance(children[local], list):
        children[local].append(value)
    else:
        children[local] = [children[local], value]
