"""What REPORT.html shows below its first screen, made from a `RunReport` within a budget of entries.

Nothing here knows markup; the templates know no rule. The lists are cut to `Caps`, and every cut says how much it left out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sitemap_actor.core.reasons import WORDS, ChangeType, SkipReason
from sitemap_actor.core.report import MAX_SKIPS_KEPT, FileStatus, HostReport, RunReport, SitemapReport, SiteReport
from sitemap_actor.exporters.page.text import Address, address, capital, sentence, size
from sitemap_actor.exporters.page.words import CLAUSES, COMPARED, FILE_WORDS, FLAGS, HINTS, SITE_WORDS, Clause

_UNLINKED = frozenset({SkipReason.PRIVATE_ADDRESS, SkipReason.USERINFO, SkipReason.INVALID_URL, SkipReason.INVALID_CHARACTER})
_FINE = frozenset({FileStatus.OK, FileStatus.UNCHANGED})


@dataclass(frozen=True, slots=True)
class Caps:
    """How many entries of each list the page may hold in all, and how many characters of an address."""

    sites: int = 1_000
    files: int = 800
    addresses: int = 1_000
    addresses_per_reason: int = 200
    changes: int = 1_000
    hosts: int = 500
    sections: int = 25
    files_per_fault: int = 20
    chars: int = 240

    def smaller(self) -> "Caps":
        """Half of everything, for a page that came out too large."""
        return Caps(
            self.sites // 2,
            self.files // 2,
            self.addresses // 2,
            self.addresses_per_reason // 2,
            self.changes // 2,
            self.hosts // 2,
            max(self.sections // 2, 5),
            self.files_per_fault // 2,
            max(self.chars // 2, 40),
        )


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole: `percent` of the largest part (for a bar), `of_all` of the total."""

    label: str
    count: int
    percent: float
    of_all: str


@dataclass(frozen=True, slots=True)
class FileView:
    """A row of a site's files."""

    address: Address
    status: str
    tone: str
    note: str
    kind: str
    listed: int
    size: str
    newest: str


@dataclass(frozen=True, slots=True)
class SiteView:
    """A site's row, and the files behind its fold; `more_files` are in REPORT only."""

    entry: Address
    status: str
    tone: str
    message: str
    saved: int
    listed: int
    read: int
    files_total: int
    files: list[FileView]
    more_files: int


@dataclass(frozen=True, slots=True)
class SkipView:
    """One skipped address."""

    address: Address
    detail: str
    found_in: Address | None


@dataclass(frozen=True, slots=True)
class SkipGroup:
    """Everything skipped for one reason; `more` of it is not on the page."""

    code: str
    words: str
    hint: str
    count: int
    entries: list[SkipView]
    more: int


