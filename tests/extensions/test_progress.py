"""The progress bar: on a terminal only, below the log, never through it."""

import io
import logging
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager

from sitemap_actor.core.job import Job
from sitemap_actor.extensions.progress import ProgressExtension
from sitemap_actor.run import Run


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


@pytest.fixture
def run() -> Run:
    job, notes = Job.read({"sites": ["a.example.com", "b.example.com"]})
    run = Run.of(job, notes, allow_private=False)
    reading = run.reading_of(job.site_list[0])
    reading.start(["https://a.example.com/1.xml", "https://a.example.com/2.xml", "https://a.example.com/3.xml"])
    reading.open_files.discard("https://a.example.com/1.xml")
    run.report.counts.listed, run.report.counts.saved = 1_234, 1_200
    return run


def built(run: Run, **settings: Any) -> ProgressExtension:
    crawler = SimpleNamespace(settings=Settings(settings), signals=SignalManager(), spider=SimpleNamespace(run=run))
    return ProgressExtension.from_crawler(cast("Crawler", crawler))


def test_bar_shows_files_urls_and_sites(run: Run, terminal: Terminal) -> None:
    extension = ProgressExtension(run, terminal)
    extension.open()
    extension.draw()
    extension.close()
    shown = terminal.getvalue()
    assert "1/3 files" in shown
    assert "1,234 URLs listed, 1,200 saved, 0/2 sites" in shown
    assert shown.rstrip(" ").endswith("\r")


def test_log_lines_stand_whole_above_the_bar_and_go_back_where_they_went(run: Run, terminal: Terminal) -> None:
    handler = logging.StreamHandler(terminal)
    handler.setFormatter(logging.Formatter("LOG %(message)s"))
    handler.setLevel(logging.INFO)
    logger = logging.getLogger("progress.test")
    logger.propagate = False
    logger.setLevel(logging.DEBUG)
    logger.addHandler(handler)
    extension = ProgressExtension(run, terminal)
    try:
        extension.open()
        extension.draw()
        logger.debug("not shown")
        logger.info("one line")
        extension.draw()
        extension.close()
    finally:
        logger.removeHandler(handler)
    assert handler.stream is terminal
    assert "\rLOG one line\n" in terminal.getvalue()
    assert "not shown" not in terminal.getvalue()
    before = terminal.getvalue()
    logger.addHandler(handler)
    logger.info("afterwards")
    logger.removeHandler(handler)
    assert terminal.getvalue() == before + "LOG afterwards\n"


def test_job_log_gets_no_bar(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with pytest.raises(NotConfigured):
        built(run)
    monkeypatch.setattr("sys.stderr", None)
    with pytest.raises(NotConfigured):
        built(run)


def test_terminal_gets_a_bar(run: Run, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", terminal)
    assert isinstance(built(run), ProgressExtension)


@pytest.mark.parametrize(
    ("value", "drawn"), [("1", True), (True, True), ("0", False), (False, False), ("False", False)]
)
def test_setting_forces_it_on_and_off(value: object, drawn: bool, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO() if drawn else Terminal())
    if drawn:
        assert isinstance(built(run, SITEMAP_PROGRESS=value), ProgressExtension)
    else:
        with pytest.raises(NotConfigured):
            built(run, SITEMAP_PROGRESS=value)


def test_rows_on_the_same_terminal_win(run: Run, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("sys.stdout", Terminal())
    with pytest.raises(NotConfigured):
        built(run, FEEDS={"stdout:": {"format": "csv"}})
    monkeypatch.setattr("sys.stdout", io.StringIO())
    assert isinstance(built(run, FEEDS={"stdout:": {"format": "csv"}}), ProgressExtension)
