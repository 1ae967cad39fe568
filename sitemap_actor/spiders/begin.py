"""How a crawl begins: the input is validated, and a problem with it is put on record before anything is asked for."""

import logging
import time
from collections.abc import Mapping
from typing import Any

from scrapy.crawler import Crawler
from scrapy.utils.misc import build_from_crawler, load_object

from sitemap_actor.core.job import InputProblems, Job
from sitemap_actor.core.report import Result, RunReport
from sitemap_actor.exporters.records import records_of
from sitemap_actor.run import Run

logger = logging.getLogger(__name__)


def begin(crawler: Crawler, given: Mapping[str, Any]) -> Run:
    """The run for the input `given`. Raises `InputProblems` after REPORT and SKIPPED were written.

    That needs a record store that writes at once (jobs/files.py); the Actor validates its input before the crawl begins.
    """
    allow_private = crawler.settings.getbool("SITEMAP_ALLOW_PRIVATE_ADDRESSES")
    try:
        job, notes = Job.read(given, allow_private=allow_private)
    except InputProblems as error:
        store = build_from_crawler(load_object(crawler.settings["SITEMAP_RECORD_STORE"]), crawler)
        store.begin_now()
        for record in records_of(problem_report(error), time.time()):
            store.write_now(record.name, record.body, record.content_type)
        for problem in error.notes.problems:
            logger.error("%s", problem.message)
        logging.getLogger("asyncio").addFilter(_told_already)
        logger.error("Nothing was read. REPORT is in %s", store.where())
        raise
    for note in notes.adjustments:
        logger.warning("%s", note.message)
    run = Run.of(job, notes, allow_private=allow_private)
    gap = crawler.settings.get("SITEMAP_MIN_GAP_SECS")
    if gap is not None:
        run.hosts.gap_secs = float(gap)
    if job.conduct.remembers:
        for name, components in crawler.settings.getdict("SITEMAP_REMEMBERING").items():
            table = components | crawler.settings.getdict(name)
            crawler.settings.set(name, table, crawler.settings.getpriority(name) or 0)
    return run


def _told_already(record: logging.LogRecord) -> bool:
    """`scrapy crawl` lets the exception run into asyncio's log, with a traceback; the user has read the sentence already."""
    return not (record.exc_info and isinstance(record.exc_info[1], InputProblems))


def problem_report(error: InputProblems) -> RunReport:
    """The report of a run that its input stopped."""
    report = RunReport(time.time(), None, error.notes)
    report.result = Result.INPUT_PROBLEM
    report.message = str(error)
    return report
