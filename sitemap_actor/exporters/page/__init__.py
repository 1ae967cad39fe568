"""REPORT.html: the page a person opens, one self-contained file without a script (spec section 3).

Its Content-Security-Policy allows nothing but the one style sheet it carries, by hash. Every value is escaped by jinja's
autoescape and made harmless by `text.py`. Each list has its share of `MAX_PAGE_BYTES` and says how much of it was left out;
should a page come out larger all the same, the shares are halved until it fits.
"""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from sitemap_actor.core.clock import iso
from sitemap_actor.core.report import RunReport
from sitemap_actor.exporters.page import changes, chart, figures, left_out, sites, text
from sitemap_actor.exporters.page.verdict import running, verdict

if TYPE_CHECKING:
    from jinja2 import Template

MAX_PAGE_BYTES = 2_000_000
_SMALLEST = 1 / 1024
"""By then no list has an entry left; what remains is bounded by itself and far smaller."""


def page_bytes(report: RunReport, now: float) -> bytes:
    """REPORT.html as of `now` (POSIX seconds), UTF-8."""
    scale = 1.0
    page = _render(report, now, scale)
    while len(page) > MAX_PAGE_BYTES and scale > _SMALLEST:
        scale /= 2
        page = _render(report, now, scale)
    return page


@cache
def template() -> tuple["Template", str, str]:
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


def _render(report: RunReport, now: float, scale: float) -> bytes:
    from markupsafe import Markup  # noqa: PLC0415

    compiled, style, digest = template()
    page = compiled.render(
        _lists(report, scale),
        style=Markup(style),  # noqa: S704 - the package's own file
        style_hash=digest,
        verdict=verdict(report, now),
        running=running(report),
        mode=report.job.mode.value if report.job else None,
        written=(iso(now), text.moment(now)),
        started=(iso(report.started_at), text.moment(report.started_at)),
        listed=report.counts.listed,
        ledger=figures.ledger(report),
        histogram=chart.histogram(report.days, now),
        canvas=(chart.WIDTH, chart.HEIGHT),
        settings=figures.settings(report),
        adjustments=figures.adjustments(report),
    )
    return page.encode("utf-8")


def _lists(report: RunReport, scale: float) -> dict[str, Any]:
    """The lists that can be long, each within its share of the page in bytes."""
    site_views, more_sites = sites.sites(report, text.Room(650_000 * scale), 300_000 * scale)
    host_views, more_hosts = sites.hosts(report, text.Room(150_000 * scale))
    section_views, more_sections = figures.sections(report)
    return {
        "sites": site_views,
        "more_sites": more_sites,
        "hosts": host_views,
        "more_hosts": more_hosts,
        "sections": section_views,
        "more_sections": more_sections,
        "changes": changes.changes(report, 300_000 * scale),
        "held": changes.held(report),
        "compared": changes.compared_in_words(report),
        "skips": left_out.skips(report, 300_000 * scale),
        "skipped_total": sum(report.skips_by_reason.values()),
        "unlisted_skips": left_out.unlisted_skips(report),
        "faults": left_out.faults(report, 80_000 * scale),
    }
