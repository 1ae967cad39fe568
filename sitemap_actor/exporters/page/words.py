"""What REPORT.html says of each code: what to do about a skip, which clause a protocol fault offends, what a flag means.

Every member of the vocabularies has an entry; a test holds this module to that.
"""

from typing import NamedTuple

from sitemap_actor.core.reasons import WORDS, Fault, SkipReason
from sitemap_actor.core.report import FileStatus, SiteStatus, StopReason

_PROTOCOL = "https://www.sitemaps.org/protocol.html"
_OWN_RULE = "Nothing to do: the site's own rule is followed. If the site is yours, change its robots.txt."
_LATER = "Run again later. If it stays like this, the fault is on the site's side or on the way to it."
_OWNER = "Ask the site's owner to let SitemapUrlExtractor in, or leave the site out. The run never tries to get past."
_SITE_FIX = "The page itself may be fine: tell the site's owner, who can correct the entry in the sitemap."

HINTS: dict[SkipReason, str] = {
    SkipReason.INVALID_URL: _SITE_FIX,
    SkipReason.INVALID_CHARACTER: "Type the address anew: copied text often brings invisible characters along.",
    SkipReason.UNSUPPORTED_SCHEME: "Only http and https addresses are read.",
    SkipReason.USERINFO: "Give the address without a user name or password: only public files are read.",
    SkipReason.PRIVATE_ADDRESS: "Only public addresses are requested. Check whether the name is meant to be public.",
    SkipReason.TOO_MANY_ENTRIES: "Split the list: each run takes up to 1,000 entries.",
    SkipReason.INVALID_PATTERN: "Correct the pattern: * and ? in a glob, or a regular expression after re:.",
    SkipReason.UNKNOWN_VALUE: "Correct the entry; the detail says what is expected.",
    SkipReason.ACCESS_DENIED: _OWNER,
    SkipReason.RATE_LIMITED: "Run again later or less often. No more requests went to that host in this run.",
    SkipReason.LOGIN_PAGE: "Only public files are read. If the sitemap is public, give its address in Sitemap URLs.",
    SkipReason.CAPTCHA: _OWNER,
    SkipReason.ROBOTS_TXT_DISALLOWED: _OWN_RULE,
    SkipReason.ROBOTS_TXT_SERVER_ERROR: "A robots.txt that cannot be read is no permission. Run again later.",
    SkipReason.ROBOTS_TXT_REDIRECT: "Open the site's robots.txt in a browser and give the site it leads to instead.",
    SkipReason.CRAWL_DELAY_TOO_LONG: "Nothing to do: the site is left alone rather than read faster than it asks.",
    SkipReason.SITE_DISALLOWS_ALL: _OWN_RULE,
    SkipReason.TIMEOUT: "Run again, or raise Request timeout.",
    SkipReason.DNS_ERROR: "Check the spelling of the host name.",
    SkipReason.TLS_ERROR: "Open the address in a browser: its certificate may have expired or name another host.",
    SkipReason.NETWORK_ERROR: _LATER,
    SkipReason.TOO_MANY_REDIRECTS: "Open the address in a browser and give the one it ends at.",
    SkipReason.HTTP_ERROR: "Check the address: the file may have moved or gone.",
    SkipReason.SERVER_ERROR: _LATER,
    SkipReason.TOO_LARGE: "The protocol allows 50 MiB a file, unpacked; the site's owner has to split this one.",
    SkipReason.UNSAFE_XML: "A sitemap needs no DTD and no entities; the site's owner has to remove them.",
    SkipReason.MALFORMED: "The entries before the error were kept. The detail has the line; tell the site's owner.",
    SkipReason.UNSUPPORTED_FORMAT: "Sitemaps as XML, text, RSS or Atom are read, plain or gzip. Check what the address serves.",
    SkipReason.UNSUPPORTED_ENCODING: "A sitemap has to be UTF-8, plain or gzip; tell the site's owner.",
    SkipReason.EMPTY: "The file holds nothing. If it stays so, tell the site's owner.",
    SkipReason.MAX_DEPTH: "Raise maxSitemapDepth to follow indexes further down.",
    SkipReason.MAX_SITEMAPS: "Raise maxSitemaps to read more files.",
    SkipReason.MAX_HOSTS: "Give these hosts as sites of their own: up to 25 more hosts are asked for their rules.",
    SkipReason.HOST_CLOSED: "See what closed the host, under Hosts. Nothing listed there is taken without its rules.",
    SkipReason.NO_SITEMAP_FOUND: "If you know where the site's sitemap is, give it in Sitemap URLs.",
    SkipReason.NOT_REACHED: "Run again with a higher limit or more time.",
}


