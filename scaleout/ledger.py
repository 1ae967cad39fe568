"""What was started and what came of it, as a small JSON file that is rewritten whole at every step.

A part goes from `planned` to `starting`, written before the platform is asked, to `started` with the run's id, to `ended`.
A part found in `starting` may or may not have a run: the platform is asked for it before another is started.
"""

import fcntl
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from scaleout.parts import Part, ScaleOutError


class Step(StrEnum):
    """How far a part has come."""

    PLANNED = "planned"
    STARTING = "starting"
    STARTED = "started"
    ENDED = "ended"


@dataclass(slots=True)
class Entry:
    """One part. `attempt` counts its runs, `since` is when the latest was asked for (ISO 8601, UTC)."""

    number: int
    sites: list[str]
    step: Step = Step.PLANNED
    attempt: int = 1
    since: str | None = None
    run: str | None = None
    outcome: str | None = None
    """The platform's own word for how the run ended."""


@dataclass(slots=True)
class Ledger:
    """The parts of one gathering; `plan` is a digest of the list, the input and the target they were made from."""

    file: Path
    plan: str
    id: str = field(default_factory=lambda: datetime.now(UTC).strftime("%y%m%d") + secrets.token_hex(4))
    entries: list[Entry] = field(default_factory=list)

    def label(self, entry: Entry) -> str:
        """The name under which the run of a part can be found again; unique to this gathering and attempt."""
        return f"{self.id}-{entry.number}-{entry.attempt}"

    def report_file(self, entry: Entry) -> Path:
        """Where the REPORT of a part is kept."""
        return self.file.parent / "parts" / f"{entry.number:04d}.json"

    def save(self) -> None:
        """Rewrite the file in one step."""
        data = {"plan": self.plan, "id": self.id, "entries": [asdict(entry) for entry in self.entries]}
        write_json(self.file, data)

    def keep_report(self, entry: Entry, report: dict[str, Any] | None) -> None:
        """Keep a part's REPORT; where there is none, nothing of an earlier attempt is left either."""
        if report is None:
            self.report_file(entry).unlink(missing_ok=True)
        else:
            write_json(self.report_file(entry), report)

    def report(self, entry: Entry) -> dict[str, Any] | None:
        """The REPORT of a part that has ended, if it left one."""
        file = self.report_file(entry)
        if entry.step is not Step.ENDED or not file.exists():
            return None
        report: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return report


def write_json(file: Path, data: Any) -> None:
    """Write in one step: an interruption leaves the old file or the new one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(file.name + ".new")
    new.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8", errors="backslashreplace")
    new.replace(file)


@contextmanager
def opened(file: Path, plan: str, parts: list[Part]) -> Iterator[Ledger]:
    """The ledger in `file`, begun if it is not there, for this process alone.

    Raises `ScaleOutError` where another process has it, or where it belongs to another list, input or target.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.with_name(file.name + ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ScaleOutError(f"Another process is gathering in {file.parent}.") from None
        yield _read(file, plan) or _begun(file, plan, parts)


def _begun(file: Path, plan: str, parts: list[Part]) -> Ledger:
    ledger = Ledger(file, plan, entries=[Entry(part.number, list(part.sites)) for part in parts])
    ledger.save()
    return ledger


def _read(file: Path, plan: str) -> Ledger | None:
    if not file.exists():
        return None
    data = json.loads(file.read_text(encoding="utf-8"))
    if data["plan"] != plan:
        raise ScaleOutError(f"{file.parent} holds a gathering of another list, input or target: choose another --out.")
    entries = [Entry(**{**entry, "step": Step(entry["step"])}) for entry in data["entries"]]
    return Ledger(file, plan, data["id"], entries)
