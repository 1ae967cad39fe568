"""The sitemaps that others wrote (tests/corpus/sitemaps), crawled under several names and types.

What is expected of each file was worked out by reading it and stands in `FILES`; which URLs it lists is taken from it by
another XML parser, or written out below where that says too little. The hosts of the pages are taken as open, so that
nothing but the loopback site is asked; children of the indexes live on names that do not resolve here.
"""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import pytest
from scrapy.crawler import Crawler

from sitemap_actor import settings
from sitemap_actor.core.robots import NO_RULES
from sitemap_actor.run import run_of
from tests.spider.conftest import SiteFactory
from tests.spider.helpers import QUICK, Crawled, crawl, serve_robots
from tests.spider.server import Reply, Script, Site, head

CORPUS = Path(__file__).parent.parent / "corpus" / "sitemaps"


class Expected(NamedTuple):
    """What a file is, how many pages and children it lists, whether it is rolling, and the faults of its contents."""

    kind: str
    listed: int
    children: int = 0
    rolling: bool = False
    faults: dict[str, int] = {}  # noqa: RUF012 - never written to
    status: str = "ok"


FILES = {
    # Not a well-formed document: the tag "<url does not close<" is the error, before any entry was complete.
    "adv-error_sitemap.xml": Expected("urlset", 0, faults={"missing_namespace": 1}, status="partial"),
    "adv-image_sitemap.xml": Expected("urlset", 2),  # three image locs in the two pages are no pages
    "adv-news_sitemap.xml": Expected("urlset", 6, rolling=True),
    "adv-regular_sitemap.xml": Expected("urlset", 5),
    "adv-regular_sitemap.xml.gz": Expected("urlset", 5),  # plain XML under a packed name
    "adv-sitemap_index.xml": Expected("index", 0, 4),
    "adv-video_sitemap.xml": Expected("urlset", 6),
    "adv-zipped_sitemap.xml.gz": Expected("urlset", 5),
    "cc-atom.xml": Expected(
        "atom", 1, rolling=True
    ),  # of three links the first that is alternate, by name or by default
    # The second item has only a guid that says it is no permalink, though it looks like one.
    "cc-feed.rss": Expected("rss", 3, rolling=True, faults={"empty_loc": 1}),
    "cc-hebdenbridgetimes-articles-sitemap.xml": Expected("urlset", 74),
    "cc-pagemaps-sitemap.xml": Expected("urlset", 2),
    "cc-shinpaideshou-news-sitemap.xml": Expected("urlset", 3, rolling=True),
    "cc-sitemap-images.xml": Expected("urlset", 1),
    "cc-sitemap-links.xml": Expected("urlset", 3),
    "cc-sitemap-mobile.xml": Expected("urlset", 3),
    "cc-sitemap-news.xml": Expected("urlset", 2, rolling=True),
    "cc-sitemap-videos-tvshow.xml": Expected("urlset", 1),
    "cc-sitemap-videos.xml": Expected("urlset", 3),
    "cc-sitemap-with-bom.txt": Expected("text", 2),
    "cc-sitemap.badns.xml": Expected("urlset", 2, faults={"wrong_namespace": 1}),
    # The addresses stand in <sitemap> itself, without <loc>.
    "cc-sitemap.index.xml": Expected("index", 0, 15, faults={"empty_loc": 15}),
    "cc-sitemap.ns.xml": Expected("urlset", 2),  # every element prefixed
    "cc-sitemap.txt": Expected("text", 2),
    "cc-sitemap.txt.gz": Expected("text", 5),
    "cc-xmlRss_pubDate.xml": Expected("rss", 7, rolling=True),
    "cc-xmlSitemap.gz": Expected("urlset", 5),
    "sc-stormcrawler.sitemap.extensions.all.xml": Expected("urlset", 7, rolling=True),
    "sc-stormcrawler.sitemap.extensions.image.xml": Expected("urlset", 7),
    "sc-stormcrawler.sitemap.extensions.links.xml": Expected("urlset", 6),
    "sc-stormcrawler.sitemap.extensions.mobile.xml": Expected("urlset", 6),
    "sc-stormcrawler.sitemap.extensions.news.xml": Expected("urlset", 6, rolling=True),
    "sc-stormcrawler.sitemap.extensions.video.xml": Expected("urlset", 6),
    "sc-stormcrawler.sitemap.index.xml": Expected("index", 0, 4),
    "sc-stormcrawler.sitemap.xml": Expected("urlset", 6),
    "sc-stormcrawler.sitemap.xml.gz": Expected("urlset", 6),
}

