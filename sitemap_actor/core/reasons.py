"""The vocabulary of the records: why something was skipped, at which stage, and what a sitemap does against the protocol.

These are the exact codes that users see in SKIPPED and REPORT; nothing here is ever renamed.
"""

from enum import StrEnum


class Stage(StrEnum):
    """Where on its way an address was skipped (SKIPPED.stage)."""

    INPUT = "input"
    ROBOTS_TXT = "robots.txt"
    SITE = "site"
    SITEMAP = "sitemap"
    URL = "url"


class SkipReason(StrEnum):
    """Why an address was skipped, a file failed or is partial (SKIPPED.reason, REPORT's `reason`)."""

    # what the input names
    INVALID_URL = "invalid_url"
    INVALID_CHARACTER = "invalid_character"
    UNSUPPORTED_SCHEME = "unsupported_scheme"
    USERINFO = "userinfo"
    PRIVATE_ADDRESS = "private_address"
    TOO_MANY_ENTRIES = "too_many_entries"
    INVALID_PATTERN = "invalid_pattern"
    UNKNOWN_VALUE = "unknown_value"
    # doors
    ACCESS_DENIED = "access_denied"
    RATE_LIMITED = "rate_limited"
    LOGIN_PAGE = "login_page"
    CAPTCHA = "captcha"
    # robots.txt
    ROBOTS_TXT_DISALLOWED = "robots_txt_disallowed"
    ROBOTS_TXT_SERVER_ERROR = "robots_txt_server_error"
    ROBOTS_TXT_REDIRECT = "robots_txt_redirect"
    CRAWL_DELAY_TOO_LONG = "crawl_delay_too_long"
    SITE_DISALLOWS_ALL = "site_disallows_all"
    # the network
    TIMEOUT = "timeout"
    DNS_ERROR = "dns_error"
    TLS_ERROR = "tls_error"
    NETWORK_ERROR = "network_error"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    HTTP_ERROR = "http_error"
    SERVER_ERROR = "server_error"
    # the file
    TOO_LARGE = "too_large"
    UNSAFE_XML = "unsafe_xml"
    MALFORMED = "malformed"
    UNSUPPORTED_FORMAT = "unsupported_format"
    UNSUPPORTED_ENCODING = "unsupported_encoding"
    EMPTY = "empty"
    # limits and the end of a run
    MAX_DEPTH = "max_depth"
    MAX_SITEMAPS = "max_sitemaps"
    MAX_HOSTS = "max_hosts"
    HOST_CLOSED = "host_closed"
    NO_SITEMAP_FOUND = "no_sitemap_found"
    NOT_REACHED = "not_reached"


class Fault(StrEnum):
    """What a sitemap does against the sitemaps protocol (REPORT, counted per sitemap; never a reason to drop a URL)."""

    OVER_50000_ENTRIES = "over_50000_entries"
    OVER_50_MB = "over_50_mb"
    MISSING_NAMESPACE = "missing_namespace"
    WRONG_NAMESPACE = "wrong_namespace"
    WRONG_CONTENT_TYPE = "wrong_content_type"
    GZIP_MISMATCH = "gzip_mismatch"
    TRAILING_BYTES = "trailing_bytes"
    LEADING_JUNK = "leading_junk"
    ENCODING_MISMATCH = "encoding_mismatch"
    OTHER_HOST = "other_host"
    OUTSIDE_PATH = "outside_path"
    EMPTY_LOC = "empty_loc"
    RELATIVE_LOC = "relative_loc"
    EXTRA_LOC = "extra_loc"
    LONG_URL = "long_url"
    HTTP_ON_HTTPS = "http_on_https"
    DUPLICATE_ENTRY = "duplicate_entry"
    LASTMOD_UNREADABLE = "lastmod_unreadable"
    LASTMOD_IN_FUTURE = "lastmod_in_future"
    LASTMOD_ALL_EQUAL = "lastmod_all_equal"
    LASTMOD_ZONE_MISSING = "lastmod_zone_missing"
    BAD_PRIORITY = "bad_priority"
    BAD_CHANGEFREQ = "bad_changefreq"
    INDEX_IN_INDEX = "index_in_index"
    MIXED_INDEX_URLSET = "mixed_index_urlset"
    WRONG_CASE = "wrong_case"
    REDIRECTED = "redirected"
    IGNORED_LINES = "ignored_lines"


