"""The verdicts of one robots.txt."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from protego import Protego

from sitemap_actor.core.robots import sitemaps
from sitemap_actor.core.robots.finder import Finder
from sitemap_actor.core.robots.lines import read_lines
from sitemap_actor.core.robots.paths import ORDINARY, for_protego, rule_path, url_lines, url_path, without_dots
from sitemap_actor.core.robots.records import Group, read_records
from sitemap_actor.core.urls import site_of

PRODUCT_TOKEN = "SitemapUrlExtractor"  # noqa: S105 -- what robots.txt calls this client
OTHER_TOKEN = "apify"  # noqa: S105 -- a group of this name binds us as well, where there is one

_after_host = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*([^#]*)", re.DOTALL).match
_dots = re.compile(r"/\.\.?(?=[/?\n]|\Z)").search


@dataclass(slots=True)
class _Binding:
    """One group that binds us: its name as we call it, Protego's reading of it, and what its Disallow lines touch."""

    name: str
    protego: Protego
    finder: Finder

    def allows(self, path: str) -> bool:
        return self.protego.can_fetch(f"http://host{for_protego(path)}", "*")


@dataclass(slots=True)
class Rules:
    """What one host's robots.txt tells us. Made by `read`; a file without rules is `NO_RULES`.

    group: the group that applies, `SitemapUrlExtractor` or `*`, empty where neither exists; crawl_delay: seconds;
    sitemaps: addresses of Sitemap lines, resolved; disallows_all: a group that applies closes every path, even if Allow
    lines open some; can_refuse: whether any rule can refuse anything; unparsed_rules: rules that can match no path.
    """

    group: str = ""
    crawl_delay: float | None = None
    sitemaps: list[str] = field(default_factory=list)
    disallows_all: bool = False
    can_refuse: bool = False
    unparsed_rules: int = 0
    _origin: str = "http://host"
    _bindings: list[_Binding] = field(default_factory=list)
    _disallows: list[str] = field(default_factory=list)
    _finder: Finder | None = None

    @classmethod
    def read(cls, body: bytes, url: str) -> "Rules":
        """Read the robots.txt whose address is `url`. Raises Unreadable, and UrlError where `url` is none."""
        records = read_records(read_lines(body))
        rules = cls(_origin=site_of(url), sitemaps=sitemaps.resolved(records.sitemaps, url))
        own = PRODUCT_TOKEN.lower()
        if own in records.groups or "*" in records.groups:
            rules.group = PRODUCT_TOKEN if own in records.groups else "*"
            rules._bind(rules.group, records.groups[rules.group.lower()])
        if OTHER_TOKEN in records.groups:
            rules._bind(OTHER_TOKEN, records.groups[OTHER_TOKEN])
        return rules

    def allows(self, url: str) -> bool:
        """Whether a URL may be fetched or saved, whatever its spelling; its scheme and host are not looked at."""
        return not self.refused([url])

    def refused(self, urls: list[str]) -> list[int]:
        """Return the indices of the URLs (of this host, as listed) that are disallowed, in order."""
        if self._finder is None or not urls:
            return []
        text = self._lines(urls)
        refused = set(self._disallowed(text, self._finder))
        if "/." in text and _dots(
            text
        ):  # a client that resolves dot segments would ask for the other path, so both have to pass
            lines = text.split("\n")[1:]
            dotted = [index for index, line in enumerate(lines) if _dots(line)]
            other = "".join(f"\n{self._origin}{without_dots(lines[index][len(self._origin) :])}" for index in dotted)
            refused.update(dotted[position] for position in self._disallowed(other, self._finder))
        return sorted(refused)

    def rule(self, url: str) -> str:
        """Say, for SKIPPED, which group and rule disallow a URL: "group *: Disallow: /private/"."""
        line = self._lines([url])[1:]
        paths = [line[len(self._origin) :]]
        paths += [without_dots(path) for path in paths if _dots(path)]
        for binding in self._bindings:
            for path in paths:
                if not binding.allows(path):
                    pattern = binding.finder.longest(self._origin + path) or ""
                    return f"group {binding.name}: Disallow: {pattern}"
        return f"group {self.group or OTHER_TOKEN}"

    def _disallowed(self, text: str, finder: Finder) -> Iterator[int]:
        """Yield the numbers of the lines whose URL a Disallow touches and Protego does not allow."""
        touched = finder.touched(text)
        if not touched:
            return
        lines, start = text.split("\n"), len(self._origin)
        for number in touched:
            path = lines[number + 1][start:]
            if path != "/robots.txt" and not all(binding.allows(path) for binding in self._bindings):
                yield number

    def _lines(self, urls: list[str]) -> str:
        """Return the URLs as Finder takes them: a line each, in the spelling that rules are compared in."""
        joined, count, origin = "\n" + "\n".join(urls), len(urls), self._origin
        if joined.count(f"\n{origin}/") == count:
            if joined.isascii() and joined.encode("ascii").translate(None, ORDINARY) == b"\n" * count:
                return joined if "%" not in joined else url_lines(joined)
            if joined.count("\n") == count:
                return url_lines(joined)
        return "".join(f"\n{origin}{url_path(_rest(url))}" for url in urls)

    def _bind(self, name: str, group: Group) -> None:
        lines, disallowed = ["User-agent: *"], []
        for allow, value in group.rules:
            path = rule_path(value)
            if path is None:
                self.unparsed_rules += bool(value)
                continue
            lines.append(f"{'Allow' if allow else 'Disallow'}: {for_protego(path)}")
            if not allow:
                disallowed.append(path)
        if group.delay is not None:
            self.crawl_delay = max(group.delay, self.crawl_delay or 0.0)
        if not disallowed:
            return
        self.can_refuse = True
        self.disallows_all = self.disallows_all or any(map(_matches_all, disallowed))
        protego = Protego.parse("\n".join(lines))
        self._bindings.append(_Binding(name, protego, Finder(disallowed, self._origin)))
        self._disallows += disallowed
        self._finder = Finder(self._disallows, self._origin)


NO_RULES = Rules()


def _matches_all(pattern: str) -> bool:
    """Whether a Disallow matches every path: `/`, `*`, `/*`, and the like."""
    if pattern.endswith("$") and not pattern.endswith("*$"):
        return False
    return pattern.removesuffix("$").replace("*", "") in {"", "/"}


def _rest(url: str) -> str:
    """Return a URL's path and query as listed."""
    found = _after_host(url)
    return found[1] if found else url.partition("#")[0]
