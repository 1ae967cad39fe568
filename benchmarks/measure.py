"""Runs one process and measures it from outside, start-up included: CPU seconds, wall seconds, peak memory.

This process stays small, because what a child inherits at its start counts into its peak.
"""

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Measured:
    """`said` is the process's last line of JSON, `code` how it ended (negative: the signal), `stderr` the lines of its log."""

    cpu: float
    wall: float
    peak_mb: float
    code: int
    said: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    stderr: list[str] = field(default_factory=list)


def run(command: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None, seconds: float = 600.0) -> Measured:
    """Run a command; it is killed, with all it started, after `seconds`."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        timer = _Killer(process.pid, seconds)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            timer.stop()
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        said = next((line for line in reversed(out.read().splitlines()) if line.startswith(b"{")), b"{}")
        errors = err.read().decode("utf-8", "replace").strip().splitlines()
    return Measured(
        usage.ru_utime + usage.ru_stime,
        wall,
        usage.ru_maxrss / 1024,
        process.returncode,
        json.loads(said),
        errors[-1][:200] if errors and process.returncode else "",
        errors,
    )


class _Killer:
    """An alarm of the operating system: it needs no thread."""

    def __init__(self, pid: int, seconds: float) -> None:
        def kill(*_: object) -> None:
            os.killpg(pid, signal.SIGKILL)

        signal.signal(signal.SIGALRM, kill)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
