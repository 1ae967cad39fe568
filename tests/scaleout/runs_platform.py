"""The fake platform with what it takes to start runs: each run is made up, with an INPUT and a REPORT of the real shape."""

import json
import re
from collections.abc import Callable
from typing import Any

from aiohttp import web

from sitemap_actor.core.job import Job, Notes
from sitemap_actor.core.reasons import SkipReason, Stage
from sitemap_actor.core.report import Result, RunReport, SiteReport, SiteStatus, Skip
from tests.actor.fake_platform import FakePlatform, Store, _error, _now

ACTOR = "someone/sitemap-url-extractor"
JSON = "application/json; charset=utf-8"


def report_of(given: dict[str, Any]) -> dict[str, Any]:
    """A REPORT as a run with this input could leave it: 7 URLs of each site, but nothing of those named `bad`."""
    job, notes = Job.read(given)
    report = RunReport(1_780_000_000.0, job, notes)
    report.charged = {"url": 0, "change": 0}
    for site in job.site_list:
        good = "bad" not in site.key
        saved = 7 if good else 0
        status = SiteStatus.OK if good else SiteStatus.FAILED
        message = "1 of 1 sitemap files read, 7 URLs saved." if good else "No sitemap could be read: no answer in time."
        report.sites.append(SiteReport(site.key, site.entry, status, message, saved))
        report.counts.listed += saved
        report.counts.saved += saved
        report.charged["url"] += saved
        if not good:
            report.skip(Skip(f"{site.key}/sitemap.xml", site.key, Stage.SITEMAP, SkipReason.TIMEOUT))
    report.message = f"Saved {report.counts.saved} URLs."
    return report.to_dict(1_780_000_060.0)


def broken_report(_given: dict[str, Any]) -> dict[str, Any]:
    report = RunReport(1_780_000_000.0, None, Notes())
    report.result, report.message = Result.FAILED, "The run failed: an internal error."
    return report.to_dict(1_780_000_060.0)


class RunsPlatform(FakePlatform):
    """Starts runs of ACTOR. A run is RUNNING for `lasts` looks at it, and then what `outcome` says."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[dict[str, Any]] = []
        """Every run there is, in the order of their starts."""
        self.lasts = 2
        self.report: Callable[[dict[str, Any]], dict[str, Any] | None] = report_of
        self.outcome = "SUCCEEDED"
        self.most_at_once = 0
        self._looks: dict[str, int] = {}

    def inputs(self) -> list[dict[str, Any]]:
        """The inputs of the runs started so far."""
        return [
            json.loads(self.stores["key-value-stores", run["defaultKeyValueStoreId"]].records["INPUT"][0])
            for run in self.started
        ]

    @web.middleware
    async def _watched(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if re.fullmatch(r"/v2/act(or)?s/[^/]+/runs", request.path):
            handler = self._list if request.method == "GET" else self._start
        elif re.fullmatch(r"/v2/actor-runs/started\d+", request.path):
            handler = self._look
        return await super()._watched(request, handler)

    async def _start(self, request: web.Request) -> web.Response:
        if ACTOR.replace("/", "~") not in request.path:
            return _error(404, "record-not-found")
        run = f"started{len(self.started):06d}"
        body = self.calls[-1].body  # nothing is awaited between the noting of a call and this
        store = Store("key-value-stores", f"kvs-{run}")
        self.stores["key-value-stores", store.id] = store
        store.records["INPUT"] = (body, JSON)
        report = self.report(json.loads(body))
        if report is not None:
            store.records["REPORT"] = (json.dumps(report).encode(), JSON)
        made = self.run | {"id": run, "defaultKeyValueStoreId": store.id, "startedAt": _now(), "status": "RUNNING"}
        self.started.append(made)
        self._looks[run] = self.lasts
        self.most_at_once = max(self.most_at_once, sum(looks > 0 for looks in self._looks.values()))
        return web.json_response({"data": made}, status=201)

    async def _look(self, request: web.Request) -> web.Response:
        run = next(run for run in self.started if request.path.endswith(run["id"]))
        self._looks[run["id"]] -= 1
        status = "RUNNING" if self._looks[run["id"]] > 0 else self.outcome
        return web.json_response({"data": run | {"status": status}})

    async def _list(self, _request: web.Request) -> web.Response:
        short = ("id", "actId", "userId", "startedAt", "status", "buildId", "buildNumber", "meta")
        stores = ("defaultKeyValueStoreId", "defaultDatasetId", "defaultRequestQueueId")
        items = [{name: run[name] for name in (*short, *stores)} | {"usageTotalUsd": 0.0} for run in self.started[::-1]]
        page = {"total": len(items), "offset": 0, "limit": 1_000, "desc": True, "count": len(items), "items": items}
        return web.json_response({"data": page})
