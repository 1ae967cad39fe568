"""Loopback sites for every spider test."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.utils.test import get_crawler

from sitemap_actor.download.gate import Gate
from sitemap_actor.download.handler import StreamingDownloadHandler
from sitemap_actor.download.response import SpooledResponse
from tests.spider.server import Certificate, Site, make_certificate

SiteFactory = Callable[..., Site]


@pytest.fixture
def site() -> Iterator[SiteFactory]:
    """Start sites: `site()`, `site("127.0.0.2")`, `site(certificate=...)`; all stop with the test."""
    with ExitStack() as running:
        yield lambda *args, **kwargs: running.enter_context(Site(*args, **kwargs))


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """A certificate for localhost, secure.example.com, 127.0.0.1 and ::1; `ca_file` goes into SITEMAP_CA_FILE."""
    folder: Path = tmp_path_factory.mktemp("certificate")
    return make_certificate(folder, "localhost", "secure.example.com", "127.0.0.1", "::1")


class Client:
    """The download handler with the least of a run around it: no crawl, no middleware."""

    def __init__(self, **settings: Any) -> None:
        everything = {
            "SITEMAP_ALLOW_PRIVATE_ADDRESSES": True,
            "USER_AGENT": "SitemapUrlExtractor/0.1 (test)",
            **settings,
        }
        self.gaps: dict[str, float] = {}
        self.asked: list[str] = []
        self.bytes: list[int] = []
        self.responses: list[SpooledResponse] = []
        self.gate = Gate(lambda host: self.gaps.get(host, 0.0))
        self.run = SimpleNamespace(gate=self.gate, note_request=self.asked.append, note_bytes=self.bytes.append)
        self.crawler = get_crawler(settings_dict=everything)
        self.crawler.spider = SimpleNamespace(run=self.run)  # type: ignore[assignment]
        self.handler = StreamingDownloadHandler.from_crawler(self.crawler)

    async def get(self, url: str, *, headers: dict[str, str] | None = None, **meta: Any) -> SpooledResponse:
        """Fetch one URL; time-outs are 10 s unless meta `download_timeout` says otherwise."""
        meta.setdefault("download_timeout", 10)
        response = await self.handler.download_request(Request(url, headers=headers, meta=meta))
        self.responses.append(response)
        return response

    async def close(self) -> None:
        for response in self.responses:
            response.close()
        await self.handler.close()


ClientFactory = Callable[..., Client]


@pytest.fixture
async def client() -> AsyncIterator[ClientFactory]:
    """Make clients: `client()`, `client(SITEMAP_CA_FILE=...)`; all are closed with the test."""
    made: list[Client] = []

    def make(**settings: Any) -> Client:
        made.append(Client(**settings))
        return made[-1]

    yield make
    for one in made:
        await one.close()
