"""What an answer says about being let in: a login page, a CAPTCHA or challenge, a refusal, or nothing of the kind.

Only evidence counts, because a door stops the host for the rest of the run: a status, a header that a challenge service
sends with every challenge, the address a redirect ended at, or markup that only a challenge or a login page has. An
ordinary page that links to a login, holds a newsletter form, or protects a comment form with a CAPTCHA widget is not a
door, so a widget alone does not count: it has to be what the page is about. Where the evidence is thin, the answer is
None and the caller calls the page what it is: not the file that was asked for.
"""

import re
from collections.abc import Mapping
from urllib.parse import unquote

from sitemap_actor.core.reasons import SkipReason

_STATUSES = {401: SkipReason.ACCESS_DENIED, 403: SkipReason.ACCESS_DENIED, 429: SkipReason.RATE_LIMITED}

# Nothing here may be tried twice at one place or run on without bound: the page is whatever a stranger sends.
_BEFORE = rb"(?>(?:\s|<!--.*?-->|<\?xml[^<>]*\?>)*)"
_HTML = re.compile(_BEFORE + rb"<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL).match
_HTML_PIECE = re.compile(
    _BEFORE + rb"<(?:head|body|title|meta|script|link|div|style|h[1-6]|p|center|table|form|noscript)\b",
    re.IGNORECASE | re.DOTALL,
).match
_OTHER_FILE = re.compile(
    rb"<\?xml|<(?:\w+:)?(?:urlset|sitemapindex|rss|feed|rdf)\b|user-?agent\s*:", re.IGNORECASE
).search
_HIDDEN = re.compile(r"<(script|style|noscript|template|svg)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL)
_TAGS = re.compile(r"<[^<>]*>")
_TITLE = re.compile(r"<title[^<>]{0,200}>(.{0,500}?)</title", re.DOTALL).search

# Headers that a challenge service sends with a challenge, and only then.
_CHALLENGE_HEADERS = {
    "cf-mitigated": ("challenge",),
    "x-amzn-waf-action": ("challenge", "captcha"),
    "sg-captcha": ("challenge",),
}
# Markup that a challenge service puts on its challenge pages and nowhere else. (Cloudflare's challenge-platform script is
# on ordinary pages as well, and its cf-error-details on pages about a broken server.)
_CHALLENGE_MARKUP = re.compile(
    r"_cf_chl_|cf-chl-|/cdn-cgi/challenge-platform/[^\"'\s<>]{1,40}/orchestrate/|cf-browser-verification|cf-please-wait"
    r"|id=[\"']?challenge-(?:form|running|stage|error-text)|px-captcha|captcha\.px-cloud\.net|captcha-delivery\.com"
    r"|_incapsula_resource[^<>]{0,300}(?:edet|cwudnsai)|incapsula incident id|awswafcaptcha|token\.awswaf\.com"
    r"|ddos-guard\.net/check|id=[\"']?sec-if-cpt-container|bm-verify=|distil_r_captcha|/_sec/cp_challenge/"
    r"|sucuri_cloudproxy_js|anubis_challenge|within\.website/x/cmd/anubis|/\.within\.website/",
).search
_CHALLENGE_TITLE = re.compile(
    r"just a moment|attention required|checking your browser|are you (?:a )?(?:human|robot)|robot check"
    r"|bot verification|security (?:check|verification|challenge)|verify(?:ing)? (?:that )?you(?:'re| are)"
    r"|human verification|\bcaptcha\b|ddos(?:-guard| protection)|pardon our interruption|you have been blocked"
    r"|one more step|client challenge|making sure you(?:'|&#39;|’)?re not a bot",
).search
_CHALLENGE_TEXT = re.compile(
    r"checking (?:if the site connection is secure|your browser\b)|verify(?:ing)? (?:that )?you are (?:a )?human"
    r"|enable (?:javascript and cookies|cookies and javascript) to continue"
    r"|(?:prove|confirm|make sure|ensure)(?: that)? you(?:'|&#39;|’)?(?:re| are) (?:a human|human|not a (?:ro)?bot)"
    r"|needs to review the security of your connection|complete the (?:security check|captcha)"
    r"|solve (?:the|this) captcha|enter the characters you see|unusual (?:traffic|activity) from your"
    r"|press (?:&amp;|&|and) hold to confirm|sorry, you have been blocked|request unsuccessful\. incapsula"
    r"|this process is automatic",
).search
_CAPTCHA_WIDGET = re.compile(
    r"g-recaptcha|recaptcha/(?:api|enterprise)\.js|hcaptcha\.com|h-captcha|cf-turnstile|funcaptcha|arkoselabs"
    r"|challenges\.cloudflare\.com/turnstile|geetest|frc-captcha|smart-?captcha"
    r"|\b(?:src|class|id|name|action)=[\"']?[^\"'<>]{0,200}captcha",
).search
_DENIED = re.compile(r"\baccess (?:to this page (?:has been|is) |was |is )?denied\b|\brequest blocked\b").search

_PASSWORD = re.compile(r"<input\b[^<>]{0,500}\btype\s{0,9}=\s{0,9}[\"']?password\b").search
_LOGIN_TITLE = re.compile(
    r"\b(?:log[- ]?in|log[- ]?on|sign[- ]?in|sign[- ]?on|sso|authenticat\w+|anmeld\w*|einloggen|connexion|se connecter"
    r"|iniciar sesi[oó]n|acceso|accedi|entrar|inloggen|logga in|password)\b",
).search
_LOGIN_PATH = re.compile(
    r"/(?:(?:users?|accounts?|auth|session|member|customer|oauth2?|sso|saml2?|adfs|idp|cas)/)?"
    r"(?:wp-login|log[-_]?in|log[-_]?on|sign[-_]?in|sign[-_]?on|sso|auth(?:enticate|entication|orize)?|oauth2?|saml2?"
    r"|adfs/ls|special:userlogin)(?:\.(?:php|aspx?|jsp|html?|do))?(?:/|$)",
).search
_LOGIN_HOST = re.compile(r"(?:accounts?|log[-_]?in|sign[-_]?in|sso|auth|idp|identity)\.").match

_SHORT_TEXT = 1_500  # visible characters; challenge and login pages say little, ordinary pages more
_FEW_LINKS = 12


def is_html(head: bytes) -> bool:
    """Whether a body begins like an HTML page (BOM, white space, comments and an XML declaration may come first).

    A stray piece of HTML in front of a sitemap or of robots.txt lines makes no page of them.
    """
    data = _one_byte_each(head)
    return _HTML(data) is not None or (_HTML_PIECE(data) is not None and not _OTHER_FILE(data))


def looks_like_html(body: bytes) -> bool:
    """Whether what came in place of robots.txt is an HTML page; the same evidence as `is_html`."""
    return is_html(body)


def door(status: int, headers: Mapping[str, str], head: bytes, final_url: str, requested_url: str) -> SkipReason | None:
    """Say which door an answer is, if it is one: access_denied, rate_limited, login_page, captcha or None.

    `headers` in lower case; `head` is the start of the unpacked body, at most 64 KiB; `final_url` is the address that
    answered, or the target of a redirect that is about to be followed; `requested_url` the one asked for at first.
    """
    if any(headers.get(name, "").strip().lower() in values for name, values in _CHALLENGE_HEADERS.items()):
        return SkipReason.CAPTCHA
    page = _page(head) if is_html(head) else None
    if page is not None and _is_challenge(page, status):
        return SkipReason.CAPTCHA
    if status in _STATUSES:
        return _STATUSES[status]
    if redirects_to_login(requested_url, final_url):
        return SkipReason.LOGIN_PAGE
    if page is None or status >= 300:
        return None
    if _is_login(page):
        return SkipReason.LOGIN_PAGE
    return SkipReason.ACCESS_DENIED if _is_refusal(page) else None


def redirects_to_login(requested_url: str, target: str) -> bool:
    """Whether a redirect away from `requested_url` leads to a login page, by the target's path or host."""
    if target == requested_url:
        return False
    before, after = _host_and_path(requested_url), _host_and_path(target)
    if after[1].endswith((".xml", ".gz", ".txt")):  # still a file of the kind that was asked for
        return False
    found = _LOGIN_PATH(after[1])
    if found:
        return found[0] not in before[1]
    return after[0] != before[0] and _LOGIN_HOST(after[0]) is not None


def _host_and_path(url: str) -> tuple[str, str]:
    authority, slash, path = url.partition("://")[2].partition("/")
    return authority.lower(), unquote(slash + re.split("[?#]", path, maxsplit=1)[0]).lower()


def _one_byte_each(head: bytes) -> bytes:
    """Return the bytes without a BOM, UTF-16 brought to one byte per character."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return head[2:].replace(b"\0", b"")
    return head.removeprefix(b"\xef\xbb\xbf")


def _page(head: bytes) -> str:
    return _one_byte_each(head).decode("utf-8", "replace").lower()


def _title(page: str) -> str:
    found = _TITLE(page)
    return " ".join(found[1].split()) if found else ""


def _text(page: str) -> str:
    """Return what a reader of the page sees, roughly."""
    return " ".join(_TAGS.sub(" ", _HIDDEN.sub(" ", page)).split())


def _is_challenge(page: str, status: int) -> bool:
    """Whether the page is about telling people from programs.

    Either it holds a service's own markup, or it is short and says so in its title or text. A CAPTCHA alone is enough only
    under a status that refuses anyway: comment and contact forms hold one too.
    """
    if _CHALLENGE_MARKUP(page):
        return True
    text = _text(page)
    if len(text) > _SHORT_TEXT:
        return False
    said = bool(_CHALLENGE_TITLE(_title(page))) + bool(_CHALLENGE_TEXT(text))
    widget = bool(_CAPTCHA_WIDGET(page))
    return said > 0 or (widget and status in _STATUSES)


def _is_login(page: str) -> bool:
    """Whether the page is about logging in: a password field, and a title or little else that says so.

    A shop's home page may hold a folded login form; it is known by its many links or its long text.
    """
    if not _PASSWORD(page):
        return False
    if _LOGIN_TITLE(_title(page)):
        return True
    return len(_text(page)) <= _SHORT_TEXT and page.count("<a ") + page.count("<a\n") <= _FEW_LINKS


def _is_refusal(page: str) -> bool:
    """Whether a page sent as if all were well says in its title that access is denied, and little else."""
    return bool(_DENIED(_title(page))) and len(_text(page)) <= _SHORT_TEXT and page.count("<a ") <= _FEW_LINKS
