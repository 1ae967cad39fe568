"""The sites with their files, and the hosts, as REPORT.html lists them."""

from dataclasses import dataclass

from sitemap_actor.core.report import FileStatus, HostReport, RunReport, SitemapReport, SiteReport
from sitemap_actor.exporters.page.text import Address, Room, address, capital, in_page, sentence, size
from sitemap_actor.exporters.page.words import FILE_WORDS, SITE_WORDS, words_of

_FINE = frozenset({FileStatus.OK, FileStatus.UNCHANGED})


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

    @property
    def bytes(self) -> int:
        """About how many bytes of the page it takes."""
        return 290 + self.address.bytes + in_page(self.note, self.newest)


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
class HostView:
    """A host's row."""

    host: Address
    robots: str
    delay: str
    requests: int
    closed: str


def sites(report: RunReport, room: Room, files_room: float) -> tuple[list[SiteView], int]:
    """The sites that fit into `room`, and how many more there are. `files_room` bytes are shared out among their files."""
    views: list[SiteView] = []
    share = files_room / max(1, len(report.sites))
    for site in report.sites:
        view = _site(site, Room(share))
        fold = 900 + 2 * in_page(view.entry.text) if view.files else 0
        if not room.takes(360 + view.entry.bytes + in_page(view.message) + fold):
            break
        views.append(view)
    return views, len(report.sites) - len(views)


def _site(site: SiteReport, room: Room) -> SiteView:
    status, tone = SITE_WORDS[site.status] if site.message else ("Being read", "mute")
    files = []
    for file in sorted(site.sitemaps, key=lambda file: file.status in _FINE):
        view = _file(file)
        if not room.takes(view.bytes):
            break
        files.append(view)
    total = len(site.sitemaps) + site.unread_files
    return SiteView(
        entry=address(site.entry),
        status=status,
        tone=tone,
        message=sentence(site.message),
        saved=site.saved,
        listed=sum(file.listed for file in site.sitemaps),
        read=sum(file.status in _FINE or file.status is FileStatus.PARTIAL for file in site.sitemaps),
        files_total=total,
        files=files,
        more_files=total - len(files),
    )


def _file(file: SitemapReport) -> FileView:
    waits = file.status is FileStatus.SKIPPED and file.reason is None
    status, tone = ("Waiting", "mute") if waits else FILE_WORDS[file.status]
    why = [words_of(file.reason) if file.reason else "", sentence(file.detail or "", chars=200)]
    return FileView(
        address=address(file.url),
        status=status,
        tone=tone,
        note=capital(": ".join(part for part in why if part)),
        kind=file.kind or "",
        listed=file.listed or file.children,
        size=size(file.bytes) if file.bytes else "",
        newest=sentence(file.newest_lastmod or "", chars=40),
    )


_ROBOTS = {"rules": "rules followed", "none": "no rules", "unreadable": "could not be read", None: "not asked for"}


def hosts(report: RunReport, room: Room) -> tuple[list[HostView], int]:
    """The hosts that fit into `room`, those that were closed first, and how many more there are."""
    views: list[HostView] = []
    for host in sorted(report.hosts, key=lambda host: not (host.skipped_for or host.stopped_for)):
        view = _host(host)
        if not room.takes(260 + view.host.bytes):
            break
        views.append(view)
    return views, len(report.hosts) - len(views)


def _host(host: HostReport) -> HostView:
    status = f" ({host.robots_txt_status})" if host.robots_txt_status else ""
    reason = host.skipped_for or host.stopped_for
    return HostView(
        address(host.host),
        capital(_ROBOTS.get(host.robots_txt, str(host.robots_txt))) + status,
        f"{host.crawl_delay_secs:g} s" if host.crawl_delay_secs is not None else "",
        host.requests,
        words_of(reason) if reason else "",
    )
