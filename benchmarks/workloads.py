"""Deterministic sitemaps to measure on, one web root each.

a  urlset, 50,000 URLs with lastmod, changefreq and priority      d  the same with hreflang, image and news elements
b  a, gzipped                                                     e  50,000 lines of text
c  an index of ten gzipped urlsets, 500,000 URLs                  n  a without lastmod          h  a with half of them
z  no sitemap at all: what a run costs that finds nothing
"""

import gzip
import random
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

FIRST_PORT = 8811
LETTERS = "abcdenhz"
NAMES = {
    "a": "sitemap.xml",
    "b": "sitemap.xml.gz",
    "c": "sitemap_index.xml",
    "d": "sitemap.xml",
    "e": "sitemap.txt",
    "n": "sitemap.xml",
    "h": "sitemap.xml",
}
CHILDREN = 10

_NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_EXTENSIONS = (
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
_FREQUENCIES = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")
_WORDS = ("amber", "basil", "cedar", "dune", "elm", "fern", "grove", "heath", "iris", "kelp", "larch", "moss", "pine")


@dataclass(frozen=True)
class Page:
    """One entry, its text as the sitemap has it."""

    loc: str
    lastmod: str
    changefreq: str
    priority: str


def origin(letter: str, first_port: int = FIRST_PORT) -> str:
    return f"http://127.0.0.1:{first_port + LETTERS.index(letter)}"


def pages(base: str, seed: int, start: int, count: int) -> Iterator[Page]:
    """Pages of a site: one in ten has a query with an ampersand, one in 97 an escaped letter."""
    chance = random.Random(seed)
    for number in range(start, start + count):
        first, *others = chance.choices(_WORDS, k=4)
        loc = f"{base}/{first}/{'-'.join(others)}-{number}"
        if number % 10 == 0:
            loc += f"?id={number}&amp;ref={first}"
        if number % 97 == 0:
            loc += "/caf%C3%A9"
        month, day, hour = chance.randrange(1, 12), chance.randrange(1, 29), chance.randrange(24)
        minute, second = chance.randrange(60), chance.randrange(60)
        lastmod = f"2026-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}+00:00"
        yield Page(loc, lastmod, chance.choice(_FREQUENCIES), f"0.{chance.randrange(1, 10)}")


def urlset(listed: Iterator[Page], *, lastmod_every: int = 1) -> bytes:
    out = [f"{_DECLARATION}<urlset {_NS}>\n"]
    for number, page in enumerate(listed):
        lastmod = f"  <lastmod>{page.lastmod}</lastmod>\n" if lastmod_every and number % lastmod_every == 0 else ""
        out.append(
            f" <url>\n  <loc>{page.loc}</loc>\n{lastmod}  <changefreq>{page.changefreq}</changefreq>\n"
            f"  <priority>{page.priority}</priority>\n </url>\n"
        )
    return "".join([*out, "</urlset>\n"]).encode()


def extended(base: str, listed: Iterator[Page]) -> bytes:
    """A urlset whose entries carry alternates, an image, and every fourth one news."""
    out = [f"{_DECLARATION}<urlset {_NS} {_EXTENSIONS}>\n"]
    for number, page in enumerate(listed):
        out.append(
            f" <url>\n  <loc>{page.loc}</loc>\n  <lastmod>{page.lastmod}</lastmod>\n"
            f"  <changefreq>{page.changefreq}</changefreq>\n  <priority>{page.priority}</priority>\n"
        )
        for language in ("en", "de", "fr"):
            href = page.loc.replace(base, f"{base}/{language}")
            out.append(f'  <xhtml:link rel="alternate" hreflang="{language}" href="{href}"/>\n')
        out.append(
            f"  <image:image>\n   <image:loc>{base}/images/{number}.jpg</image:loc>\n"
            f"   <image:title>Picture {number} caf\u00e9</image:title>\n  </image:image>\n"
        )
        if number % 4 == 0:
            out.append(
                "  <news:news>\n   <news:publication>\n    <news:name>The Garden Times</news:name>\n"
                "    <news:language>en</news:language>\n   </news:publication>\n"
                f"   <news:publication_date>{page.lastmod}</news:publication_date>\n"
                f"   <news:title>Beds &amp; borders, number {number}</news:title>\n  </news:news>\n"
            )
        out.append(" </url>\n")
    return "".join([*out, "</urlset>\n"]).encode()


def packed(body: bytes) -> bytes:
    out = BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=6, mtime=0) as file:
        file.write(body)
    return out.getvalue()