class FileKind(StrEnum):
    """What a sitemap file turned out to be, by its bytes (REPORT's `kind`)."""

    URLSET = "urlset"
    INDEX = "index"
    TEXT = "text"
    RSS = "rss"
    ATOM = "atom"


class ChangeType(StrEnum):
    """What a monitor row says of its page."""

    BASELINE = "baseline"
    NEW = "new"
    REMOVED = "removed"
    MODIFIED = "modified"
    EXISTING = "existing"


WORDS: dict[SkipReason, str] = {
    SkipReason.ACCESS_DENIED: "this client was refused",
    SkipReason.RATE_LIMITED: "the server asked for fewer requests",
    SkipReason.ROBOTS_TXT_SERVER_ERROR: "robots.txt could not be read",
    SkipReason.ROBOTS_TXT_REDIRECT: "robots.txt redirects to something that is not a robots.txt",
    SkipReason.ROBOTS_TXT_DISALLOWED: "robots.txt disallows it",
    SkipReason.SITE_DISALLOWS_ALL: "robots.txt disallows the whole site",
    SkipReason.CRAWL_DELAY_TOO_LONG: "robots.txt asks for a Crawl-delay of more than 60 seconds",
    SkipReason.TIMEOUT: "no answer in time",
    SkipReason.DNS_ERROR: "the host name could not be resolved",
    SkipReason.TLS_ERROR: "the TLS certificate or handshake failed",
    SkipReason.NETWORK_ERROR: "the connection failed",
    SkipReason.TOO_MANY_REDIRECTS: "too many redirects",
    SkipReason.LOGIN_PAGE: "a login page was shown",
    SkipReason.CAPTCHA: "a CAPTCHA or challenge page was shown",
    SkipReason.PRIVATE_ADDRESS: "the address is private or local",
    SkipReason.HTTP_ERROR: "the server answered with an error",
    SkipReason.SERVER_ERROR: "the server answered with an error of its own",
    SkipReason.TOO_LARGE: "the file is larger than 50 MiB",
    SkipReason.UNSAFE_XML: "the XML declares a DTD or entities",
    SkipReason.MALFORMED: "the XML is broken",
    SkipReason.UNSUPPORTED_FORMAT: "not a sitemap format",
    SkipReason.UNSUPPORTED_ENCODING: "an encoding that cannot be read",
    SkipReason.EMPTY: "the file is empty",
    SkipReason.MAX_DEPTH: "deeper than maxSitemapDepth",
    SkipReason.MAX_SITEMAPS: "past maxSitemaps",
    SkipReason.MAX_HOSTS: "past the 25 hosts beyond the sites",
    SkipReason.HOST_CLOSED: "its host is closed to this run",
    SkipReason.NOT_REACHED: "the run ended first",
    SkipReason.NO_SITEMAP_FOUND: "no sitemap was found",
    SkipReason.TOO_MANY_ENTRIES: "past the first 1,000 entries of its list",
    SkipReason.INVALID_PATTERN: "not a pattern that can be used",
    SkipReason.UNKNOWN_VALUE: "not a value that is known",
    SkipReason.INVALID_URL: "not a usable address",
    SkipReason.INVALID_CHARACTER: "an address with control or invisible characters",
    SkipReason.UNSUPPORTED_SCHEME: "neither http nor https",
    SkipReason.USERINFO: "a user name or password in the address",
}
"""Each reason in words, as messages and REPORT.html say it: only what was observed."""
