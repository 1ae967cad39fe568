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


class _Binding:
    """One group that binds us."""

    def __init__(self, name: str, rules: list[tuple[bool, str]], origin: str) -> None:
        """Take the group's name as we call it, and its rules in the spelling of `paths`."""
        self.name = name
        self.finder = Finder((path for allow, path in rules if not allow), origin)
        self._start = len(origin)
        self._allows = Finder((path for allow, path in rules if allow), origin)
        self._protego: Protego | None = None
        if any(allow for allow, _ in rules):  # else whatever a Disallow touches is disallowed
            lines = (f"{'Allow' if allow else 'Disallow'}: {for_protego(path)}" for allow, path in rules)
            self._protego = Protego.parse("\n".join(("User-agent: *", *lines)))

    def disallowed(self, text: str) -> Iterator[int]:
        """Yield the numbers of the lines whose URL a Disallow touches and no Allow opens."""
        touched = self.finder.touched(text)
        if not touched:
            return
        lines = text.split("\n")
        for number in touched:
            line = lines[number + 1]
            path = line[self._start :].partition("?")[0]
            if path != "/robots.txt" and not self._opened(line):
                yield number

    def _opened(self, line: str) -> bool:
        """Whether an Allow is more specific than every Disallow, for a URL that some Disallow touches.

        Protego compares lengths after escaping all but a few characters, as the letter of RFC 9309 2.2.2 has it; most
        parsers compare them as written. Where `?` and the like make these differ, an Allow has to win both ways.
        """
        if self._protego is None or not self._protego.can_fetch(f"http://host{for_protego(line[self._start :])}", "*"):
            return False
        allowing, refusing = self._allows.longest(line), self.finder.longest(line)
        return allowing is None or refusing is None or len(allowing) >= len(refusing)


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
        if not self._bindings or not urls:
            return []
        text = self._lines(urls)
        refused = {number for binding in self._bindings for number in binding.disallowed(text)}
        if "/." in text and _dots(
            text
        ):  # a client that resolves dot segments would ask for the other path: both must pass
            lines = text.split("\n")[1:]
            dotted = [number for number, line in enumerate(lines) if _dots(line)]
            resolved = "".join(self._line(without_dots(lines[number][len(self._origin) :])) for number in dotted)
            refused.update(dotted[position] for binding in self._bindings for position in binding.disallowed(resolved))
        return sorted(refused)

    def rule(self, url: str) -> str:
        """Say, for SKIPPED, which group and rule disallow a URL: "group *: Disallow: /private/"."""
        lines = [self._lines([url])]
        if _dots(lines[0]):
            lines.append(self._line(without_dots(lines[0][len(self._origin) + 1 :])))
        for binding in self._bindings:
            for line in lines:
                if list(binding.disallowed(line)):
                    return f"group {binding.name}: Disallow: {binding.finder.longest(line[1:])}"
        return f"group {self.group or OTHER_TOKEN}"

    def _line(self, path: str) -> str:
        return f"\n{self._origin}{path}"

    def _lines(self, urls: list[str]) -> str:
        """Return the URLs as Finder takes them: a line each, in the spelling that rules are compared in."""
        joined, count, origin = "\n" + "\n".join(urls), len(urls), self._origin
        if joined.count(f"\n{origin}/") == count:
            if joined.isascii() and joined.encode("ascii").translate(None, ORDINARY) == b"\n" * count:
                return joined if "%" not in joined else url_lines(joined)
            if joined.count("\n") == count:
                return url_lines(joined)
        return "".join(self._line(url_path(_rest(url))) for url in urls)

    def _bind(self, name: str, group: Group) -> None:
        if group.delay is not None:
            self.crawl_delay = max(group.delay, self.crawl_delay or 0.0)
        paths = [(allow, rule_path(value)) for allow, value in group.rules if value]
        rules = [(allow, path) for allow, path in paths if path is not None]
        self.unparsed_rules += len(paths) - len(rules)
        disallowed = [path for allow, path in rules if not allow]
        if disallowed:
            self.can_refuse = True
            self.disallows_all = self.disallows_all or any(map(_matches_all, disallowed))
            self._bindings.append(_Binding(name, rules, self._origin))


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