@dataclass(frozen=True, slots=True)
class FaultView:
    """One protocol fault over all files."""

    code: str
    clause: Clause
    count: int
    files: list[tuple[Address, int]]
    more: int
    files_total: int


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One change row."""

    address: Address
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """The changes of one type; `more` of them are in the dataset only."""

    kind: str
    words: str
    count: int
    rows: list[ChangeView]
    more: int


@dataclass(frozen=True, slots=True)
class Held:
    """A flag of monitor mode in words, with the sites that have it."""

    code: str
    what: str
    follows: str
    sites: list[Address]
    more: int


def sites(report: RunReport, caps: Caps) -> tuple[list[SiteView], int]:
    """The sites, and how many of them are not on the page."""
    shown = report.sites[: caps.sites]
    share = max(1, caps.files // max(1, len(shown)))
    left = caps.files
    views = []
    for site in shown:
        view = _site(site, min(share, left), caps)
        left -= len(view.files)
        views.append(view)
    return views, len(report.sites) - len(shown)


def _site(site: SiteReport, room: int, caps: Caps) -> SiteView:
    status, tone = SITE_WORDS[site.status] if site.message else ("Being read", "mute")
    total = len(site.sitemaps) + site.unread_files
    files = sorted(site.sitemaps, key=lambda file: file.status in _FINE)[:room]
    return SiteView(
        entry=address(site.entry, chars=caps.chars),
        status=status,
        tone=tone,
        message=sentence(site.message),
        saved=site.saved,
        listed=sum(file.listed for file in site.sitemaps),
        read=sum(file.status in _FINE or file.status is FileStatus.PARTIAL for file in site.sitemaps),
        files_total=total,
        files=[_file(file, caps) for file in files],
        more_files=total - len(files),
    )


def _file(file: SitemapReport, caps: Caps) -> FileView:
    status, tone = FILE_WORDS[file.status]
    note = ": ".join(part for part in (WORDS[file.reason] if file.reason else "", sentence(file.detail or "", chars=200)) if part)
    return FileView(
        address=address(file.url, chars=caps.chars),
        status=status,
        tone=tone,
        note=capital(note),
        kind=file.kind or "",
        listed=file.listed or file.children,
        size=size(file.bytes) if file.bytes else "",
        newest=sentence(file.newest_lastmod or "", chars=40),
    )


def skips(report: RunReport, caps: Caps) -> list[SkipGroup]:
    """What was skipped, by reason, the commonest first."""
    room = {reason: caps.addresses_per_reason for reason in report.skips_by_reason}
    left = caps.addresses
    entries: dict[SkipReason, list[SkipView]] = {reason: [] for reason in report.skips_by_reason}
    for skip in report.skips:
        if not left:
            break
        if room[skip.reason]:
            room[skip.reason] -= 1
            left -= 1
            found_in = address(skip.found_in, chars=caps.chars // 2) if skip.found_in else None
            where = address(skip.address, chars=caps.chars, link=skip.reason not in _UNLINKED)
            entries[skip.reason].append(SkipView(where, sentence(skip.detail or "", chars=160), found_in))
    return [
        SkipGroup(
            str(reason), capital(WORDS.get(reason, reason)), HINTS[reason], count, entries[reason], count - len(entries[reason])
        )
        for reason, count in report.skips_by_reason.most_common()
        if count
    ]


def unlisted_skips(report: RunReport) -> int:
    """How many skips are counted, but not listed in SKIPPED either."""
    return max(0, sum(report.skips_by_reason.values()) - len(report.skips)) if len(report.skips) >= MAX_SKIPS_KEPT else 0


def faults(report: RunReport, caps: Caps) -> list[FaultView]:
    """The protocol faults, each with the files that have most of it."""
    views = []
    files = [file for site in report.sites for file in site.sitemaps if file.faults]
    totals = sum((file.faults for file in files), Counter())
    for fault, count in totals.most_common():
        having = sorted((file for file in files if file.faults[fault]), key=lambda file: -file.faults[fault])
        shown = [(address(file.url, chars=caps.chars), file.faults[fault]) for file in having[: caps.files_per_fault]]
        views.append(FaultView(str(fault), CLAUSES[fault], count, shown, len(having) - len(shown), len(having)))
    return views


def sections(report: RunReport, caps: Caps) -> tuple[list[Share], int]:
    """Saved URLs by first path segment, and how many segments are not on the page."""
    counted: Counter[str] = Counter()
    for site in report.sites:
        counted.update(site.sections)
    shown = counted.most_common(caps.sections)
    return shares([(sentence(name, chars=80), count) for name, count in shown], counted.total()), len(counted) - len(shown)


def shares(parts: list[tuple[str, int]], total: int) -> list[Share]:
    """Each part with its bar: as long as the part is of the largest."""
    most = max((count for _, count in parts), default=0)
    return [Share(label, count, round(count / most * 100, 1), _percent(count, total)) for label, count in parts if count]


def _percent(count: int, total: int) -> str:
    if not total:
        return ""
    percent = count / total * 100
    return "< 0.1 %" if percent < 0.1 else f"{percent:.1f} %" if percent < 10 else f"{percent:.0f} %"


def ledger(report: RunReport) -> list[Share]:
    """What became of every URL that the sitemaps listed."""
    counts = report.counts
    parts = [
        ("Saved", sum(report.saved_by_type.values()) - report.saved_by_type[ChangeType.REMOVED] or counts.saved),
        ("Saved before a restart of the run", counts.saved_before),
        ("Unchanged since the last run", counts.unchanged),
        ("Remembered silently, by rule or filter", counts.remembered_silently),
        ("Held until a complete run", counts.held),
        ("Kept for the next run", counts.deferred),
        ("The same page again", counts.duplicates),
        ("Older than changedSince", counts.filtered_older),
        ("Without a readable lastmod", counts.filtered_undated),
        ("Left out by a URL pattern", counts.filtered_by_pattern),
        ("Disallowed by robots.txt", counts.disallowed),
        ("On a host that is closed, private or past the limit", counts.skipped),
        ("Not a usable address", counts.invalid),
        ("Past a limit of this run", counts.not_saved),
    ]
    return shares(parts, counts.listed)


_CHANGES = {
    ChangeType.NEW: "Pages that were not there before",
    ChangeType.MODIFIED: "Pages whose lastmod names a later time",
    ChangeType.REMOVED: "Pages that no sitemap lists any more",
}


def changes(report: RunReport, caps: Caps) -> list[ChangeGroup]:
    """The changes by type."""
    by_type: dict[str, list[Mapping[str, Any]]] = {kind: [] for kind in _CHANGES}
    for row in report.changes:
        by_type.setdefault(str(row.get("changeType")), []).append(row)
    share = caps.changes // max(1, sum(bool(rows) for rows in by_type.values()))
    return [
        ChangeGroup(
            kind=str(kind),
            words=words,
            count=len(by_type[kind]),
            rows=[_change(row, caps) for row in by_type[kind][:share]],
            more=max(0, len(by_type[kind]) - share),
        )
        for kind, words in _CHANGES.items()
        if by_type[kind]
    ]


def _change(row: Mapping[str, Any], caps: Caps) -> ChangeView:
    before, after = row.get("previousLastmod"), row.get("lastmod")
    return ChangeView(address(str(row["url"]), chars=caps.chars), sentence(before or "", chars=40), sentence(after or "", chars=40))


def held(report: RunReport, caps: Caps) -> list[Held]:
    """The flags of monitor mode: what was held back or noticed, and why."""
    flagged: dict[str, list[SiteReport]] = {}
    for site in report.sites:
        for flag in dict.fromkeys(_flags(site)):
            flagged.setdefault(flag, []).append(site)
    room = max(3, caps.files_per_fault // 2)
    return [
        Held(
            sentence(flag, chars=60),
            *FLAGS.get(flag, (sentence(flag, chars=60), "")),
            [address(site.entry, chars=caps.chars) for site in having[:room]],
            max(0, len(having) - room),
        )
        for flag, having in flagged.items()
    ]


def _flags(site: SiteReport) -> Iterator[str]:
    yield from map(str, _items(site.extra.get("flags")))
    for file in _items(site.extra.get("sitemaps")):
        if isinstance(file, Mapping):
            yield from map(str, _items(file.get("flags")))


def _items(value: object) -> Iterable[Any]:
    return value if isinstance(value, list | tuple) else ()


def compared(report: RunReport) -> list[tuple[str, int]]:
    """The counts of monitor mode that are not changes, summed over the sites."""
    totals: Counter[str] = Counter()
    for site in report.sites:
        counts = site.extra.get("counts")
        if isinstance(counts, Mapping):
            totals.update({name: counts[name] for name in COMPARED if isinstance(counts.get(name), int)})
    return [(capital(COMPARED[name]), count) for name, count in totals.items() if count]


@dataclass(frozen=True, slots=True)
class HostView:
    """A host's row."""

    host: Address
    robots: str
    delay: str
    requests: int
    closed: str


