"""Runs made by hand, as the page meets them."""

from collections import Counter
from datetime import date
from typing import Any

from sitemap_actor.core.errors import InputProblem
from sitemap_actor.core.job import Job, Notes
from sitemap_actor.core.reasons import ChangeType, Fault, FileKind, SkipReason, Stage
from sitemap_actor.core.report import (
    FileStatus,
    HostReport,
    Result,
    RunReport,
    SitemapReport,
    SiteReport,
    SiteStatus,
    Skip,
    StopReason,
)

STARTED = 1_796_072_400.0  # 30 November 2026, 21:00 UTC
NOW = STARTED + 42.4


def started(**given: Any) -> RunReport:
    job, notes = Job.read(given)
    return RunReport(STARTED, job, notes)


def day(year: int, month: int, number: int = 1) -> int:
    return (date(year, month, number) - date(1970, 1, 1)).days


def sitemap(url: str, listed: int, **more: Any) -> SitemapReport:
    fields: dict[str, Any] = {
        "status": FileStatus.OK,
        "http_status": 200,
        "kind": FileKind.URLSET,
        "bytes": listed * 92,
    }
    return SitemapReport(url, more.pop("parent", None), more.pop("depth", 0), listed=listed, **(fields | more))


def extract_run() -> RunReport:
    """Four sites: one complete, one read in part, one cut by a limit, one closed by its robots.txt."""
    report = started(
        sites=[
            "https://docs.example.com",
            "shop.example.com",
            "https://news.example.com",
            "https://closed.example.com",
            "exa\u200bmple.com",
        ],
        maxUrls=900_000,
        changedSince="2024-01-01",
        maxSitemaps=5,
        speed="fast",
    )
    docs, shop, news, closed = (
        SiteReport(
            "https://docs.example.com",
            "https://docs.example.com/",
            SiteStatus.OK,
            "3 of 3 sitemap files read, 2,412 URLs saved.",
        ),
        SiteReport(
            "https://shop.example.com",
            "https://shop.example.com/",
            SiteStatus.PARTIAL,
            "2 of 4 sitemap files read, 6,180 URLs saved.",
        ),
        SiteReport(
            "https://news.example.com",
            "https://news.example.com/",
            SiteStatus.TRUNCATED,
            "1 of 3 sitemap files read, 880 URLs saved.",
        ),
        SiteReport(
            "https://closed.example.com",
            "https://closed.example.com/",
            SiteStatus.SKIPPED,
            "Skipped: robots.txt disallows the whole site.",
        ),
    )
    docs.saved, shop.saved, news.saved = 2_412, 6_180, 880
    docs.sitemaps = [
        sitemap("https://docs.example.com/sitemap.xml", 0, kind=FileKind.INDEX, children=2, bytes=412),
        sitemap(
            "https://docs.example.com/sitemap_base.xml",
            1_890,
            newest_lastmod="2026-11-28",
            parent="https://docs.example.com/sitemap.xml",
            depth=1,
        ),
        sitemap(
            "https://docs.example.com/sitemap_academy.xml.gz",
            702,
            newest_lastmod="2026-11-30T08:12:44Z",
            depth=1,
            faults=Counter({Fault.LASTMOD_ZONE_MISSING: 702}),
        ),
    ]
    shop.sitemaps = [
        sitemap(
            "https://shop.example.com/sitemap_products_1.xml",
            5_000,
            newest_lastmod="2026-11-30",
            faults=Counter({Fault.BAD_PRIORITY: 12, Fault.DUPLICATE_ENTRY: 340}),
        ),
        sitemap(
            "https://shop.example.com/sitemap_products_2.xml",
            1_733,
            status=FileStatus.PARTIAL,
            reason=SkipReason.MALFORMED,
            detail="line 18,204: mismatched tag",
        ),
        sitemap(
            "https://shop.example.com/sitemap_pages.xml",
            0,
            status=FileStatus.FAILED,
            reason=SkipReason.SERVER_ERROR,
            detail="503 twice",
            http_status=503,
            kind=None,
        ),
        sitemap(
            "https://shop.example.com/intern/sitemap.xml",
            0,
            status=FileStatus.SKIPPED,
            reason=SkipReason.ROBOTS_TXT_DISALLOWED,
            detail="group *",
            http_status=None,
            kind=None,
        ),
    ]
    news.sitemaps = [
        sitemap(
            "https://news.example.com/sitemap-news.xml",
            880,
            rolling=True,
            newest_lastmod="2026-11-30T20:51:00+00:00",
            faults=Counter({Fault.LASTMOD_IN_FUTURE: 3, Fault.HTTP_ON_HTTPS: 880}),
        ),
        sitemap(
            "https://news.example.com/archive/2025.xml",
            0,
            status=FileStatus.SKIPPED,
            reason=SkipReason.MAX_SITEMAPS,
            detail="maxSitemaps is 5",
            http_status=None,
            kind=None,
        ),
        sitemap(
            "https://news.example.com/archive/2024.xml",
            0,
            status=FileStatus.SKIPPED,
            reason=SkipReason.MAX_SITEMAPS,
            detail="maxSitemaps is 5",
            http_status=None,
            kind=None,
        ),
    ]
    docs.add_sections({"/platform": 1_204, "/academy": 702, "/api": 380, "/sdk": 120, "/": 6})
    shop.add_sections({"/products": 5_800, "/collections": 320, "/pages": 60})
    news.add_sections({"/2026": 880})
    report.sites = [docs, shop, news, closed]
    report.hosts = [
        HostReport("https://docs.example.com", "none", 404, None, 4),
        HostReport("https://shop.example.com", "rules", 200, 1.0, 6),
        HostReport("https://news.example.com", "rules", 200, None, 2),
        HostReport("https://closed.example.com", "rules", 200, None, 1, skipped_for=SkipReason.SITE_DISALLOWS_ALL),
    ]
    for site in (shop, news):
        for file in site.sitemaps:
            if file.reason:
                report.skip(
                    Skip(file.url, site.site, Stage.SITEMAP, file.reason, file.detail, site.site + "/robots.txt")
                )
    report.skip(Skip(closed.entry, closed.site, Stage.SITE, SkipReason.SITE_DISALLOWS_ALL, "group *"))
    for number in range(38):
        report.skip(
            Skip(
                f"https://shop.example.com/cart/{number}",
                shop.site,
                Stage.URL,
                SkipReason.ROBOTS_TXT_DISALLOWED,
                "group *: /cart/",
                shop.sitemaps[0].url,
            )
        )
    report.skip(
        Skip(
            "http://10.0.0.8/admin",
            shop.site,
            Stage.URL,
            SkipReason.PRIVATE_ADDRESS,
            "10.0.0.0/8",
            shop.sitemaps[0].url,
        )
    )
    counts = report.counts
    counts.listed, counts.saved, counts.duplicates, counts.filtered_older = 10_205, 9_472, 340, 266
    counts.filtered_undated, counts.disallowed, counts.skipped, counts.invalid = 86, 38, 1, 2
    counts.sitemaps_fetched, counts.robots_txt_read, counts.requests, counts.bytes_received = 7, 4, 13, 938_212
    report.saved_by_type.clear()
    report.charged = {"url": 9_472, "change": 0}
    for year in range(2021, 2027):
        for month in range(1, 13):
            if (year, month) <= (2026, 11):
                report.days[day(year, month, 1 + month * 2)] = (year - 2020) ** 3 * (3 + (month * 7) % 11) // 5
    report.message = "Saved 9,472 URLs of 3 of 4 sites. 38 URLs are disallowed by robots.txt."
    return report


