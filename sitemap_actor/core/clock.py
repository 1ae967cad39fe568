"""How times are written: ISO 8601 UTC with `Z`. The time itself is always passed in."""

from datetime import UTC, datetime


def iso(instant: float) -> str:
    """POSIX seconds as `2026-11-30T21:18:00Z`."""
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