def words_of(reason: SkipReason) -> str:
    """A reason in words."""
    return WORDS.get(reason) or reason.replace("_", " ")


class Clause(NamedTuple):
    """A fault in words, and the part of the sitemaps protocol it offends."""

    words: str
    section: str
    anchor: str

    @property
    def href(self) -> str:
        """Where the protocol says so."""
        return f"{_PROTOCOL}#{self.anchor}"


_LOC = ("XML tag definitions: <loc>", "xmlTagDefinitions")
_LASTMOD = ("XML tag definitions: <lastmod>", "xmlTagDefinitions")
_URLSET = ("XML tag definitions: <urlset>", "xmlTagDefinitions")
_INDEX = ("Using Sitemap index files", "index")
_LOCATION = ("Sitemap file location", "location")
_ESCAPING = ("Entity escaping: UTF-8", "escaping")
_FORMATS = ("Other Sitemap formats", "otherformats")
_VALIDATING = ("Validating your Sitemap", "validating")

CLAUSES: dict[Fault, Clause] = {
    Fault.OVER_50000_ENTRIES: Clause("more than 50,000 entries in a file", *_INDEX),
    Fault.OVER_50_MB: Clause("a file of more than 50 MB, unpacked", *_INDEX),
    Fault.MISSING_NAMESPACE: Clause("the root names no namespace", *_URLSET),
    Fault.WRONG_NAMESPACE: Clause("the root names another namespace than the protocol's", *_URLSET),
    Fault.WRONG_CONTENT_TYPE: Clause("the Content-Type sent is not the file's", *_VALIDATING),
    Fault.GZIP_MISMATCH: Clause("named or sent as gzip and is not, or the other way round", *_INDEX),
    Fault.TRAILING_BYTES: Clause("something follows the end of the file", *_VALIDATING),
    Fault.LEADING_JUNK: Clause("something stands before the XML declaration", *_VALIDATING),
    Fault.ENCODING_MISMATCH: Clause("another encoding than declared, or not UTF-8", *_ESCAPING),
    Fault.OTHER_HOST: Clause("entries of another host than the sitemap's", *_LOCATION),
    Fault.OUTSIDE_PATH: Clause("entries outside the sitemap's folder", *_LOCATION),
    Fault.EMPTY_LOC: Clause("entries without an address", *_LOC),
    Fault.RELATIVE_LOC: Clause("addresses without scheme and host", *_LOC),
    Fault.EXTRA_LOC: Clause("entries with more than one address", *_LOC),
    Fault.LONG_URL: Clause("addresses of more than 2,048 characters", *_LOC),
    Fault.HTTP_ON_HTTPS: Clause("http entries in a sitemap read over https", *_LOCATION),
    Fault.DUPLICATE_ENTRY: Clause("the same page more than once", *_LOC),
    Fault.LASTMOD_UNREADABLE: Clause("lastmod that is no W3C date", *_LASTMOD),
    Fault.LASTMOD_IN_FUTURE: Clause("lastmod in the future", *_LASTMOD),
    Fault.LASTMOD_ALL_EQUAL: Clause("the same lastmod on every page", *_LASTMOD),
    Fault.LASTMOD_ZONE_MISSING: Clause("lastmod with a time but no time zone", *_LASTMOD),
    Fault.BAD_PRIORITY: Clause("priority outside 0.0 to 1.0", "XML tag definitions: <priority>", "xmlTagDefinitions"),
    Fault.BAD_CHANGEFREQ: Clause(
        "changefreq not of the protocol", "XML tag definitions: <changefreq>", "xmlTagDefinitions"
    ),
    Fault.INDEX_IN_INDEX: Clause("an index that lists an index", *_INDEX),
    Fault.MIXED_INDEX_URLSET: Clause("pages and sitemaps in one file", *_INDEX),
    Fault.WRONG_CASE: Clause("element names in the wrong letter case", *_VALIDATING),
    Fault.REDIRECTED: Clause("the sitemap's address redirects", *_LOCATION),
    Fault.IGNORED_LINES: Clause("lines of a text sitemap that are no address", *_FORMATS),
}