def monitor_run() -> RunReport:
    """A quiet day: some changes, and removals held because a sitemap failed."""
    report = started(mode="monitor", sites=["https://example.com", "https://blog.example.org"], stateKey="daily")
    main = SiteReport(
        "https://example.com", "https://example.com/", SiteStatus.PARTIAL, "2 of 3 sitemap files read, 14 URLs saved."
    )
    blog = SiteReport(
        "https://blog.example.org",
        "https://blog.example.org/",
        SiteStatus.OK,
        "1 of 1 sitemap files read, 6 URLs saved.",
    )
    main.sitemaps = [
        sitemap("https://example.com/sitemap-1.xml", 2_600, status=FileStatus.UNCHANGED, http_status=304),
        sitemap("https://example.com/sitemap-2.xml", 2_388),
        sitemap(
            "https://example.com/sitemap-3.xml",
            0,
            status=FileStatus.FAILED,
            reason=SkipReason.TIMEOUT,
            detail="30 s without an answer, three times",
        ),
    ]
    blog.sitemaps = [sitemap("https://blog.example.org/sitemap.xml", 412, faults=Counter({Fault.LASTMOD_ALL_EQUAL: 1}))]
    main.extra = {"counts": {"heldRemovals": 41, "lastmodWentBack": 2}, "flags": ["removalsHeld"]}
    blog.extra = {
        "counts": {"stampedPages": 380, "lastmodGained": 4},
        "flags": ["stampedLastmod"],
        "sitemaps": [{"flags": ["lastmodUnreliable"]}],
    }
    main.saved, blog.saved = 14, 6
    report.sites = [main, blog]
    report.hosts = [
        HostReport("https://example.com", "rules", 200, None, 5),
        HostReport("https://blog.example.org", "none", 404, None, 2),
    ]
    for number in range(12):
        report.changes.append(change(ChangeType.NEW, f"https://example.com/blog/launch-{number}", lastmod="2026-11-30"))
    for number in range(3):
        report.changes.append(
            change(ChangeType.REMOVED, f"https://blog.example.org/old/{number}", lastmod="2019-04-01")
        )
    for number in range(5):
        report.changes.append(
            change(
                ChangeType.MODIFIED,
                f"https://example.com/docs/page-{number}",
                lastmod="2026-11-29T10:00:00Z",
                previousLastmod="2026-03-14",
            )
        )
    report.saved_by_type.update({"new": 12, "removed": 3, "modified": 5})
    counts = report.counts
    counts.listed, counts.saved, counts.unchanged, counts.removed, counts.not_modified = 5_400, 17, 5_380, 3, 1
    counts.remembered_silently = 3
    counts.sitemaps_fetched, counts.requests, counts.bytes_received = 3, 7, 230_114
    report.charged = {"url": 0, "change": 20}
    report.days.update({day(2026, 11, 30): 12, day(2026, 11, 29): 5})
    main.add_sections({"/blog": 12, "/docs": 5})
    report.skip(
        Skip(
            "https://example.com/sitemap-3.xml",
            main.site,
            Stage.SITEMAP,
            SkipReason.TIMEOUT,
            "30 s without an answer, three times",
            "https://example.com/robots.txt",
        )
    )
    report.message = "12 new, 3 removed and 5 modified pages. 41 removals are held: one sitemap could not be read."
    return report


