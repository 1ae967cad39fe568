"""The garbage collector is out of the way during a crawl, and as it was after it."""

import gc

from sitemap_actor.extensions.collector import CollectorExtension


def test_what_is_there_is_set_aside_while_the_spider_is_open() -> None:
    thresholds, frozen = gc.get_threshold(), gc.get_freeze_count()
    extension = CollectorExtension()
    extension.spider_opened()
    try:
        assert gc.get_freeze_count() > frozen
        assert gc.get_threshold()[0] > thresholds[0]
        assert gc.isenabled()
    finally:
        extension.spider_closed()
    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == thresholds
