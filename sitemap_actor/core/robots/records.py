"""The records of a robots.txt: groups with their rules and delays, and Sitemap lines.

Only Allow and Disallow close a run of User-agent lines (RFC 9309, 2.2.4: other records must not interfere). A
Crawl-delay belongs to every agent of the run that it stands in. An agent's name ends at the first character that a
product token cannot hold. Fields are recognised as leniently as well-known parsers do, common typos included, but an
Allow only as the grammar has it: a doubtful line must not open what a clear one closes.
"""

import math
import re
from dataclasses import dataclass, field

_FIELDS = {
    "user-agent": ("user-agent", "useragent", "user agent", "user_agent"),
    "disallow": ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"),
    "sitemap": ("sitemap", "site-map"),
    "crawl-delay": ("crawl-delay", "crawl delay", "crawldelay", "crawl_delay"),
}

_ASCII_SPACE = " \t\v\f"
_BEFORE_FIELD = " \t\v\f\ufeff\u200b\u00a0"  # what editors leave at the start of a line without anyone seeing it
_token = re.compile(r"[a-zA-Z_-]*").match
_number = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?").fullmatch
_surrogates = re.compile("[\ud800-\udfff]+")


@dataclass(slots=True)
class Group:
    """What one agent is told, all its groups taken together. A rule's path is as written."""

    rules: list[tuple[bool, str]] = field(default_factory=list)  # (it is an Allow, path)
    delay: float | None = None  # seconds; the longest of several


@dataclass(slots=True)
class Records:
    """A whole file: its groups by product token in lower case (`*` for everyone), and the values of Sitemap lines."""

    groups: dict[str, Group] = field(default_factory=dict)
    sitemaps: list[str] = field(default_factory=list)


class _Run:
    """A run of User-agent lines with the lines that belong to it."""

    def __init__(self) -> None:
        self.groups: list[Group] = []
        self.delay: float | None = None
        self.closed = False  # by an Allow or Disallow; the next User-agent line begins another run

    def join(self, group: Group) -> None:
        self.groups.append(group)
        if self.delay is not None:
            group.delay = max(self.delay, group.delay or 0.0)

    def take(self, name: str, value: str) -> None:
        """Give an Allow, Disallow or Crawl-delay to every agent of the run."""
        if name != "crawl-delay":
            self.closed = True
            for group in self.groups:
                group.rules.append((name == "allow", value))
            return
        delay = _seconds(value)
        if delay is not None:
            self.delay = max(delay, self.delay or 0.0)
            for group in self.groups:
                group.delay = max(delay, group.delay or 0.0)


def read_records(lines: list[str]) -> Records:
    """Sort lines (comments cut off) into groups and Sitemap values, both in their order."""
    records = Records()
    run: _Run | None = None
    for line in lines:
        name, value = _record(line)
        if name == "user-agent":
            if run is None or run.closed:
                run = _Run()
            token = _agent(value)
            if token:
                run.join(records.groups.setdefault(token, Group()))
        elif name == "sitemap":
            if value:
                records.sitemaps.append(_surrogates.sub("", value))
        elif name and run is not None:  # what stands before any User-agent line binds nobody
            run.take(name, value)
    return records


def _record(line: str) -> tuple[str, str]:
    """Return a line's field, by its usual name, and its value; two empty strings where it is no record we know."""
    field_name, colon, value = line.partition(":")
    stripped = field_name.strip(_ASCII_SPACE).lower()
    if colon and stripped == "allow":
        return "allow", value.strip(_ASCII_SPACE)
    name = _named(stripped.lstrip(_BEFORE_FIELD))
    if colon and name and not _holds_value(stripped):
        return name, value.strip()
    words = line.strip(_BEFORE_FIELD).split(None, 1)  # "Disallow /a", "Sitemap https://example.com/a.xml"
    name_alone = _named(words[0].lower()) if len(words) == 2 else ""
    if name_alone and (name_alone != "disallow" or words[1].startswith(("/", "*"))):  # else it is a sentence
        return name_alone, words[1].strip()
    return (name, value.strip()) if colon and name else ("", "")


def _named(text: str) -> str:
    """Return the field that a text in lower case means; letters after the name ("Disallowed") do not matter."""
    for name, spellings in _FIELDS.items():
        if text.startswith(spellings):
            return name
    return ""


def _holds_value(text: str) -> bool:
    """Whether a field's text holds a path already, so that the colon after it is part of the value: "Disallow /a:b"."""
    return "/" in text


def _agent(value: str) -> str:
    """Return the product token of a User-agent line in lower case; `*` may be followed by other words."""
    if value[:1] == "*" and (len(value) == 1 or value[1].isspace()):
        return "*"
    token = _token(value)
    return token[0].lower() if token else ""


def _seconds(value: str) -> float | None:
    if not _number(value):
        return None
    delay = float(value)
    return delay if math.isfinite(delay) else None
