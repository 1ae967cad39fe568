"""What the demo site says: five hosts, each showing one kind of thing that real sites do, on one of two days.

    kitchen   a well-kept shop: robots.txt with a rule, an index of indexes, gzip, images and language versions, an
              address that is no web page, a text file with an undated, a disallowed and another host's page
    news      asks for half a second between requests; a news sitemap, an RSS feed, a sitemap robots.txt disallows
    members   robots.txt is open, but the sitemap's door is closed (403)
    garden    no robots.txt and no /sitemap.xml: found at a common path; one of its files is broken off
    partner   is no site of the run: only pages listed by the kitchen are there, and its robots.txt refuses one

Pure: the content is a function of the hosts' base URLs and the day. On day 2 the kitchen has two new pages, one page
less and two pages with a later lastmod; the news move on; the garden, still broken, has one page less.
"""

import gzip
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape

# Any loopback address does; one each, so that each is a host of its own to the crawler's rules and pace.
ADDRESSES = {
    "kitchen": "127.0.0.2",
    "news": "127.0.0.3",
    "members": "127.0.0.4",
    "garden": "127.0.0.5",
    "partner": "127.0.0.6",
}
SITES = ("kitchen", "news", "members", "garden")
"""The hosts that a run is given; `partner` is met on the way."""

DAYS = (1, 2)

_PROTOCOL = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_EXTENSIONS = (
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
)
_TODAY = {1: "2025-05-05", 2: "2025-05-06"}

