"""CHANGES.atom: an Atom 1.0 feed (RFC 4287) of the run's new and modified pages, for feed readers and automations.

An entry is one change of one page. Its id follows from the page and the change alone, so a reader that meets it again (the
records are rewritten while a run lasts, and outside Apify delivery is at least once) shows it once. `updated` is when the
change was seen; the page's own lastmod stands in the summary, because it is text and may be anything.
"""

import re
import uuid
from collections.abc import Iterable
from heapq import nsmallest
from urllib.parse import urlsplit

from lxml import etree

from sitemap_actor.core.clock import iso
from sitemap_actor.core.lastmod import LastmodJudge
from sitemap_actor.core.reasons import ChangeType
from sitemap_actor.core.report import Row, RunReport
from sitemap_actor.core.urls import escaped

MAX_ENTRIES = 500

_ATOM = "http://www.w3.org/2005/Atom"
_NAMESPACE = uuid.UUID("7d0c4c9e-52a9-5a0e-9b53-7a1d5a8f6c11")
"""What entry and feed ids are made in; it never changes."""
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_WEB = re.compile("https?://", re.IGNORECASE)
_TITLES = {ChangeType.NEW: "New", ChangeType.MODIFIED: "Modified"}
_TITLE_CHARS = 200


def atom_bytes(report: RunReport, now: float) -> bytes | None:
    """The feed as of `now` (POSIX seconds), or None in a mode that knows no changes."""
    job = report.job
    if job is None or not job.conduct.remembers:
        return None
    feed = etree.fromstring(f'<feed xmlns="{_ATOM}"/>')
    sites = sorted({site.entry for site in job.site_list})
    _add(feed, "id", _urn("feed", job.state_key, *sites))
    _add(feed, "title", f"New and modified pages of {sites[0] if len(sites) == 1 else f'{len(sites):,} sites'}")
    _add(feed, "updated", iso(now))
    if len(sites) == 1:
        _add(feed, "link", href=sites[0])
    _add(_add(feed, "author"), "name", "Sitemap Actor")
    _add(feed, "generator", "Sitemap Actor")
    for row in _newest(report.changes, now):
        _entry(feed, row, now)
    return etree.tostring(feed, xml_declaration=True, encoding="utf-8", pretty_print=True)


def _newest(rows: Iterable[Row], now: float) -> list[Row]:
    """The newest `MAX_ENTRIES` new and modified pages, by their lastmod; one without a readable lastmod counts as of now."""
    pages = [row for row in rows if row.get("changeType") in _TITLES and _WEB.match(str(row["url"]))]
    instants = LastmodJudge(now).judge([row.get("lastmod") for row in pages])
    ages = [(-(now if instant is None else min(instant, now)), place) for place, instant in enumerate(instants)]
    return [pages[place] for _, place in nsmallest(MAX_ENTRIES, ages)]


def _entry(feed: etree._Element, row: Row, now: float) -> None:
    kind = ChangeType(row["changeType"])
    url, lastmod, before = str(row["url"]), row.get("lastmod"), row.get("previousLastmod")
    seen = row.get("fetchedAt") or iso(now)
    mark = row.get("firstSeenAt") if kind is ChangeType.NEW else f"{before} {lastmod}"
    entry = _add(feed, "entry")
    _add(entry, "id", _urn(str(row.get("site")), url, kind, str(mark)))
    _add(entry, "title", f"{_TITLES[kind]}: {_short(url)}")
    _add(entry, "link", href=escaped(_NOT_XML.sub("", url)))
    _add(entry, "updated", seen)
    if kind is ChangeType.NEW:
        _add(entry, "published", row.get("firstSeenAt") or seen)
    _add(entry, "category", term=str(kind), label=_TITLES[kind])
    _add(entry, "summary", _summary(kind, lastmod, before))


def _short(url: str) -> str:
    """The path of a page, which is what tells it from the others; the whole address where there is none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url[:_TITLE_CHARS]
    text = parts.path + (f"?{parts.query}" if parts.query else "") if len(parts.path) > 1 or parts.query else url
    return text if len(text) <= _TITLE_CHARS else text[: _TITLE_CHARS - 1] + "…"


def _summary(kind: ChangeType, lastmod: str | None, before: str | None) -> str:
    dated = f"lastmod {lastmod}" if lastmod else "no lastmod"
    if kind is ChangeType.NEW:
        return f"A page that was not there before ({dated})."
    return f"The page's lastmod was {before or 'none'} and is now {lastmod or 'none'}."


def _urn(*parts: str) -> str:
    return uuid.uuid5(
        _NAMESPACE, "\n".join(parts).encode("utf-8", "backslashreplace").decode("ascii", "backslashreplace")
    ).urn


def _add(parent: etree._Element, name: str, text: str | None = None, **attributes: str) -> etree._Element:
    """Add an element of the feed, its text and attributes without what XML cannot hold."""
    child = etree.SubElement(
        parent, f"{{{_ATOM}}}{name}", {key: _NOT_XML.sub("", value) for key, value in attributes.items()}
    )
    if text is not None:
        child.text = _NOT_XML.sub("", text)
    return child
