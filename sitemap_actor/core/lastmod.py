"""Interim: replaced by the branch `reader`."""

from collections import Counter
from datetime import UTC, datetime

from sitemap_actor.core.reasons import Fault


def parse_since(text: str) -> float | None:
    """Interim."""
    try:
        moment = datetime.fromisoformat(text + "-01-01" if len(text) == 4 else text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


class LastmodJudge:
    """Interim."""

    def __init__(self, now: float) -> None:
        self.now = now
        self.newest: str | None = None
        self._faults: Counter[Fault] = Counter()

    def judge(self, column: list[str | None]) -> list[float | None]:
        """Interim."""
        instants = [None if text is None else parse_since(text) for text in column]
        for text, instant in zip(column, instants, strict=True):
            if text is not None and instant is None:
                self._faults[Fault.LASTMOD_UNREADABLE] += 1
            elif text is not None:
                self.newest = max(self.newest or "", text)
        return instants

    def faults(self) -> Counter[Fault]:
        """Interim."""
        return self._faults
