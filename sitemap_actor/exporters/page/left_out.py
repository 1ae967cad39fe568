"""What REPORT.html says of skipped addresses, by reason, and of protocol faults, by clause."""

from collections import Counter
from dataclasses import dataclass
from heapq import nlargest

from sitemap_actor.core.reasons import Fault, SkipReason
from sitemap_actor.core.report import RunReport, Skip
from sitemap_actor.exporters.page.text import Address, Room, address, capital, in_page, sentence
from sitemap_actor.exporters.page.words import CLAUSES, HINTS, Clause, words_of

_UNLINKED = frozenset(
    {SkipReason.PRIVATE_ADDRESS, SkipReason.USERINFO, SkipReason.INVALID_URL, SkipReason.INVALID_CHARACTER}
)
_MOST_OF_A_REASON = 300
_FILES_OF_A_FAULT = 20


@dataclass(frozen=True, slots=True)
class SkipView:
    """One skipped address."""

    address: Address
    detail: str
    found_in: Address | None

    @property
    def bytes(self) -> int:
        """About how many bytes of the page it takes."""
        return 110 + self.address.bytes + in_page(self.detail) + (self.found_in.bytes if self.found_in else 0)


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
    """One protocol fault over all files, with those that have most of it; `more` of the files are not on the page."""

    code: str
    clause: Clause
    count: int
    files: list[tuple[Address, int]]
    more: int
    files_total: int


def skips(report: RunReport, room: float) -> list[SkipGroup]:
    """What was skipped, by reason, the commonest first; `room` bytes are shared out among the reasons."""
    by_reason: dict[SkipReason, list[Skip]] = {}
    for skip in report.skips:
        kept = by_reason.setdefault(skip.reason, [])
        if len(kept) < _MOST_OF_A_REASON:
            kept.append(skip)
    share = room / max(1, len(by_reason))
    return [
        _group(reason, count, by_reason.get(reason, []), Room(share))
        for reason, count in report.skips_by_reason.most_common()
        if count
    ]


def _group(reason: SkipReason, count: int, kept: list[Skip], room: Room) -> SkipGroup:
    entries = []
    for skip in kept:
        view = SkipView(
            address(skip.address, link=reason not in _UNLINKED),
            sentence(skip.detail or "", chars=160),
            address(skip.found_in, chars=120, link=False) if skip.found_in else None,
        )
        if not room.takes(view.bytes):
            break
        entries.append(view)
    return SkipGroup(str(reason), capital(words_of(reason)), HINTS[reason], count, entries, count - len(entries))


def unlisted_skips(report: RunReport) -> int:
    """How many skips are counted, but not listed in SKIPPED either."""
    return max(0, sum(report.skips_by_reason.values()) - len(report.skips))


def faults(report: RunReport, room: float) -> list[FaultView]:
    """The protocol faults, the commonest first; `room` bytes are shared out among them."""
    having: dict[Fault, list[tuple[int, str]]] = {}
    totals: Counter[Fault] = Counter()
    for site in report.sites:
        for file in site.sitemaps:
            for fault, count in file.faults.items():
                if count:
                    totals[fault] += count
                    having.setdefault(fault, []).append((count, file.url))
    share = room / max(1, len(having))
    return [_fault(fault, total, having[fault], Room(share)) for fault, total in totals.most_common()]


def _fault(fault: Fault, total: int, having: list[tuple[int, str]], room: Room) -> FaultView:
    files = []
    for count, url in nlargest(_FILES_OF_A_FAULT, having):
        where = address(url)
        if not room.takes(60 + where.bytes):
            break
        files.append((where, count))
    return FaultView(str(fault), CLAUSES[fault], total, files, len(having) - len(files), len(having))