def change(kind: ChangeType, url: str, **more: Any) -> dict[str, Any]:
    return {
        "url": url,
        "lastmod": None,
        "changefreq": None,
        "priority": None,
        "sourceSitemap": "https://example.com/sitemap-2.xml",
        "site": "https://example.com",
        "fetchedAt": "2026-11-30T21:00:20Z",
        "changeType": kind,
        "previousLastmod": None,
        "firstSeenAt": "2026-11-30T21:00:20Z",
    } | more


def complete_run() -> RunReport:
    """One site, everything read: the prefilled input."""
    report = started(sites=["https://docs.apify.com"], maxUrls=20)
    site = SiteReport(
        "https://docs.apify.com", "https://docs.apify.com/", SiteStatus.OK, "2 of 2 sitemap files read, 20 URLs saved."
    )
    site.saved = 20
    site.sitemaps = [
        sitemap("https://docs.apify.com/sitemap.xml", 0, kind=FileKind.INDEX, children=1),
        sitemap("https://docs.apify.com/sitemap_base.xml", 20),
    ]
    site.add_sections({"/api": 12, "/academy": 8})
    report.sites = [site]
    report.counts.listed = report.counts.saved = 20
    report.counts.sitemaps_fetched, report.counts.requests, report.counts.bytes_received = 2, 3, 4_120
    report.message = "Saved 20 URLs of 1 site."
    return report


def problem_run() -> RunReport:
    """The input names no site and a date that nobody can read."""
    notes = Notes(
        problems=[
            InputProblem(
                "changedSince",
                "soon",
                "changedSince: 'soon' is not a date the Actor can read; YYYY-MM-DD or an ISO date and time is needed.",
            ),
            InputProblem("sites", [], "No website to read: sites and sitemapUrls hold no usable address."),
        ]
    )
    report = RunReport(STARTED, None, notes)
    report.result = Result.INPUT_PROBLEM
    report.message = "The input needs a change: changedSince: 'soon' is not a date the Actor can read."
    return report


def stopped_run() -> RunReport:
    """The spending limit was reached."""
    report = complete_run()
    report.result, report.stop_reason = Result.STOPPED_EARLY, StopReason.SPENDING_LIMIT
    report.counts.listed, report.counts.not_saved, report.counts.not_saved_at_spending_limit = 1_000, 980, 980
    return report


SCRIPT = '"><script>document.title="owned"</script><img src=x onerror=alert(1)>'
BIDI = "https://example.com/\u202egpj.exe\u202c/\u2066\u200fשלום/العربية"


