"""Who this process is to others, and whether another one is still there: for leases on files."""

import os
import platform
from pathlib import Path


def identity() -> str:
    """This process by host, number and start."""
    return f"{platform.node()}:{os.getpid()}:{_started(os.getpid())}"


def has_ended(other: str) -> bool | None:
    """Whether the process of that identity is gone; None where it ran on another machine."""
    host, _, rest = other.partition(":")
    number, _, started = rest.partition(":")
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
