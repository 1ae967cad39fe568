"""The Actor: input in, one crawl, an exit code that tells the truth.

0: the run finished, or ended early for a reason that is no fault (a limit, an abort). 1: the input makes no run, or the run
failed. The records are written in every case; the status message is REPORT's.
"""

import logging
import os
import time
from collections.abc import Mapping
from typing import Any

from apify import Actor
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from sitemap_actor.actor.house import open_house
from sitemap_actor.actor.overlay import set_up_logging, settings_of_the_actor
from sitemap_actor.core.errors import InputProblem
from sitemap_actor.core.job import InputProblems, Job, Notes
from sitemap_actor.core.message import run_message
from sitemap_actor.core.ports import RecordStore
from sitemap_actor.core.report import Result, RunReport
from sitemap_actor.exporters.records import records_of
from sitemap_actor.run import Run
from sitemap_actor.spiders.begin import problem_report
from sitemap_actor.spiders.sitemap import SitemapSpider

logger = logging.getLogger(__name__)

_GOOD = frozenset({Result.FINISHED, Result.STOPPED_EARLY})


async def main() -> int:
    """Run the Actor once; return the process's exit code."""
    async with Actor(exit_process=False) as actor:
        set_up_logging(Actor.configuration.token)
        try:
            report = await _work()
        except Exception as error:
            logger.exception("The run failed")
            actor.exit_code, actor.status_message = 1, f"The run failed: {type(error).__name__}. See the log."
        else:
            actor.exit_code, actor.status_message = int(report.result not in _GOOD), report.message
    return int(actor.exit_code)


async def _work() -> RunReport:
    at_home = Actor.is_at_home()
    settings = settings_of_the_actor(os.environ, at_home=at_home)
    if at_home:
        await open_house()
    store: RecordStore = load_object(settings["SITEMAP_RECORD_STORE"])()
    try:
        given = _as_mapping(await Actor.get_input())
        Job.read(given, allow_private=settings.getbool("SITEMAP_ALLOW_PRIVATE_ADDRESSES"))
    except InputProblems as error:
        logger.error("%s Nothing was requested.", error)
        return await _write(store, problem_report(error))
    except Exception as error:
        logger.exception("The input could not be read")
        return await _write(store, _failed(None, f"the input could not be read ({type(error).__name__})"))
    return await _crawl(settings, store, given)


def _as_mapping(given: Any) -> Mapping[str, Any]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return given
    message = f"The input must be a JSON object, not {type(given).__name__}."
    raise InputProblems(Notes(problems=[InputProblem("input", None, message)]))


async def _crawl(settings: Settings, store: RecordStore, given: Mapping[str, Any]) -> RunReport:
    runner = AsyncCrawlerRunner(settings)
    crawler = runner.create_crawler(SitemapSpider)
    try:
        await runner.crawl(crawler, actor_input=dict(given))
    except Exception as error:
        logger.exception("The crawl could not be carried out")
        return await _write(store, _failed(_run_of(crawler), str(error) or type(error).__name__))
    run = _run_of(crawler)
    if run is None:
        raise RuntimeError("the crawl left no report")
    return run.report


def _run_of(crawler: Crawler) -> Run | None:
    return getattr(crawler.spider, "run", None)


def _failed(run: Run | None, why: str) -> RunReport:
    """What there is to report where the crawl's own reporter had no say."""
    report = run.report if run is not None else RunReport(time.time(), None, Notes())
    report.result = Result.FAILED
    report.message = run_message(report, why)
    return report


async def _write(store: RecordStore, report: RunReport) -> RunReport:
    """Write the records of a run that never came to its reporter."""
    for record in records_of(report, time.time()):
        try:
            await store.write(record.name, record.body, record.content_type)
        except Exception:
            logger.exception("The record %s could not be written", record.name)
    return report