FEED_PAGES = {
    "cc-atom.xml": ["http://example.org/2003/12/13/atom03"],
    "cc-feed.rss": [
        "https://www.example.com/blog/post/1",
        "https://www.example.com/foo?q=a&l=en",
        "https://www.example.com/foo?q=a&l=fr",
    ],
    "cc-xmlRss_pubDate.xml": [f"http://www.example.com/article_{number}" for number in range(1, 8)],
    "adv-error_sitemap.xml": [],
}

SERVED_AS: dict[str, Callable[[str, bytes], Reply | Script]] = {
    "the right type": lambda name, body: Reply(body=body, headers={"Content-Type": _type(name)}),
    "text/html": lambda _name, body: Reply(body=body, headers={"Content-Type": "text/html; charset=utf-8"}),
    "application/octet-stream": lambda _name, body: Reply(
        body=body, headers={"Content-Type": "application/octet-stream"}
    ),
    "no type": lambda _name, body: Script(head(length=len(body)), body),
    "a gzip coding": lambda name, body: Reply(
        body=gzip.compress(body), headers={"Content-Type": _type(name), "Content-Encoding": "gzip"}
    ),
}
NAMED: dict[str, Callable[[str], str]] = {
    "its own name": lambda name: name,
    "a packed name": lambda name: f"{name}.xml.gz",
    "a plain name": lambda name: f"{name}.xml",
    "a text name": lambda name: f"{name}.txt",
    "a query": lambda name: f"sitemap.php?file={name}&n=1",
}
WAYS = [
    *(("its own name", kind) for kind in SERVED_AS),
    *((name, "the right type") for name in NAMED if name != "its own name"),
]


def _type(name: str) -> str:
    return "application/gzip" if name.endswith(".gz") else "text/plain" if name.endswith(".txt") else "application/xml"


def _plain(name: str) -> bytes:
    body = (CORPUS / name).read_bytes()
    return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body


def _pages(name: str) -> list[str]:
    """The page URLs of a file, read by another parser."""
    if name in FEED_PAGES:
        return FEED_PAGES[name]
    text = _plain(name).decode("utf-8-sig")
    if FILES[name].kind == "text":
        return text.split()
    children = [child for entry in ET.fromstring(text.encode()) if _local(entry) == "url" for child in entry]
    return [(child.text or "").strip() for child in children if _local(child) == "loc"]


