"""The product, the tools beside it and the limits, each as one command whose process is measured.

A `Contest` has the servers running and knows how to start each contender; `Contender.run` gives what was measured and, if
asked, how far the URLs that came out are those of the workload.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import workloads
from benchmarks.measure import Measured, run
from benchmarks.tools import ROOT, Tool

SECONDS = 7_200.0
"""How long the servers live at the most."""


class Contest:
    """Where everything is: `data` the web roots, `out` a folder to write to, `size` URLs a sitemap."""

    def __init__(self, data: Path, out: Path, first_port: int, size: int) -> None:
        self.data, self.out, self.first_port, self.size = data, out, first_port, size
        self._platform: subprocess.Popen[str] | None = None

    @contextmanager
    def open(self, *, platform: bool = True) -> Iterator["Contest"]:
        """Generate what is missing, and have the servers running."""
        self.out.mkdir(parents=True, exist_ok=True)
        workloads.generate(self.data, first_port=self.first_port, size=self.size)
        web = _server("benchmarks.web", str(self.data), str(self.first_port), str(SECONDS))
        try:
            if platform:
                self._platform = _server("benchmarks.platform", str(SECONDS), str(self.out / "actor.urls"))
            yield self
        finally:
            for server in (web, self._platform):
                if server is not None:
                    _end(server)

    def origin(self, letter: str) -> str:
        return workloads.origin(letter, self.first_port)

    # --- what is run

    def scrapy(self, letter: str, *more: str, program: tuple[str, ...] = ("-m", "scrapy")) -> Measured:
        """`scrapy crawl sitemap` into a JSON lines feed; a politeness gap would only make the wall clock wait."""
        command = [sys.executable, *program, "crawl", "sitemap", "-a", f"sites={self.origin(letter)}"]
        command += ["-a", "maxUrls=500000", "-s", "SITEMAP_MIN_GAP_SECS=0", *more, "-O", str(self.rows("scrapy"))]
        return run(command, cwd=ROOT, env=environment(SITEMAP_STORAGE_DIR=str(self.out / "storage")))

    def actor(self, letter: str, *program: str, seconds: float = 600.0, **more: Any) -> Measured:
        """`python -m sitemap_actor` at home on the stand-in platform; `said` is what arrived there."""
        given = {"sites": [self.origin(letter)], "maxUrls": 500_000, **more}
        env = environment(**self._begin(given)["env"])
        measured = run([sys.executable, *(program or ("-m", "benchmarks.actor"))], cwd=ROOT, env=env, seconds=seconds)
        measured.said |= self._begin({})
        return measured

    def tool(self, tool: Tool, letter: str) -> Measured:
        """Another tool; `said` is what it says of itself."""
        command = tool.command(self.origin(letter), workloads.NAMES[letter], self.rows(tool.name))
        return run(command, cwd=ROOT, env=environment())

    def noop_scrapy(self) -> Measured:
        """Scrapy's own cost."""
        return run(
            [sys.executable, "-m", "benchmarks.noop_scrapy", f"{self.origin('z')}/robots.txt"],
            cwd=ROOT,
            env=environment(),
        )

    def noop_actor(self, rows: Path | None = None) -> Measured:
        """The Actor SDK's and Scrapy's own cost, and that of pushing rows."""
        env = environment(**self._begin({})["env"])
        command = [sys.executable, "-m", "benchmarks.noop_actor", f"{self.origin('z')}/robots.txt"]
        return run([*command, *([str(rows)] if rows else [])], cwd=ROOT, env=env)

    def limit(self, technique: str, letter: str) -> Measured:
        """One technique alone; `said["work_cpu"]` is its CPU."""
        command = [sys.executable, "-m", "benchmarks.limits", technique, str(self.data / letter)]
        return run(command, cwd=ROOT, env=environment())

    # --- what came of it

    def rows(self, name: str) -> Path:
        """Where a contender writes its rows."""
        return self.out / f"{name}.jsonl"

    def agreement(self, name: str, letter: str) -> tuple[int, int]:
        """How many of the workload's URLs are missing from a contender's rows, and how many it gave too many."""
        # In a process of its own: this one has to stay small, for a child's peak cannot be below its parent's.
        path = self.out / "actor.urls" if name == "actor" else self.rows(name)
        command = [sys.executable, "-m", "benchmarks.agreement", str(self.data), letter, str(path)]
        told = run(command, cwd=ROOT, env=environment()).said
        return told["missing"], told["extra"]

    def _begin(self, given: dict[str, Any]) -> dict[str, Any]:
        platform = self._platform
        assert platform is not None
        assert platform.stdin is not None
        assert platform.stdout is not None
        platform.stdin.write(json.dumps(given) + "\n")
        platform.stdin.flush()
        told: dict[str, Any] = json.loads(platform.stdout.readline())
        return told


def environment(**more: str) -> dict[str, str]:
    """This process's environment without what belongs to an Actor; private addresses allowed, byte code kept."""
    theirs = re.compile(r"(APIFY|ACTOR|CRAWLEE|SITEMAP)_|PYTHONDONTWRITEBYTECODE")
    env = {name: value for name, value in os.environ.items() if not theirs.match(name)}
    return env | {"SITEMAP_ALLOW_PRIVATE_ADDRESSES": "1", "PYTHONPATH": str(ROOT)} | more


@contextmanager
def serving(*arguments: str) -> Iterator[None]:
    """Have a server of this package running."""
    server = _server(*arguments)
    try:
        yield
    finally:
        _end(server)


def _server(*arguments: str) -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    if server.stdout.readline() != "ready\n":
        _end(server)
        raise RuntimeError(f"{arguments[0]} did not start; is a port taken?")
    return server


def _end(server: subprocess.Popen[str]) -> None:
    server.terminate()
    server.wait()
    for pipe in (server.stdin, server.stdout):
        if pipe is not None:
            pipe.close()
