"""One progress bar while a person watches: on a terminal, and never in a job's log.

The setting SITEMAP_PROGRESS forces it on or off; left alone, stderr being a terminal decides. The bar counts sitemap
files, done of known (indexes make the known ones grow). Log lines are written above it, by the handlers that wrote them anyway.
"""

import asyncio
import logging
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self, TextIO

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from sitemap_actor.run import Run, run_of

if TYPE_CHECKING:
    from tqdm import tqdm

REDRAW_SECS = 0.2


class ProgressExtension:
    """Draws the bar on `stream` every `REDRAW_SECS` from what the run's report holds, so that it costs nothing per URL."""

    def __init__(self, run: Run, stream: TextIO) -> None:
        self._run = run
        self._stream = stream
        self._bar: tqdm[Any] | None = None
        self._moved: list[tuple[logging.StreamHandler[Any], TextIO]] = []
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Draw where SITEMAP_PROGRESS or a terminal asks for it."""
        if not _wanted(crawler.settings):
            raise NotConfigured
        extension = cls(run_of(crawler), sys.stderr)
        crawler.signals.connect(extension.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signal=signals.spider_closed)
        return extension

    def spider_opened(self) -> None:
        """Begin to draw."""
        self.open()
        self._task = asyncio.create_task(self._redraw())

    def spider_closed(self) -> None:
        """Take the bar away; the log goes on where it was."""
        if self._task is not None:
            self._task.cancel()
        self.close()

    async def _redraw(self) -> None:
        while True:
            self.draw()
            await asyncio.sleep(REDRAW_SECS)

    def open(self) -> None:
        """Put the bar on the stream, and the log above it."""
        from tqdm import tqdm  # noqa: PLC0415 - only where a bar is drawn

        tqdm.monitor_interval = 0  # no thread that watches over bars: this one is redrawn by the clock
        self._bar = tqdm(
            total=0,
            file=self._stream,
            leave=False,
            dynamic_ncols=True,
            bar_format="Reading sitemaps  {n_fmt}/{total_fmt} files |{bar}| {desc}  {elapsed}",
        )
        for handler in _handlers_on(self._stream):
            self._moved.append((handler, handler.setStream(_AboveBar(self._stream)) or self._stream))

    def draw(self) -> None:
        """Show the figures as they are now."""
        if self._bar is None:
            return
        known = sum(len(reading.report.sitemaps) for reading in self._run.readings)
        is_open = sum(len(reading.open_files) for reading in self._run.readings)
        closed = sum(reading.closed for reading in self._run.readings)
        counts = self._run.report.counts
        self._bar.total, self._bar.n = max(known, is_open), max(0, known - is_open)
        sites = f"{closed:,}/{len(self._run.job.site_list):,} sites"
        self._bar.set_description_str(f"{counts.listed:,} URLs listed, {counts.saved:,} saved, {sites}", refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        """Take the bar away and give the log its stream back."""
        for handler, stream in self._moved:
            handler.setStream(stream)
        self._moved.clear()
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class _AboveBar:
    """A stream that takes the bar away while something is written, and puts it back below."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        from tqdm import tqdm  # noqa: PLC0415 - imported already where there is a bar

        with tqdm.external_write_mode(file=self._stream):
            return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _wanted(settings: BaseSettings) -> bool:
    """Whether a bar is to be drawn. A feed on a terminal's stdout wins: rows and a bar would garble each other."""
    if settings.get("SITEMAP_PROGRESS") not in {None, ""}:
        return settings.getbool("SITEMAP_PROGRESS")
    rows_on_stdout = any(str(uri).startswith(("stdout:", "-")) for uri in settings.getdict("FEEDS"))
    return _is_terminal(sys.stderr) and not (rows_on_stdout and _is_terminal(sys.stdout))


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _handlers_on(stream: TextIO) -> Iterator[logging.StreamHandler[Any]]:
    """Every handler of any logger that writes to `stream`."""
    loggers = [
        logging.root,
        *(found for found in logging.root.manager.loggerDict.values() if isinstance(found, logging.Logger)),
    ]
    for logger in loggers:
        for handler in logger.handlers:
            if isinstance(handler, logging.StreamHandler) and handler.stream is stream:
                yield handler
