"""Runs a command on a small share of one core with little memory: `python -m benchmarks.starved SHARE MEGABYTES COMMAND ...`.

The share and the limit are those of control groups where this process may make one (version 2, or 1); else the command is
stopped and continued in turn, and its memory is not limited, only measured. The last line says which, as JSON.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PERIOD_SECS = 0.1
_ROOT = Path("/sys/fs/cgroup")
_NAME = f"starved-{os.getpid()}"


def make_groups(share: float, megabytes: int) -> list[Path]:
    """The files to write a process id to, that it may be limited; none where that cannot be."""
    microseconds = int(PERIOD_SECS * 1_000_000)
    if (_ROOT / "cgroup.controllers").exists():
        wanted = [
            (
                _ROOT / _NAME,
                {"cpu.max": f"{int(microseconds * share)} {microseconds}", "memory.max": str(megabytes << 20)},
            )
        ]
    else:
        quota = {"cpu.cfs_period_us": str(microseconds), "cpu.cfs_quota_us": str(int(microseconds * share))}
        memory = {"memory.limit_in_bytes": str(megabytes << 20)}
        wanted = [(_ROOT / "cpu" / _NAME, quota), (_ROOT / "memory" / _NAME, memory)]
    made = []
    try:
        for folder, limits in wanted:
            folder.mkdir()
            made.append(folder / "cgroup.procs")
            for name, value in limits.items():
                (folder / name).write_text(value)
    except OSError:
        drop_groups(made)
        return []
    return made


def drop_groups(groups: list[Path]) -> None:
    for group in groups:
        with contextlib.suppress(OSError):
            group.parent.rmdir()


def in_turn(process: subprocess.Popen[bytes], share: float) -> int:
    """Stop and continue the process until it ends."""
    while process.poll() is None:
        time.sleep(PERIOD_SECS * share)
        process.send_signal(signal.SIGSTOP)
        time.sleep(PERIOD_SECS * (1 - share))
        process.send_signal(signal.SIGCONT)
    return process.returncode


def main() -> None:
    share, megabytes, command = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    groups = make_groups(share, megabytes)

    def enter() -> None:
        for group in groups:
            group.write_text(str(os.getpid()))

    try:
        process = subprocess.Popen(command, preexec_fn=enter if groups else None)
        code = process.wait() if groups else in_turn(process, share)
    finally:
        drop_groups(groups)
    print(json.dumps({"limited_by": "control groups" if groups else "stopping and continuing it"}), flush=True)
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
