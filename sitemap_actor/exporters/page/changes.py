"""What REPORT.html says in monitor mode: the changes, and what was noticed but not reported as one."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sitemap_actor.core.reasons import ChangeType
from sitemap_actor.core.report import Row, RunReport, SiteReport
from sitemap_actor.exporters.page.text import Address, Room, address, capital, in_page, sentence
from sitemap_actor.exporters.page.words import COMPARED, FLAGS

_MOST_OF_A_TYPE = 500
_SITES_OF_A_FLAG = 10
_WORDS = {
    ChangeType.NEW: "Pages that were not there before",
    ChangeType.MODIFIED: "Pages whose lastmod names a later time",
    ChangeType.REMOVED: "Pages that no sitemap lists any more",
}


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One change row, with its lastmod before (modified pages only) and after."""

    address: Address
    before: str
    after: str

    @property
    def bytes(self) -> int:
        """About how many bytes of the page it takes."""
        return 190 + self.address.bytes + in_page(self.before, self.after)


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
    """A flag of monitor mode in words, with the sites that have it; `more` of them are not on the page."""

    code: str
    what: str
    follows: str
    sites: list[Address]
    more: int


def changes(report: RunReport, room: float) -> list[ChangeGroup]:
    """The changes by type; `room` bytes are shared out among the types."""
    by_type: dict[str, list[Row]] = {}
    for row in report.changes:
        by_type.setdefault(str(row.get("changeType")), []).append(row)
    share = room / max(1, len(by_type))
    return [_group(kind, by_type[kind], Room(share)) for kind in _WORDS if kind in by_type]


def _group(kind: ChangeType, rows: list[Row], room: Room) -> ChangeGroup:
    views = []
    for row in rows[:_MOST_OF_A_TYPE]:
        before, after = row.get("previousLastmod") or "", row.get("lastmod") or ""
        view = ChangeView(address(str(row["url"])), sentence(before, chars=40), sentence(after, chars=40))
        if not room.takes(view.bytes):
            break
        views.append(view)
    return ChangeGroup(str(kind), _WORDS[kind], len(rows), views, len(rows) - len(views))


def held(report: RunReport) -> list[Held]:
    """The flags of monitor mode: what was held back or noticed, and why."""
    flagged: dict[str, list[SiteReport]] = {}
    for site in report.sites:
        for flag in dict.fromkeys(_flags(site)):
            flagged.setdefault(flag, []).append(site)
    return [
        Held(
            sentence(flag, chars=60),
            *FLAGS.get(flag, (sentence(flag, chars=60), "")),
            [address(site.entry, chars=120) for site in having[:_SITES_OF_A_FLAG]],
            max(0, len(having) - _SITES_OF_A_FLAG),
        )
        for flag, having in flagged.items()
    ]


def _flags(site: SiteReport) -> Iterator[str]:
    """The site's flags and those of its sitemaps, as SUMMARY has them."""
    yield from map(str, _items(site.extra.get("flags")))
    for file in _items(site.extra.get("sitemaps")):
        if isinstance(file, Mapping):
            yield from map(str, _items(file.get("flags")))


def _items(value: object) -> Iterable[Any]:
    return value if isinstance(value, list | tuple) else ()


def compared(report: RunReport) -> dict[str, int]:
    """The counts of monitor mode that are not changes, by SUMMARY's names, summed over the sites."""
    totals: Counter[str] = Counter()
    for site in report.sites:
        counts = site.extra.get("counts")
        if isinstance(counts, Mapping):
            totals.update({name: counts[name] for name in COMPARED if isinstance(counts.get(name), int)})
    return {name: count for name, count in totals.items() if count}


def compared_in_words(report: RunReport) -> list[tuple[str, int]]:
    """`compared`, in words."""
    return [(capital(COMPARED[name]), count) for name, count in compared(report).items()]
