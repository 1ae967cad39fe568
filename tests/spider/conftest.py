"""Loopback sites for every spider test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

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
