"""The benchmark's small version runs, and the product, in both its ways, and stock Scrapy agree on every URL."""

import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PORTS_NEEDED = 8


def _free_ports() -> int:
    """The first of some ports that follow each other and are free."""
    for first in range(20_000, 30_000, PORTS_NEEDED):
        try:
            for port in range(first, first + PORTS_NEEDED):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise AssertionError("no free ports")


def test_the_small_benchmark_runs_and_all_tools_agree_on_the_urls(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", "--small", "--work", str(tmp_path), "--port", str(_free_ports())]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "| **this project**, `scrapy crawl` | 20,000 |" in ended.stdout
    assert "| **this project**, Actor at home | 20,000 |" in ended.stdout
    assert "| `scrapy_items` | 20,000 |" in ended.stdout
