"""A real scrapyd on loopback, in a folder of its own, from the project's own scrapyd.conf, scrapy.cfg and setup.py."""

import asyncio
import configparser
import contextlib
import json
import os
import shutil
import socket
import sys
from pathlib import Path
from typing import Any, Self

import aiohttp

ROOT = Path(__file__).parents[2]
PROJECT_FILES = ("setup.py", "pyproject.toml", "scrapy.cfg", "README.md")
STARTS_WITHIN = ENDS_WITHIN = 180.0


def copy_project(folder: Path) -> Path:
    """What a deployment packs, copied, so that building leaves nothing in the checkout."""
    folder.mkdir()
    for name in PROJECT_FILES:
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "sitemap_actor", folder / "sitemap_actor", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def tool(name: str) -> str:
    """The path of a command that the environment brings."""
    return str(Path(sys.executable).with_name(name))


def free_port() -> int:
    """A port that was free a moment ago: scrapyd takes no 0 for "any"."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def call(*command: str, cwd: Path) -> str:
    """Run a tool of the environment; return what it printed. Fails the test if the tool fails."""
    process = await asyncio.create_subprocess_exec(
        tool(command[0]), *command[1:], cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    printed, _ = await asyncio.wait_for(process.communicate(), ENDS_WITHIN)
    assert process.returncode == 0, printed.decode()
    return printed.decode()


class Scrapyd:
    """The daemon while it is open: `async with Scrapyd(folder, environment) as daemon:`; ended by its process id.

    `folder` is its own and not the project's: what a job imports can only come out of the egg.
    """

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self._environment = {**os.environ, **environment}
        self._config = configparser.ConfigParser()
        self._config.read(ROOT / "scrapyd.conf")

    async def __aenter__(self) -> Self:
        assert self._config["scrapyd"]["bind_address"] == "127.0.0.1"
        port = free_port()
        self._config["scrapyd"].update({"http_port": str(port), "poll_interval": "0.2", "max_proc": "2"})
        self.folder.mkdir()
        with (self.folder / "scrapyd.conf").open("w") as file:
            self._config.write(file)
        self.url = f"http://127.0.0.1:{port}/"
        self.log = self.folder / "scrapyd.log"
        with self.log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                tool("scrapyd"), cwd=self.folder, env=self._environment, stdout=log, stderr=log
            )
        self._session = aiohttp.ClientSession()
        try:
            await self._answers()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    async def _close(self) -> None:
        await self._session.close()
        if self._process.returncode is None:
            self._process.terminate()
        await self._process.wait()

    async def _answers(self) -> None:
        async with asyncio.timeout(STARTS_WITHIN):
            while True:
                assert self._process.returncode is None, self.log.read_text()
                with contextlib.suppress(aiohttp.ClientConnectionError):
                    await self.get("daemonstatus.json")
                    return
                await asyncio.sleep(0.05)

    async def get(self, endpoint: str, **query: str) -> dict[str, Any]:
        async with self._session.get(self.url + endpoint, params=query) as response:
            answer: dict[str, Any] = await response.json()
        assert answer["status"] == "ok", answer
        return answer

    async def deploy(self, project: Path) -> str:
        """Deploy as a user does, `scrapyd-deploy local`; return what that printed."""
        cfg = project / "scrapy.cfg"
        text = cfg.read_text()
        assert "http://127.0.0.1:6800/" in text
        cfg.write_text(text.replace("http://127.0.0.1:6800/", self.url))
        return await call("scrapyd-deploy", "local", cwd=project)

    async def schedule(self, **arguments: str) -> str:
        """Schedule a job of the spider with these string arguments; return its id."""
        form = {"project": "sitemap_actor", "spider": "sitemap", **arguments}
        async with self._session.post(self.url + "schedule.json", data=form) as response:
            answer: dict[str, Any] = await response.json()
        assert answer["status"] == "ok", answer
        return str(answer["jobid"])

    async def finished(self, job: str) -> None:
        """Wait until the daemon says that the job has ended."""
        async with asyncio.timeout(ENDS_WITHIN):
            while True:
                jobs = await self.get("listjobs.json", project="sitemap_actor")
                if job in {ended["id"] for ended in jobs["finished"]}:
                    return
                await asyncio.sleep(0.1)

    def items(self, job: str) -> list[dict[str, Any]]:
        """The rows of the job's items file."""
        file = self._file("items_dir", f"{job}.jl")
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]

    def job_log(self, job: str) -> str:
        return self._file("logs_dir", f"{job}.log").read_text(encoding="utf-8")

    def _file(self, setting: str, name: str) -> Path:
        return self.folder / self._config["scrapyd"][setting] / "sitemap_actor" / "sitemap" / name