def robots_txt(sitemap: str) -> bytes:
    """Forty rules of the kinds that shops and blogs have; none of them closes a page of these workloads."""
    closed = ["/wp-admin/", "/cart", "/checkout/", "/account/", "/search", "/tmp/", "/cgi-bin/", "/private/", "/login"]
    closed += [f"/internal/section-{number}/" for number in range(19)]
    closed += ["/*?sort=", "/*&sessionid=", "/*/print$", "/*.pdf$", "/*/feed/", "/*?utm_source=*"]
    opened = [
        "/wp-admin/admin-ajax.php",
        "/search/about",
        "/account/help",
        "/tmp/public/",
        "/cart/terms",
        "/login/help",
    ]
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in closed), *(f"Allow: {path}" for path in opened)]
    return "\n".join([*lines, "", f"Sitemap: {sitemap}", ""]).encode()


def files_of(letter: str, first_port: int, size: int) -> Iterator[tuple[str, bytes]]:
    """The files of a workload, with `size` URLs a sitemap."""
    base = origin(letter, first_port)
    if letter == "z":
        yield "robots.txt", b"User-agent: *\nDisallow: /private/\n"
        return
    name = NAMES[letter]
    if letter == "c":
        children = [f"sitemap-{number}.xml.gz" for number in range(CHILDREN)]
        for number, child in enumerate(children):
            yield child, packed(urlset(pages(base, 100 + number, number * size, size)))
        entries = (
            f" <sitemap><loc>{base}/{child}</loc><lastmod>2026-11-01</lastmod></sitemap>\n" for child in children
        )
        yield name, f"{_DECLARATION}<sitemapindex {_NS}>\n{''.join(entries)}</sitemapindex>\n".encode()
    elif letter == "d":
        yield name, extended(base, pages(base, 7, 0, size))
    elif letter == "e":
        text = "".join(f"{page.loc.replace('&amp;', '&')}\n" for page in pages(base, 9, 0, size))
        yield name, text.encode()
    else:
        body = urlset(pages(base, 1, 0, size), lastmod_every={"n": 0, "h": 2}.get(letter, 1))
        yield name, packed(body) if letter == "b" else body
    yield "robots.txt", robots_txt(f"{base}/{name}")
    yield "index.html", b"<!doctype html><title>bench</title><p>home</p>\n"


def generate(root: Path, *, first_port: int = FIRST_PORT, size: int = 50_000, letters: str = LETTERS) -> None:
    """Write the web roots that are not there yet."""
    for letter in letters:
        folder = root / letter
        mark = folder / f".{first_port}-{size}"
        if mark.exists():
            continue
        folder.mkdir(parents=True, exist_ok=True)
        for name, body in files_of(letter, first_port, size):
            (folder / name).write_bytes(body)
        mark.touch()


def count(letter: str, size: int) -> int:
    return size * CHILDREN if letter == "c" else size


def listed_urls(root: Path, letter: str) -> Iterator[str]:
    """The URLs of a workload as a reader should give them, from the generated files."""
    for path in sorted((root / letter).glob("sitemap*")):
        body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = body.decode()
        if path.suffix == ".txt":
            yield from text.split()
        elif "<urlset" in text[:500]:
            for piece in text.split("<loc>")[1:]:
                yield piece[: piece.index("</loc>")].replace("&amp;", "&")
