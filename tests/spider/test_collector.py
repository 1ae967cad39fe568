"""The garbage collector is out of the way during a crawl, and leaves nothing behind in the next one."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from sitemap_actor.extensions.collector import CollectorExtension


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_what_is_there_is_set_aside_from_when_the_spider_opens() -> None:
    thresholds, frozen = gc.get_threshold(), gc.get_freeze_count()
    extension = CollectorExtension()
    extension.spider_opened()
    try:
        assert gc.get_freeze_count() > frozen
        assert gc.get_threshold()[0] > thresholds[0]
        assert gc.isenabled()
    finally:
        extension.spider_closed()
    assert gc.get_freeze_count() > frozen  # the end of the process is spared it, too
    assert gc.get_threshold() == thresholds


def test_what_an_earlier_crawl_left_is_not_kept_forever() -> None:
    class Left:
        def __init__(self) -> None:
            self.myself = self

    left = Left()
    there = weakref.ref(left)
    first, second = CollectorExtension(), CollectorExtension()
    first.spider_opened()
    del left
    gc.collect()
    assert there() is not None
    first.spider_closed()
    second.spider_opened()
    second.spider_closed()
    assert there() is None