_ROBOTS = {"rules": "rules followed", "none": "no rules", "unreadable": "could not be read", None: "not asked for"}


def hosts(report: RunReport, caps: Caps) -> tuple[list[HostView], int]:
    """The hosts, those that were closed first, and how many are not on the page."""
    known = sorted(report.hosts, key=lambda host: not (host.skipped_for or host.stopped_for))
    return [_host(host, caps) for host in known[: caps.hosts]], max(0, len(known) - caps.hosts)


def _host(host: HostReport, caps: Caps) -> HostView:
    status = f" ({host.robots_txt_status})" if host.robots_txt_status else ""
    reason = host.skipped_for or host.stopped_for
    return HostView(
        address(host.host, chars=caps.chars),
        capital(_ROBOTS.get(host.robots_txt, str(host.robots_txt))) + status,
        f"{host.crawl_delay_secs:g} s" if host.crawl_delay_secs is not None else "",
        host.requests,
        capital(WORDS.get(reason, reason)) if reason else "",
    )


def settings(report: RunReport) -> list[tuple[str, str]]:
    """The settings as used; lists in one line."""
    used = report.job.settings() if report.job else {}
    return [(sentence(name, chars=60), _value(value)) for name, value in used.items()]


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        more = f" and {len(value) - 10:,} more" if len(value) > 10 else ""
        return (", ".join(sentence(entry, chars=80) for entry in value[:10]) + more) or "none"
    if value is None or value == "":
        return "none"
    return f"{value:,}" if isinstance(value, int) else sentence(value, chars=200)


def adjustments(report: RunReport) -> list[tuple[str, str, str, str]]:
    """What was not used as given: field, given, used, why."""
    return [
        (sentence(note.field, chars=60), _value(note.value), _value(note.used), sentence(note.message))
        for note in report.notes.adjustments[:100]
    ]
