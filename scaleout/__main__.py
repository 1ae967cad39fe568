"""`python -m scaleout`: the command line. The token of Apify comes from APIFY_TOKEN."""

import argparse
import asyncio
import csv
import hashlib
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import impit
from apify_client.errors import ApifyApiError

from scaleout.gather import Gathering, Pace, plan_again, say
from scaleout.ledger import Ledger, opened, write_json
from scaleout.merge import is_good, merged
from scaleout.parts import Part, ScaleOutError, Unusable, parts_for, read_sites, split
from scaleout.platforms import Apify, Platform, RunOptions, Scrapyd
from sitemap_actor.core.job import InputProblems, Job

API_URL = "https://api.apify.com"
OUT_OF_REACH = (ApifyApiError, impit.HTTPError, aiohttp.ClientError, TimeoutError)
SITE_COLUMNS = ("site", "entry", "status", "saved", "message", "part")


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says. 0: every part came to a good end; 1: some did not; 2: nothing could be done."""
    options = _parser().parse_args(argv)
    try:
        return asyncio.run(_run(options))
    except OUT_OF_REACH as error:
        say(f"Stopped, the platform did not answer as it should: {error or type(error).__name__}")
    except (ScaleOutError, OSError) as error:
        say(f"Stopped: {error}")
    except KeyboardInterrupt:
        say("\nStopped. Runs that were started go on by themselves; the same command gathers them.")
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scaleout", description=__doc__)
    parser.add_argument("list", type=Path, help="a text file with one site per line")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--actor", help="start runs of this Actor on Apify: USERNAME/NAME")
    where.add_argument("--scrapyd", metavar="URL", help="schedule jobs on this scrapyd")
    parser.add_argument("--input", type=Path, help="a JSON file with the other input fields, the same for every run")
    parser.add_argument("--out", type=Path, default=Path("out/scaleout"), help="folder for the ledger and the results")
    parser.add_argument("--at-once", type=_positive, default=4, help="runs at the same time (default: 4)")
    parser.add_argument("--per-run", type=_positive, default=100, help="sites of a run, on average (default: 100)")
    parser.add_argument("--parts", type=_positive, help="number of runs, instead of --per-run; monitor mode needs it")
    parser.add_argument("--retry-failed", action="store_true", help="start parts whose run failed once more")
    parser.add_argument("--poll-secs", type=float, default=5.0, help="seconds between looks at a run (default: 5)")
    parser.add_argument("--settle-secs", type=float, default=5.0, help=argparse.SUPPRESS)  # for tests
    apify = parser.add_argument_group("on Apify")
    apify.add_argument("--memory", type=_positive, metavar="MB", help="memory of each run")
    apify.add_argument("--timeout-secs", type=_positive, help="time-out of each run")
    apify.add_argument("--max-charge-usd", help="maximum cost of each run")
    apify.add_argument("--build", help="build tag or number")
    jobs = parser.add_argument_group("on scrapyd")
    jobs.add_argument("--storage", type=Path, help="folder for the jobs' records and state, which both sides reach")
    jobs.add_argument("--project", default="sitemap_actor", help="project on scrapyd (default: sitemap_actor)")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("a number from 1 on is needed")
    return number


async def _run(options: argparse.Namespace) -> int:
    base = _base_input(options.input)
    sites, unusable = read_sites(options.list.read_text(encoding="utf-8-sig"))
    parts = split(sites, _count(options, base, sites))
    given = _input_maker(base)
    _check(parts, given)
    async with _platform(options) as platform:
        with opened(options.out / "ledger.json", _plan(options, base, parts), parts) as ledger:
            if options.retry_failed:
                say(f"Runs to start once more: {plan_again(ledger):,}.")
            say(f"Sites: {len(sites):,}. Runs: {len(ledger.entries):,}, at most {options.at_once} at once.")
            try:
                await Gathering(
                    ledger, platform, given, Pace(options.at_once, options.poll_secs, options.settle_secs)
                ).finish()
            finally:
                _write(options.out, ledger, unusable)
            return _conclude(options.out, ledger, unusable)


def _base_input(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        base = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ScaleOutError(f"{file} is not JSON: {error}") from None
    if not isinstance(base, dict) or {"sites", "sitemapUrls"} & set(base):
        raise ScaleOutError(
            f"{file} must be an object of input fields without sites and sitemapUrls: the list has these."
        )
    return base


def _count(options: argparse.Namespace, base: Mapping[str, Any], sites: Sequence[str]) -> int:
    """The number of parts. Monitor mode needs it to stay the same from one gathering to the next."""
    if options.parts is not None:
        return int(options.parts)
    if _remembers(base):
        raise ScaleOutError("Monitor mode needs --parts, the same each time: another number is another memory.")
    return parts_for(sites, options.per_run)


def _remembers(base: Mapping[str, Any]) -> bool:
    return bool(base.get("mode") == "monitor")


def _input_maker(base: Mapping[str, Any]) -> Any:
    def given(number: int, sites: list[str]) -> dict[str, Any]:
        made = {**base, "sites": sites}
        if _remembers(base):
            made["stateKey"] = f"{base.get('stateKey') or 'default'}-{number}"  # two runs cannot share one memory
        return made

    return given


def _check(parts: Sequence[Part], given: Any) -> None:
    """Let the input model judge before anything is started, and say what it would say in every REPORT."""
    if not parts:
        raise ScaleOutError("The list has no usable site.")
    for part in parts:
        try:
            _job, notes = Job.read(given(part.number, list(part.sites)), allow_private=True)
        except InputProblems as problems:
            raise ScaleOutError(str(problems)) from None
    for adjustment in notes.adjustments:
        say(adjustment.message)
    if "maxUrls" not in given(1, []) and not _remembers(given(1, [])):
        say(
            f"The input has no maxUrls: each run saves at most {Job.fields()['maxUrls'].default:,} URLs of all its sites."
        )


def _plan(options: argparse.Namespace, base: Mapping[str, Any], parts: Sequence[Part]) -> str:
    what = [options.actor, options.scrapyd, base, [part.sites for part in parts]]
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


@asynccontextmanager
async def _platform(options: argparse.Namespace) -> AsyncIterator[Platform]:
    if options.actor is not None:
        token = os.environ.get("APIFY_TOKEN")
        if not token:
            raise ScaleOutError("APIFY_TOKEN is not set.")
        runs = RunOptions(options.memory, options.timeout_secs, options.max_charge_usd, options.build)
        yield Apify(token, options.actor, runs, os.environ.get("APIFY_API_BASE_URL", API_URL))
        return
    if options.storage is None:
        raise ScaleOutError("Jobs on scrapyd need --storage, a folder that this machine and scrapyd's both reach.")
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session:
        yield Scrapyd(session, options.scrapyd, options.storage, options.project)


def _write(out: Path, ledger: Ledger, unusable: Sequence[Unusable]) -> None:
    report = merged(ledger, unusable)
    write_json(out / "REPORT.json", report)
    with (out / "sites.csv").open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        writer = csv.DictWriter(file, SITE_COLUMNS)
        writer.writeheader()
        writer.writerows(report["sites"])


def _conclude(out: Path, ledger: Ledger, unusable: Sequence[Unusable]) -> int:
    report = merged(ledger, unusable)
    totals = report["totals"]
    statuses = ", ".join(f"{count:,} {status}" for status, count in sorted(totals["sitesByStatus"].items()))
    saved = sum(part["saved"] for part in report["parts"])
    bad = sum(not is_good(ledger.report(entry)) for entry in ledger.entries)
    say(f"\nSites: {totals['sites']:,} ({statuses}). Rows saved: {saved:,}.")
    if totals["charged"]:
        say("Charged: " + ", ".join(f"{count:,} {event}" for event, count in totals["charged"].items()))
    if bad or unusable:
        say(
            f"Failed runs: {bad:,}. Lines of the list that are no site: {len(unusable):,}. See failures in REPORT.json."
        )
    say(f"Results: {out / 'REPORT.json'}, {out / 'sites.csv'}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
