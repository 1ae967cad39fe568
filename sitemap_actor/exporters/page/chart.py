"""The histogram of lastmod by month, as the numbers that an inline SVG needs.

Drawn on a canvas of 720 by 180 units; at most the ten years up to the newest month that has pages and is not in the future.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

WIDTH, HEIGHT = 720, 180
_TOP, _LEFT = 22, 0
_BASE = 154
_MOST_MONTHS, _LEAST_MONTHS = 120, 12
_EPOCH = date(1970, 1, 1)
_LAST_DAY = (date(9999, 12, 31) - _EPOCH).days
_FIRST_DAY = (date(1, 1, 1) - _EPOCH).days


@dataclass(frozen=True, slots=True)
class Bar:
    """One month: `count` pages, drawn at `x`, `y`, `width`, `height`."""

    label: str
    count: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Tick:
    """A label under the axis; minor ones are left out on narrow screens."""

    label: str
    x: float
    minor: bool


@dataclass(frozen=True, slots=True)
class Histogram:
    """Everything the template draws; `dated` pages in all, of which `earlier` and `later` are off the canvas."""

    bars: list[Bar]
    ticks: list[Tick]
    dated: int
    peak: int
    peak_label: str
    first: str
    last: str
    earlier: int
    later: int


def histogram(days: Counter[int], now: float) -> Histogram | None:
    """The histogram of `days` (days since 1970 -> pages) as of `now`; None where no page has a readable lastmod."""
    months = _by_month(days)
    if not months:
        return None
    today = datetime.fromtimestamp(now, UTC)
    this_month = today.year * 12 + today.month - 1
    last = max((month for month in months if month <= this_month), default=this_month)
    first = max(last - _MOST_MONTHS + 1, min(*months, last - _LEAST_MONTHS + 1))
    shown = range(first, last + 1)
    peak = max(months.get(month, 0) for month in shown)
    peak_month = next(month for month in shown if months.get(month, 0) == peak)
    return Histogram(
        bars=_bars(months, shown, max(peak, 1)),
        ticks=_ticks(shown),
        dated=sum(months.values()),
        peak=peak,
        peak_label=_label(peak_month),
        first=_label(first),
        last=_label(last),
        earlier=sum(count for month, count in months.items() if month < first),
        later=sum(count for month, count in months.items() if month > last),
    )


def _by_month(days: Counter[int]) -> dict[int, int]:
    months: Counter[int] = Counter()
    for day, count in days.items():
        when = _EPOCH + timedelta(days=max(_FIRST_DAY, min(day, _LAST_DAY)))
        months[when.year * 12 + when.month - 1] += count
    return {month: count for month, count in months.items() if count}


def _label(month: int) -> str:
    return f"{date(1, month % 12 + 1, 1):%b} {month // 12}"


def _bars(months: dict[int, int], shown: range, peak: int) -> list[Bar]:
    step = (WIDTH - _LEFT) / len(shown)
    gap = 1.0 if step < 8 else min(step * 0.18, 6.0)
    bars = []
    for place, month in enumerate(shown):
        count = months.get(month, 0)
        if count:
            height = max(2.0, count / peak * (_BASE - _TOP))
            x = _LEFT + place * step + gap / 2
            bars.append(
                Bar(_label(month), count, round(x, 2), round(_BASE - height, 2), round(step - gap, 2), round(height, 2))
            )
    return bars


def _ticks(shown: range) -> list[Tick]:
    """Years where there are several, else every third month."""
    step = (WIDTH - _LEFT) / len(shown)
    years = len(shown) > 30
    marks = [(place, month) for place, month in enumerate(shown) if (month % 12 == 0 if years else month % 3 == 0)]
    return [
        Tick(str(month // 12) if years else _label(month), round(_LEFT + place * step, 2), minor=number % 2 == 1)
        for number, (place, month) in enumerate(marks)
        if _LEFT + place * step < WIDTH - (30 if years else 50)
    ]