def _local(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


class OpenHosts:
    """An extension that takes the hosts of all pages and children as asked already, without rules."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        hosts = run_of(crawler).hosts
        for key in {f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, _all_addresses())}:
            hosts.get(key).counted = True
            hosts.opened(key, NO_RULES, status=404, has_file=False)
        return cls()


def _all_addresses() -> list[str]:
    children = [
        (element.text or "").strip()
        for name in FILES
        if FILES[name].kind == "index"
        for element in ET.fromstring(_plain(name)).iter()
    ]
    return [url for name in FILES for url in _pages(name)] + [url for url in children if url.startswith("http")]


async def _crawl_corpus(server: Site, tmp_path: Path, named: str, served_as: str) -> tuple[Crawled, dict[str, str]]:
    addresses = {name: f"{server.origin}/{NAMED[named](name)}" for name in FILES}
    for name, address in addresses.items():
        server.routes[address.removeprefix(server.origin)] = SERVED_AS[served_as](name, (CORPUS / name).read_bytes())
    serve_robots(server, *(f"Sitemap: {address}" for address in addresses.values()))
    given = QUICK | {"SITEMAP_RESOLVER": "tests.spider.server.lookup", "EXTENSIONS": _extensions()}
    return await crawl(tmp_path, given, sites=server.origin, maxUrls="9999"), addresses


def _extensions() -> dict[str, int | None]:
    return {**settings.EXTENSIONS, "tests.spider.test_corpus.OpenHosts": 900}


def test_every_file_of_the_corpus_is_expected() -> None:
    assert {path.name for path in CORPUS.iterdir()} - {"README.md"} == set(FILES)
    assert sum(len(_pages(name)) for name in FILES) == sum(expected.listed for expected in FILES.values())


@pytest.mark.parametrize(("named", "served_as"), WAYS, ids=[", ".join(way) for way in WAYS])
async def test_the_corpus_gives_the_same_under_every_name_and_type(
    site: SiteFactory, tmp_path: Path, named: str, served_as: str
) -> None:
    server = site()
    crawled, addresses = await _crawl_corpus(server, tmp_path, named, served_as)

    pages = [url for name in FILES for url in _pages(name)]
    assert set(crawled.urls) == set(pages)
    assert len(crawled.urls) == len(set(pages)) == 137
    counts = crawled.report["counts"]
    assert (counts["listed"], counts["saved"], counts["duplicates"]) == (200, 137, 63)
    for name, expected in FILES.items():
        file = crawled.file(addresses[name])
        got = (file["status"], file["kind"], file["listed"], file["children"], file["rolling"])
        assert got == (expected.status, expected.kind, expected.listed, expected.children, expected.rolling), name
        ours = {key: value for key, value in file["faults"].items() if key not in _OF_THE_SERVING}
        assert ours == expected.faults, name
    children = [file for file in crawled.site["sitemaps"] if file["parent"] is not None]
    assert {(file["status"], file["reason"]) for file in children} == {("failed", "dns_error")}
    assert crawled.report["skipsByReason"] == {"dns_error": len(children), "malformed": 1}
    assert len(children) == 23
    assert crawled.report["result"] == "finished"


_OF_THE_SERVING = {
    "wrong_content_type",
    "gzip_mismatch",
    "other_host",
    "duplicate_entry",
    "lastmod_unreadable",
    "lastmod_all_equal",
    "lastmod_zone_missing",
    "http_on_https",
    "outside_path",
}
"""Faults that follow from where and how a file is served here, or are tested with the lastmods."""


async def test_no_row_of_the_corpus_holds_another_pages_values(site: SiteFactory, tmp_path: Path) -> None:
    """Text fields stand as the file has them, extension elements never leak into them."""
    server = site()
    crawled, _ = await _crawl_corpus(server, tmp_path, "its own name", "the right type")
    wanted: dict[str, set[tuple[str | None, ...]]] = {}
    for name, expected in FILES.items():
        if expected.kind != "urlset" or name in FEED_PAGES:
            continue
        for entry in ET.fromstring(_plain(name)):
            own = {_local(child): (child.text or "").strip() for child in entry if "/schemas/" not in _extension(child)}
            wanted.setdefault(own["loc"], set()).add(tuple(own.get(key) for key in _FIELDS))
    rows = {row["url"]: tuple(row[key] for key in _FIELDS) for row in crawled.rows if row["url"] in wanted}
    assert len(rows) == len(wanted)
    assert {url for url, values in rows.items() if values not in wanted[url]} == set()


_FIELDS = ("lastmod", "changefreq", "priority")


def _extension(element: ET.Element) -> str:
    """The namespace of an extension element; nothing for the protocol's own, in whichever spelling."""
    namespace = element.tag.partition("}")[0]
    return "" if namespace.endswith(("/schemas/sitemap/0.9", "/schemas/sitemap/0.84")) else namespace
