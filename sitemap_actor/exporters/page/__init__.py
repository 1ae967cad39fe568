"""REPORT.html: the page a person opens, one self-contained file without a script (spec section 3).

Its Content-Security-Policy allows nothing but the one style sheet it carries, by hash. Every value is escaped by jinja's
autoescape and made harmless by `text.py`. It is never larger than `MAX_PAGE_BYTES`: the lists are halved until it fits.
"""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from sitemap_actor.core.clock import iso
from sitemap_actor.core.report import RunReport
from sitemap_actor.exporters.page import chart, text, view
from sitemap_actor.exporters.page.verdict import running, verdict

if TYPE_CHECKING:
    from jinja2 import Template

MAX_PAGE_BYTES = 2_000_000


def page_bytes(report: RunReport, now: float) -> bytes:
    """REPORT.html as of `now` (POSIX seconds), UTF-8."""
    caps = view.Caps()
    page = _render(report, now, caps)
    while len(page) > MAX_PAGE_BYTES:
        caps = caps.smaller()
        page = _render(report, now, caps)
    return page


@cache
def _template() -> tuple["Template", str, str]:
    """The page's template, its style sheet, and the sheet's hash; jinja2 is imported by the first page only."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415

    folder = files("sitemap_actor.exporters") / "templates"
    environment = Environment(
        loader=FunctionLoader(lambda name: (folder / name).read_text("utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(n="{:,}".format, many=text.many)
    style = (folder / "report.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return environment.get_template("report.html.j2"), style, digest


def _render(report: RunReport, now: float, caps: view.Caps) -> bytes:
    from markupsafe import Markup  # noqa: PLC0415

    template, style, digest = _template()
    sites, more_sites = view.sites(report, caps)
    hosts, more_hosts = view.hosts(report, caps)
    sections, more_sections = view.sections(report, caps)
    page = template.render(
        style=Markup(style),  # noqa: S704 - the package's own file
        style_hash=digest,
        verdict=verdict(report, now),
        running=running(report),
        mode=report.job.mode.value if report.job else None,
        written=(iso(now), text.moment(now)),
        started=(iso(report.started_at), text.moment(report.started_at)),
        listed=report.counts.listed,
        ledger=view.ledger(report),
        sites=sites,
        more_sites=more_sites,
        changes=view.changes(report, caps),
        held=view.held(report, caps),
        compared=view.compared(report),
        skips=view.skips(report, caps),
        skipped_total=sum(report.skips_by_reason.values()),
        unlisted_skips=view.unlisted_skips(report),
        histogram=chart.histogram(report.days, now),
        canvas=(chart.WIDTH, chart.HEIGHT),
        sections=sections,
        more_sections=more_sections,
        faults=view.faults(report, caps),
        hosts=hosts,
        more_hosts=more_hosts,
        settings=view.settings(report),
        adjustments=view.adjustments(report),
    )
    return page.encode("utf-8")