SITE_WORDS: dict[SiteStatus, tuple[str, str]] = {
    SiteStatus.OK: ("Complete", "good"),
    SiteStatus.PARTIAL: ("In part", "warn"),
    SiteStatus.TRUNCATED: ("Cut by a limit", "warn"),
    SiteStatus.FAILED: ("Nothing read", "bad"),
    SiteStatus.SKIPPED: ("Skipped", "mute"),
}
"""A site's status in words, and its tone."""

FILE_WORDS: dict[FileStatus, tuple[str, str]] = {
    FileStatus.OK: ("Read", "good"),
    FileStatus.UNCHANGED: ("Unchanged", "good"),
    FileStatus.PARTIAL: ("In part", "warn"),
    FileStatus.FAILED: ("Failed", "bad"),
    FileStatus.SKIPPED: ("Skipped", "mute"),
}
"""A file's status in words, and its tone."""

STOPS: dict[StopReason, tuple[str, str]] = {
    StopReason.MAX_URLS: ("The limit of URLs to save (maxUrls) was reached.", "Raise maxUrls to get more."),
    StopReason.SPENDING_LIMIT: (
        "The spending limit of the run was reached.",
        "Raise the run's maximum cost to get the rest. Nothing past the limit was saved or charged.",
    ),
    StopReason.ABORTED: (
        "The run was aborted.",
        "Start it again to read the rest; a new run starts from the beginning.",
    ),
    StopReason.RUN_TIMEOUT: ("The run's time was up.", "Give the run a longer timeout, or fewer sites."),
    StopReason.STATE_IN_USE: (
        "Another run is using the same memory (stateKey).",
        "Wait for that run to end, or give this schedule a stateKey of its own.",
    ),
}
"""Why a run ended early, and what to do."""

FLAGS: dict[str, tuple[str, str]] = {
    "shrinkSuspected": (
        "A sitemap shrank by more than shrinkGuardPercent",
        "Removals are held until a second complete run shows the same.",
    ),
    "stampedLastmod": (
        "Most pages of a sitemap got a new lastmod at once",
        "That is how a deployment looks, not an edit; these pages are not reported as modified.",
    ),
    "lastmodUnreliable": (
        "A sitemap's lastmod is stamped anew in run after run",
        "Do not rely on modified pages of that sitemap.",
    ),
    "hostMigrated": (
        "The pages moved to another host",
        "The same pages under a new host are neither removed nor new.",
    ),
    "newSitemapBaseline": (
        "A new sitemap brought many pages at once",
        "Its pages are a baseline; from the next run on its changes are reported.",
    ),
    "removalsHeld": (
        "Not every sitemap could be read whole",
        "A missing page may stand in the part that was not read: removals wait for a complete run.",
    ),
    "truncated": (
        "The site is larger than a limit of this run",
        "Raise maxUrlsPerSite, maxSitemaps or maxSitemapDepth for a complete comparison.",
    ),
    "sitemapGone": ("A sitemap is gone for good", "Its pages that stand nowhere else are removed."),
    "stateWasInvalid": (
        "What was remembered could not be read",
        "It was kept aside, and the site was read into a new memory quietly; changes are reported from the next run on.",
    ),
    "deliveredAtLeastOnce": (
        "An earlier run broke off and its results are gone",
        "Some of its changes may be here a second time.",
    ),
    "recoveredFromJournal": (
        "An earlier run broke off",
        "What it had delivered was taken into account; nothing is repeated.",
    ),
}
"""Flags of monitor mode: what was noticed, and what follows."""

COMPARED: dict[str, str] = {
    "heldRemovals": "pages missing, removal held",
    "deferred": "changes past maxChanges, kept for the next run",
    "stampedPages": "pages with a stamped lastmod",
    "lastmodGained": "pages that gained their first lastmod",
    "lastmodLost": "pages that lost their lastmod",
    "lastmodWentBack": "pages whose lastmod went back",
    "profilePagesSkipped": "pages that look like people's profiles",
}
"""Counts of monitor mode that are not changes (SUMMARY.sites[].counts)."""
