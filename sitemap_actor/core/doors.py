"""What an answer says about being let in: a login page, a CAPTCHA or challenge, a refusal, or nothing of the kind.

Only evidence counts, because a door stops the host for the rest of the run: a status, a header that a challenge service
sends with every challenge, the address a redirect ended at, or markup that only a challenge or a login page has. An
ordinary page that links to a login, holds a newsletter form, or protects a comment form with a CAPTCHA widget is not a
door, so a widget alone does not count: it has to be what the page is about. Where the evidence is thin, the answer is
None and the caller calls the page what it is: not the file that was asked for.
"""

import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from sitemap_actor.core.reasons import SkipReason

_STATUSES = {401: SkipReason.ACCESS_DENIED, 403: SkipReason.ACCESS_DENIED, 429: SkipReason.RATE_LIMITED}

_HTML = re.compile(
    rb"(?:\s|<!--.*?-->|<\?xml[^>]*\?>)*<(?:!doctype\s+html|html|head|body|title|meta|script|link|div|style|h1|p|center)\b",
    re.IGNORECASE | re.DOTALL,
).match
_SCRIPTS = re.compile(r"<(script|style|noscript|template|svg)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL)
_TAGS = re.compile(r"<[^>]*>")
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.DOTALL)

# Markup that a challenge service puts on its challenge pages and nowhere else.
_CHALLENGE_MARKUP = re.compile(
    r"cf[-_]chl[-_]|/cdn-cgi/challenge-platform/h/|id=[\"']?challenge-(?:form|running|stage|error-text)"
    r"|class=[\"']?cf-error-details|id=[\"']?cf-wrapper|cf-browser-verification|cf-please-wait"
    r"|px-captcha|captcha\.px-cloud\.net|captcha-delivery\.com|geo\.captcha-delivery|dd=\{.{0,400}?'?rt'?:"
    r"|_incapsula_resource[^>]*(?:edet|cwudnsai)|incapsula incident id|awswafcaptcha|challenge\.js[\"'][^>]*awswaf"
    r"|token\.awswaf\.com|ddos-guard\.net/check|js-challenge|id=[\"']?sec-if-cpt-container|bm-verify="
    r"|distil_r_captcha|/_sec/cp_challenge/|kpsdk|sucuri_cloudproxy_js|anubis_challenge|within\.website/x/cmd/anubis",
    re.DOTALL,
).search
_CHALLENGE_TITLE = re.compile(
    r"just a moment|attention required|checking your browser|are you (?:a )?(?:human|robot)|robot check"
    r"|bot verification"
    r"|security (?:check|verification|challenge)|verify(?:ing)? (?:that )?you(?:'re| are)|human verification"
    r"|please (?:wait\b.{0,40}\bverif|verify)|captcha|ddos(?:-guard| protection)|pardon our interruption"
    r"|you have been blocked"
    r"|one more step|client challenge|making sure you(?:'|&#39;|’)?re not a bot|un instant|einen moment|un momento",
    re.DOTALL,
).search
_CHALLENGE_TEXT = re.compile(
    r"checking (?:if the site connection is secure|your browser before)|checking your browser\b"
    r"|enable (?:javascript and cookies|cookies and javascript) to continue"
    r"|verify(?:ing)? (?:that )?you are (?:a )?human"
    r"|(?:prove|confirm|make sure|ensure)(?: that)? you(?:'|&#39;|’)?(?:re| are) (?:a human|human|not a (?:ro)?bot)"
    r"|needs to review the security of your connection|complete the (?:security check|captcha)"
    r"|solve (?:the|this) captcha"
    r"|enter the characters you see|unusual (?:traffic|activity) from your|press (?:&amp;|&|and) hold to confirm"
    r"|sorry, you have been blocked|ray id:|request unsuccessful\. incapsula|automated access"
    r"|this process is automatic",
).search
_CAPTCHA_WIDGET = re.compile(
    r"g-recaptcha|recaptcha/(?:api|enterprise)\.js|hcaptcha\.com|h-captcha|cf-turnstile"
    r"|challenges\.cloudflare\.com/turnstile|funcaptcha|arkoselabs|geetest|frc-captcha|smart-?captcha|captcha",
).search
_DENIED = re.compile(
    r"access (?:to this page has been |was |is )?denied|request blocked|you don't have permission"
).search

