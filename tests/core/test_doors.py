"""Doors are told by evidence, and ordinary pages are none (faults H01, H04 to H06, R19, R20)."""

import time

import pytest

from sitemap_actor.core.doors import door, is_html, looks_like_html, redirects_to_login
from sitemap_actor.core.reasons import SkipReason

URL = "https://example.com/sitemap.xml"
XML = b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>'


def page(title: str, body: str, head: str = "") -> bytes:
    return f"<!DOCTYPE html>\n<html><head><title>{title}</title>{head}</head><body>{body}</body></html>".encode()


def judged(status: int, head: bytes, **headers: str) -> SkipReason | None:
    return door(status, {name.replace("_", "-"): value for name, value in headers.items()}, head, URL, URL)


LINKS = "".join(f'<li><a href="/{number}">Something worth reading, number {number}</a></li>' for number in range(60))
LOGIN_FORM = '<form action="/session"><input name="user"><input type="password" name="pw"><button>Go</button></form>'

CHALLENGES = {
    "cloudflare": page("Just a moment...", "<noscript>Enable JavaScript and cookies to continue</noscript>")
    + b"<script>window._cf_chl_opt={cvId:'3'};</script>",
    "cloudflare without scripts": page("Just a moment...", "Checking your browser before accessing example.com."),
    "cloudflare orchestrate": page(
        "example.com", "<script src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=1'></script>"
    ),
    "cloudflare block": page("Attention Required! | Cloudflare", "Sorry, you have been blocked. Ray ID: 1"),
    "recaptcha": page("Security check", '<div class="g-recaptcha" data-sitekey="k"></div>'),
    "hcaptcha": page("Are you human?", '<script src="https://js.hcaptcha.com/1/api.js"></script>'),
    "turnstile": page("One more step", '<div class="cf-turnstile"></div> Please verify you are human'),
    "perimeterx": page("Access to this page has been denied", '<div id="px-captcha"></div>'),
    "datadome": page("example.com", '<script src="https://ct.captcha-delivery.com/c.js"></script>'),
    "incapsula": page(
        "", '<iframe src="/_Incapsula_Resource?CWUDNSAI=1">Request unsuccessful. Incapsula incident ID: 1'
    ),
    "ddos-guard": page("DDoS-Guard", "Checking your browser. This process is automatic."),
    "aws waf": page("", '<script src="https://1.token.awswaf.com/1/challenge.js"></script>'),
    "anubis": page("Making sure you're not a bot!", '<img src="/.within.website/x/cmd/anubis/static/img.webp">'),
    "plain": page("Robot check", "Enter the characters you see below"),
}


@pytest.mark.parametrize("name", CHALLENGES)
@pytest.mark.parametrize("status", [200, 403, 429, 503])
def test_H01_challenge_pages(name: str, status: int) -> None:
    assert judged(status, CHALLENGES[name]) is SkipReason.CAPTCHA


@pytest.mark.parametrize("status", [200, 202, 403, 404, 503])
@pytest.mark.parametrize(
    "header", [{"cf_mitigated": "challenge"}, {"x_amzn_waf_action": "captcha"}, {"sg_captcha": "challenge"}]
)
def test_H01_challenge_headers(status: int, header: dict[str, str]) -> None:
    assert judged(status, b"", **header) is SkipReason.CAPTCHA


@pytest.mark.parametrize("header", [{"cf_mitigated": "block"}, {"server": "cloudflare"}, {"cf_ray": "1-FRA"}])
def test_H01_headers_of_the_same_services_are_no_challenge(header: dict[str, str]) -> None:
    assert judged(200, XML, **header) is None


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("body", [b"", b"no", XML, page("403 Forbidden", "Forbidden"), page("Sign in", LOGIN_FORM)])
def test_H04_a_refusal_is_a_refusal(status: int, body: bytes) -> None:
    assert judged(status, body) is SkipReason.ACCESS_DENIED