def hostile_run() -> RunReport:
    """Texts that want to run, to turn the page around, to be endless, to pile up."""
    report = started(sites=["https://example.com"], includeUrlPatterns=["*<script>*"])
    long = "https://example.com/" + "a" * 8_000
    texts = [
        "https://example.com/" + SCRIPT,
        "javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        BIDI,
        long,
        "https://example.com/z" + "\u0301\u0489" * 300,
        "https://example.com/\ud800\x00\x1b[31m",
        "https://user:secret@example.com/",
        "{{ 7*7 }}{% raw %}",
        "https://example.com/'onmouseover='alert(1)",
    ]
    site = SiteReport("https://example.com", texts[0], SiteStatus.PARTIAL, f"A message {SCRIPT} {BIDI} " + "w" * 3_000)
    for text in texts:
        file = sitemap(
            text,
            1,
            status=FileStatus.FAILED,
            reason=SkipReason.MALFORMED,
            detail=text,
            newest_lastmod=text,
            faults=Counter({Fault.LONG_URL: 3}),
        )
        site.sitemaps.append(file)
        site.add_sections({text: 5})
        report.skip(Skip(text, text, Stage.URL, SkipReason.INVALID_URL, text, text))
        report.hosts.append(HostReport(text, "rules", 200, None, 1))
        report.changes.append(change(ChangeType.NEW, text, lastmod=text, previousLastmod=text))
    report.sites = [site]
    report.days.update({10**9: 1, -(10**9): 2, day(2026, 11): 3})
    report.message = f"{SCRIPT} {BIDI}"
    report.counts.listed = report.counts.saved = 10
    return report


def huge_run(length: int = 700) -> RunReport:
    """1,000 sites, 50,000 skips of every reason, 20,000 changes; addresses of `length` characters."""
    report = started(mode="monitor", sites=[f"site-{number}.example.com" for number in range(1_000)])
    tail = '/&<">' * (length // 5)
    for number in range(1_000):
        root = f"https://site-{number}.example.com"
        site = SiteReport(
            root, root + "/", list(SiteStatus)[number % 5], f"3 of 5 sitemap files read, {number:,} URLs saved."
        )
        site.sitemaps = [
            sitemap(
                f"{root}/sitemap-{file}.xml{tail}",
                900,
                faults=Counter({list(Fault)[(number + file) % len(Fault)]: file + 1}),
            )
            for file in range(5)
        ]
        site.add_sections({f"/section-{number}-{part}": part + 1 for part in range(20)})
        site.extra = {"counts": {"heldRemovals": 2}, "flags": ["removalsHeld", "truncated"]}
        report.sites.append(site)
        report.hosts.append(HostReport(root, "rules", 200, 2.0, 6))
    reasons = list(SkipReason)
    for number in range(50_100):
        address = f"https://site-{number % 1_000}.example.com/{number}{tail}"
        report.skip(
            Skip(
                address,
                f"https://site-{number % 1_000}.example.com",
                Stage.URL,
                reasons[number % len(reasons)],
                tail,
                address,
            )
        )
    kinds = (ChangeType.NEW, ChangeType.REMOVED, ChangeType.MODIFIED)
    report.changes = [
        change(kinds[number % 3], f"https://example.com/{number}{tail}", lastmod="2026-11-30")
        for number in range(20_000)
    ]
    report.saved_by_type.update({"new": 6_667, "removed": 6_667, "modified": 6_666})
    report.days.update(dict.fromkeys(range(20_000), 3))
    report.counts.listed, report.counts.saved = 4_500_000, 20_000
    return report


def empty_monitor_run() -> RunReport:
    """A second run on which nothing had changed."""
    report = monitor_run()
    report.changes.clear()
    report.saved_by_type.clear()
    report.days.clear()
    report.skips_by_reason.clear()
    report.skips.clear()
    for site in report.sites:
        site.status, site.saved, site.extra = SiteStatus.OK, 0, {}
        site.sections.clear()
        for file in site.sitemaps:
            file.status, file.reason, file.detail = FileStatus.UNCHANGED, None, None
    report.counts.listed = report.counts.unchanged = 5_400
    report.counts.saved = report.counts.removed = report.counts.remembered_silently = 0
    report.message = "No change on 2 sites."
    return report


def running_run() -> RunReport:
    """The page as it is rewritten while one of three sites is still being read and another one waits."""
    report = started(sites=["a.example.com", "b.example.com", "c.example.com"])
    done = SiteReport(
        "https://a.example.com", "https://a.example.com/", SiteStatus.OK, "1 of 1 sitemap files read, 5 URLs saved."
    )
    done.sitemaps = [sitemap("https://a.example.com/sitemap.xml", 5)]
    open_site = SiteReport("https://b.example.com", "https://b.example.com/")
    open_site.sitemaps = [SitemapReport("https://b.example.com/sitemap.xml", None, 0)]
    report.sites = [done, open_site]
    report.counts.listed = report.counts.saved = 5
    report.message = "Saved 5 URLs of 3 sites."
    return report