_PASSWORD = re.compile(r"<input\b[^>]*\btype\s*=\s*[\"']?password\b").search
_LOGIN_TITLE = re.compile(
    r"\b(?:log[- ]?in|log[- ]?on|sign[- ]?in|sign[- ]?on|sso|authenticat\w+|anmeld\w*|einloggen|connexion|se connecter"
    r"|iniciar sesi|acceso|accedi|entrar|inloggen|logga in|password)",
).search
_LOGIN_PATH = re.compile(
    r"/(?:wp-login\.php|(?:users?|accounts?|auth|session|member|customer|oauth2?|sso|saml2?|adfs|idp|cas)/)?"
    r"(?:log[-_]?in|log[-_]?on|sign[-_]?in|sign[-_]?on|sso|auth(?:enticate|entication|orize)?|oauth2?|saml2?)"
    r"(?:\.(?:php|aspx?|jsp|html?|do))?(?:/|$)|/wp-login\.php$|/adfs/ls\b",
).search
_LOGIN_HOST = re.compile(r"^(?:accounts?|log[-_]?in|sign[-_]?in|sso|auth|idp|identity|id)\.").match

_SHORT_TEXT = 1_500  # visible characters; challenge pages say little, ordinary pages more


def is_html(head: bytes) -> bool:
    """Whether a body begins like an HTML page (BOM, white space, comments and an XML declaration may come first)."""
    return _HTML(_ascii_head(head)) is not None


def looks_like_html(body: bytes) -> bool:
    """Whether what came in place of robots.txt is an HTML page; the same evidence as `is_html`."""
    return is_html(body)


def door(status: int, headers: Mapping[str, str], head: bytes, final_url: str, requested_url: str) -> SkipReason | None:
    """Say which door an answer is, if it is one: access_denied, rate_limited, login_page, captcha or None.

    `headers` in lower case; `head` is the start of the unpacked body, at most 64 KiB; `final_url` is the address that
    answered, or the target of a redirect that is about to be followed; `requested_url` the one asked for at first.
    """
    if headers.get("cf-mitigated", "").strip().lower() == "challenge":
        return SkipReason.CAPTCHA
    page = _page(head) if is_html(head) else None
    if page is not None and _is_challenge(page, status):
        return SkipReason.CAPTCHA
    if status in _STATUSES:
        return _STATUSES[status]
    if redirects_to_login(requested_url, final_url):
        return SkipReason.LOGIN_PAGE
    if page is not None and status < 300 and _is_login(page):
        return SkipReason.LOGIN_PAGE
    return None


def redirects_to_login(requested_url: str, target: str) -> bool:
    """Whether a redirect away from `requested_url` leads to a login page, by the target's path or host."""
    if target == requested_url:
        return False
    before, after = urlsplit(requested_url), urlsplit(target)
    path = unquote(after.path).lower()
    if path.endswith((".xml", ".gz", ".txt")):  # still a file of the kind that was asked for
        return False
    if _LOGIN_PATH(path):
        return not _LOGIN_PATH(unquote(before.path).lower())
    host = (after.hostname or "").lower()
    return host != (before.hostname or "").lower() and _LOGIN_HOST(host) is not None


def _ascii_head(head: bytes) -> bytes:
    """Return the bytes without a BOM, UTF-16 brought to one byte per character."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return head[2:].replace(b"\0", b"")
    return head.removeprefix(b"\xef\xbb\xbf")


def _page(head: bytes) -> str:
    return _ascii_head(head).decode("utf-8", "replace").lower()


def _title(page: str) -> str:
    found = _TITLE.search(page)
    return " ".join(found[1].split()) if found else ""


def _text(page: str) -> str:
    """Return what a reader of the page sees, roughly."""
    return " ".join(_TAGS.sub(" ", _SCRIPTS.sub(" ", page)).split())


def _is_challenge(page: str, status: int) -> bool:
    title = _title(page)
    if _CHALLENGE_MARKUP(page):
        return True
    text = _text(page)
    if len(text) > _SHORT_TEXT:
        return False
    signs = bool(_CHALLENGE_TITLE(title)) + bool(_CHALLENGE_TEXT(text)) + bool(_CAPTCHA_WIDGET(page))
    if signs >= 2 or (signs and status in (403, 429, 503)):
        return True
    return bool(status == 200 and _DENIED(title) and _DENIED(text) and _CAPTCHA_WIDGET(page))


def _is_login(page: str) -> bool:
    """Whether the page is about logging in: a password field, and a title or little else that says so.

    A shop's home page may hold a folded login form; it is known by its many links or its long text.
    """
    if not _PASSWORD(page):
        return False
    if _LOGIN_TITLE(_title(page)):
        return True
    return len(_text(page)) <= _SHORT_TEXT and page.count("<a ") + page.count("<a\n") <= 12