def test_H04_a_refusal_sent_as_200() -> None:
    body = page("Access Denied", "You don't have permission to access this server. Reference #18.1")
    assert judged(200, body) is SkipReason.ACCESS_DENIED


@pytest.mark.parametrize("body", [b"", b"slow down", page("Too many requests", "")])
def test_H05_429_is_rate_limited(body: bytes) -> None:
    assert judged(429, body, retry_after="5") is SkipReason.RATE_LIMITED


@pytest.mark.parametrize("status", [200, 204, 301, 304, 400, 404, 405, 410, 421, 451, 500, 502, 503, 504])
@pytest.mark.parametrize("body", [b"", XML, b"User-agent: *\nDisallow: /\n", page("Oops", "An error occurred")])
def test_R20_other_statuses_are_no_door(status: int, body: bytes) -> None:
    assert judged(status, body) is None


LOGIN_PAGES = {
    "title and form": page("Log in | Example", f"<h1>Welcome</h1>{LOGIN_FORM}{LINKS}"),
    "bare form": page("Example intranet", f"<p>Members only</p>{LOGIN_FORM}"),
    "unquoted": b"<html><title>Sign In</title><INPUT TYPE=PASSWORD>",
    "spaced": page("Anmeldung", "<input class='x' type = 'password'>"),
    "spanish": page("Iniciar sesi\u00f3n", LOGIN_FORM + LINKS),
}


@pytest.mark.parametrize("name", LOGIN_PAGES)
def test_R19_login_pages(name: str) -> None:
    assert judged(200, LOGIN_PAGES[name]) is SkipReason.LOGIN_PAGE


ORDINARY_PAGES = {
    "soft 404": page("Page not found", f"<h1>404</h1><a href='/login'>Log in</a>{LINKS}"),
    "short soft 404": page("404", "<a href='/login'>Log in</a> or go <a href='/'>home</a>"),
    "home with folded login form": page("Example shop", f"{LOGIN_FORM}{LINKS}"),
    "spanish accessories shop": page("Accesorios para coche", f"{LOGIN_FORM}{LINKS}"),
    "newsletter": page("Example", '<form><input type="email"><button>Subscribe</button></form>'),
    "newsletter with captcha": page("Example", '<form><input type="email"><div class="g-recaptcha"></div></form>'),
    "contact form": page("Contact", f'<form><textarea></textarea><div class="h-captcha"></div></form>{LINKS}'),
    "article about captchas": page("How a CAPTCHA works", f"<p>Prove that you are human.</p>{LINKS}{'word ' * 400}"),
    "article about access": page("Access denied: a history", f"{LINKS}{'word ' * 400}"),
    "ordinary page behind cloudflare": page(
        "Example", "<script>a.src='/cdn-cgi/challenge-platform/h/g/scripts/jsd/main.js';</script>" + LINKS
    ),
    "single page application": page("Example", '<div id="root"></div><script src="/app.js"></script>'),
    "empty": b"<html></html>",
}


@pytest.mark.parametrize("status", [200, 404])
@pytest.mark.parametrize("name", ORDINARY_PAGES)
def test_R19_ordinary_pages_are_no_door(name: str, status: int) -> None:
    assert is_html(ORDINARY_PAGES[name])
    assert judged(status, ORDINARY_PAGES[name]) is None


@pytest.mark.parametrize(
    "body",
    [
        page("502 Bad gateway", '<div id="cf-wrapper"><div id="cf-error-details">Cloudflare Ray ID: 1</div></div>'),
        page("Maintenance", 'Back soon. <form><div class="g-recaptcha"></div></form>'),
        page("503 Service Unavailable", "The server is temporarily unable to service your request."),
    ],
)
@pytest.mark.parametrize("status", [502, 503])
def test_H01_a_broken_server_is_no_challenge(status: int, body: bytes) -> None:
    assert judged(status, body) is None


