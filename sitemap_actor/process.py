"""Who this process is to others, and whether another one is still there: for leases on files."""

import itertools
import os
import platform
from pathlib import Path

_runs = itertools.count(1)


def new_identity() -> str:
    """A run in this process: host, number and start of the process, and a number of the run's own."""
    return f"{platform.node()}:{os.getpid()}:{_started(os.getpid())}:{next(_runs)}"


def has_ended(other: str) -> bool | None:
    """Whether the process of a run with that identity is gone; None where it ran on another machine."""
    host, _, rest = other.partition(":")
    number, _, rest = rest.partition(":")
    started = rest.partition(":")[0]
    if host != platform.node() or not number.isdecimal():
        return None
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return _started(int(number)) != started


def _started(number: int) -> str:
    """When a process started, in the kernel's ticks, so that a number used again is told apart; empty where unknown."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return fields[19]
