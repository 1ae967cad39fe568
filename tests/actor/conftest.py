"""A platform, a site and a way to start Actors, for every test of this folder."""

import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.actor.fake_platform import FakePlatform
from tests.actor.helpers import ROOT, Starter, environment
from tests.spider.server import Site


@pytest.fixture(scope="session")
def starter() -> Iterator[Starter]:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "socket")
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.actor.zygote", path], cwd=ROOT, env=environment(), stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield Starter(path)
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
async def fake() -> AsyncIterator[FakePlatform]:
    async with FakePlatform() as platform:
        yield platform


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as one:
        yield one