@pytest.mark.parametrize(
    "target",
    [
        "https://example.com/login",
        "https://example.com/login?next=/sitemap.xml",
        "https://example.com/en/Login/",
        "https://example.com/users/sign_in",
        "https://example.com/wp-login.php?redirect_to=x",
        "https://example.com/Account/LogOn",
        "https://example.com/auth/realms/a/protocol/openid-connect/auth",
        "https://example.com/oauth2/authorize?client_id=1",
        "https://example.com/saml2",
        "https://example.com/adfs/ls/?wa=1",
        "https://example.com/%6Cogin",
        "https://accounts.example.com/start",
        "https://login.example.net/",
        "https://sso.example.com:8443/x",
    ],
)
def test_H06_redirect_to_a_login_page(target: str) -> None:
    assert redirects_to_login(URL, target)
    assert door(200, {}, page("Welcome", ""), target, URL) is SkipReason.LOGIN_PAGE


@pytest.mark.parametrize(
    "target",
    [
        URL,
        "https://www.example.com/sitemap.xml",
        "https://example.com/",
        "https://example.com/login-tips/",
        "https://example.com/blogin",
        "https://example.com/?login=1",
        "https://example.com/author/ann",
        "https://example.com/authentic-food",
        "https://example.com/auth/sitemap.xml",
        "https://login.example.com/sitemap.xml.gz",
        "https://accounts.example.com/robots.txt",
        "https://id.example.com/",
        "https://cdn.example.net/assets/x",
    ],
)
def test_H06_other_redirects(target: str) -> None:
    assert not redirects_to_login(URL, target)


def test_H06_a_site_that_lives_under_a_login_path() -> None:
    assert not redirects_to_login("https://example.com/auth/sitemap", "https://example.com/auth/v2/sitemap")
    assert redirects_to_login("https://example.com/auth/sitemap", "https://example.com/auth/login")
    assert not redirects_to_login("https://login.example.com/a", "https://login.example.com/b")


@pytest.mark.parametrize(
    "head",
    [
        b"<!DOCTYPE html>",
        b"<html>",
        b"\xef\xbb\xbf\r\n  <HTML lang=en>",
        b"<!-- a --><!-- b -->\n<html>",
        b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">',
        "<!doctype html><p>".encode("utf-16"),
        b"<head><title>x</title>",
        b"<script>location='/'</script>",
        b"<h1>Not Found</h1>",
    ],
)
def test_is_html(head: bytes) -> None:
    assert is_html(head)
    assert looks_like_html(head)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        XML,
        b"\xef\xbb\xbf" + XML,
        b"<urlset>",
        b"<!-- <html> --><urlset>",
        b"<br />\n<b>Warning</b>: x\n" + XML,
        b"<p>Warning</p>" + XML,
        b"<script>x</script>\n<rss version='2.0'>",
        b"<div>notice</div>\nUser-agent: *\nDisallow: /\n",
        b"User-agent: *\nDisallow: /<html>\n",
        b"https://example.com/a\nhttps://example.com/<html>\n",
        b"<htmlx>",
        b"\x1f\x8b\x08\x00",
        b"plain text",
    ],
)
def test_is_not_html(head: bytes) -> None:
    assert not is_html(head)


@pytest.mark.parametrize(
    "piece",
    [
        b"<",
        b"<!--",
        b"<!-- -->",
        b"<title>",
        b"<input ",
        b"<script>",
        b"_incapsula_resource",
        b"<a ",
        b"please wait ",
        b" ",
        b"class='",
        b"verify you ",
        b"<?xml ",
        b"\x00<",
        b"captcha",
        b"<input type",
        b"<title>captcha",
        b"</script ",
    ],
)
@pytest.mark.parametrize("start", [b"<html>", b""])
def test_hostile_pages_cannot_stall(piece: bytes, start: bytes) -> None:
    head = (start + piece * 65_536)[:65_536]
    begin = time.process_time()
    judged(200, head)
    assert time.process_time() - begin < 2.0