_RECIPES = (
    "almond-cake", "apple-strudel", "baked-pears", "barley-soup", "beetroot-salad", "bread-dumplings", "carrot-soup",
    "cherry-tart", "chestnut-puree", "cucumber-salad", "elderflower-syrup", "fennel-gratin", "fig-jam", "green-lentils",
    "honey-biscuits", "leek-quiche", "lemon-curd", "mushroom-stew", "oat-porridge", "onion-tart", "pickled-plums",
    "plum-cake", "potato-pancakes", "pumpkin-bread",
)  # fmt: skip
_PRODUCTS = (
    "bread-knife", "cast-iron-pan", "colander", "copper-pot", "garlic-press", "kitchen-scale", "ladle", "mortar",
    "oven-glove", "paring-knife", "pepper-mill", "rolling-pin", "salad-bowl", "whisk",
)  # fmt: skip
_PLANTS = ("basil", "chives", "lovage", "mint", "oregano", "parsley", "rosemary", "sage", "thyme")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the demo site: the status, the body, and what it says the body is."""

    body: bytes
    content_type: str = "application/xml"
    status: int = 200


def answers(bases: Mapping[str, str], day: int) -> dict[str, dict[str, Answer]]:
    """Everything the site serves on `day`, by host name and path; what is not in it is a 404.

    `bases` gives each host name of ADDRESSES its base URL, without a slash at the end. `day` is one of DAYS.
    """
    hosts: dict[str, Callable[[Mapping[str, str], int], dict[str, Answer]]] = {
        "kitchen": _kitchen,
        "news": _news,
        "members": _members,
        "garden": _garden,
        "partner": _partner,
    }
    return {name: host(bases, day) for name, host in hosts.items()}


def _kitchen(bases: Mapping[str, str], day: int) -> dict[str, Answer]:
    base = bases["kitchen"]
    recipes = [_entry(f"{base}/recipes/{name}", f"2024-{1 + n % 12:02}-17") for n, name in enumerate(_RECIPES)]
    half = len(recipes) // 2
    catalogue = _entry(f"ftp://{base.partition('//')[2]}/catalogue.pdf")
    return {
        "/robots.txt": _text(
            f"User-agent: *\nDisallow: /account/\n\nSitemap: {base}/sitemap.xml\nSitemap: {base}/pages.txt\n"
        ),
        "/sitemap.xml": _index(f"{base}/sitemaps/recipes.xml", f"{base}/sitemaps/shop.xml"),
        "/sitemaps/recipes.xml": _index(f"{base}/sitemaps/recipes-1.xml.gz", f"{base}/sitemaps/recipes-2.xml"),
        "/sitemaps/recipes-1.xml.gz": Answer(_packed(_urlset(recipes[:half]).body), "application/gzip"),
        "/sitemaps/recipes-2.xml": _urlset([*recipes[half:], catalogue]),
        "/sitemaps/shop.xml": _urlset(_products(base, day)),
        "/pages.txt": _text(
            f"{base}/\n{base}/about\n{base}/account/orders\n{bases['partner']}/offers/knives\n"
            f"{bases['partner']}/internal/prices\n"
        ),
    }


def _products(base: str, day: int) -> list[str]:
    names = [*_PRODUCTS, "egg-timer", "tea-strainer"] if day == 2 else _PRODUCTS
    changed = {"ladle", "whisk", "egg-timer", "tea-strainer"} if day == 2 else set()
    return [
        _entry(
            f"{base}/shop/{name}",
            f"{_TODAY[day]}T06:30:00+02:00" if name in changed else f"2025-03-{1 + n:02}T09:00:00Z",
            f"<changefreq>weekly</changefreq><priority>0.{5 + n % 5}</priority>"
            f'<xhtml:link rel="alternate" hreflang="de" href="{base}/de/shop/{name}"/>'
            f"<image:image><image:loc>{base}/img/{name}.jpg</image:loc></image:image>",
        )
        for n, name in enumerate(names)
        if day == 1 or name != "colander"
    ]


def _news(bases: Mapping[str, str], day: int) -> dict[str, Answer]:
    base = bases["news"]
    numbers = range(day, day + 8)  # a window that moves on: the oldest article drops out, a new one comes in
    articles = [
        _entry(
            f"{base}/2025/05/article-{n}",
            None,
            "<news:news><news:publication><news:name>Demo News</news:name><news:language>en</news:language>"
            f"</news:publication><news:publication_date>2025-05-0{n // 3 + 1}</news:publication_date>"
            f"<news:title>Article {n}</news:title></news:news>",
        )
        for n in numbers
    ]
    items = "".join(
        f"<item><title>Article {n}</title><link>{base}/2025/05/article-{n}</link>"
        f"<pubDate>Mon, 05 May 2025 {n:02}:00:00 GMT</pubDate></item>"
        for n in (*numbers, 20 + day)
    )
    return {
        "/robots.txt": _text(
            "User-agent: *\nCrawl-delay: 0.5\nDisallow: /archive/\n\n"
            f"Sitemap: {base}/news-sitemap.xml\nSitemap: {base}/feed.xml\nSitemap: {base}/archive/sitemap.xml\n"
        ),
        "/news-sitemap.xml": _urlset(articles),
        "/feed.xml": _xml(
            f'<rss version="2.0"><channel><title>Demo News</title><link>{base}/</link>{items}</channel></rss>',
            "application/rss+xml",
        ),
        "/archive/sitemap.xml": _urlset([_entry(f"{base}/archive/1999", "1999-12-31")]),  # for crawlers that do not ask
    }


def _members(bases: Mapping[str, str], _day: int) -> dict[str, Answer]:
    return {
        "/robots.txt": _text(f"User-agent: *\nDisallow: /admin/\n\nSitemap: {bases['members']}/sitemap.xml\n"),
        "/sitemap.xml": Answer(b"<html><title>Forbidden</title>Members only.</html>", "text/html", 403),
    }


def _garden(bases: Mapping[str, str], day: int) -> dict[str, Answer]:
    base = bases["garden"]
    plants = _PLANTS if day == 1 else _PLANTS[:-1]
    beds = _urlset([_entry(f"{base}/beds/{n}", f"2025-02-{n:02}") for n in range(1, 7)])
    return {
        "/sitemap_index.xml": _index(f"{base}/plants.xml", f"{base}/beds.xml"),
        "/plants.xml": _urlset([_entry(f"{base}/plants/{name}", "2025-04") for name in plants] + [_entry(f"{base}/")]),
        "/beds.xml": Answer(beds.body[: beds.body.index(b"/beds/5") + 5]),  # broken off inside the fifth entry
    }


def _partner(bases: Mapping[str, str], _day: int) -> dict[str, Answer]:
    del bases
    return {"/robots.txt": _text("User-agent: *\nDisallow: /internal/\n")}


def _entry(loc: str, lastmod: str | None = None, more: str = "") -> str:
    dated = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    return f"<url><loc>{escape(loc)}</loc>{dated}{more}</url>"


def _urlset(entries: Iterable[str]) -> Answer:
    return _xml(f"<urlset {_PROTOCOL} {_EXTENSIONS}>\n" + "\n".join(entries) + "\n</urlset>")


def _index(*locs: str) -> Answer:
    children = "\n".join(f"<sitemap><loc>{escape(loc)}</loc></sitemap>" for loc in locs)
    return _xml(f"<sitemapindex {_PROTOCOL}>\n{children}\n</sitemapindex>")


def _xml(text: str, content_type: str = "application/xml") -> Answer:
    return Answer(f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode(), content_type)


def _text(text: str) -> Answer:
    return Answer(text.encode(), "text/plain; charset=utf-8")


def _packed(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)  # no date in it: the same bytes whenever it is packed
