"""Other people's test files: what each of them says, worked out by reading it."""

from pathlib import Path

import pytest

from sitemap_actor.core.reasons import FileKind, SkipReason
from tests.core.sitemap_tools import Seen, see, unpack

FOLDER = Path(__file__).parent.parent / "corpus" / "sitemaps"
OK = ("ok", None)


def read(name: str, **options: object) -> Seen:
    body, unpacker = unpack((FOLDER / name).read_bytes())
    assert not unpacker.damaged
    seen = see(body, **options)
    exact = see(body, fast=False, **options)
    pushed = see(body, size=100, **options)
    assert seen.picture() == exact.picture() == pushed.picture()
    return seen


def whole(seen: Seen, kind: FileKind = FileKind.URLSET, *, rolling: bool = False, **faults: int) -> bool:
    found = (seen.verdict, seen.outcome.kind, seen.outcome.rolling, seen.faults)
    assert found == (OK, kind, rolling, faults)
    return True


# The example of sitemaps.org, which half of all test suites hold under a name of their own.
def protocol_example(host: str) -> list[tuple[str, str | None, str | None, str | None]]:
    page = f"http://{host}/catalog?item={{}}&desc=vacation_{{}}"
    return [
        (f"http://{host}/", "2005-01-01", "monthly", "0.8"),
        (page.format(12, "hawaii"), None, "weekly", None),
        (page.format(73, "new_zealand"), "2004-12-23", "weekly", None),
        (page.format(74, "newfoundland"), "2004-12-23T18:00:15+00:00", None, "0.3"),
        (page.format(83, "usa"), "2004-11-23", None, None),
    ]


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("adv-regular_sitemap.xml", "www.example.com"),
        ("adv-regular_sitemap.xml.gz", "www.example.com"),  # not packed, whatever its name says
        ("adv-zipped_sitemap.xml.gz", "www.gzipped.com"),
        ("cc-xmlSitemap.gz", "www.example.com"),
    ],
)
def test_protocol_example(name, host):
    seen = read(name)
    assert whole(seen)
    assert seen.rows == protocol_example(host)


def test_adv_error_sitemap():
    # Its third line opens a tag that never closes.
    seen = read("adv-error_sitemap.xml")
    assert (seen.verdict, seen.rows, seen.faults) == (("partial", SkipReason.MALFORMED), [], {"missing_namespace": 1})
    assert seen.outcome.detail.endswith("at line 3")


def test_adv_image_sitemap():
    seen = read("adv-image_sitemap.xml")
    assert whole(seen)
    assert seen.locs == ["http://example.com/sample.html", "http://example.com/sample_2.html"]
    pictures = read("adv-image_sitemap.xml", extensions={"images"}).extras[1]["images"]
    assert pictures == [
        {"loc": "http://example.com/image2.jpg"},
        {
            "loc": "http://example.com/photo2.jpg",
            "caption": "This is the Caption!",
            "geo_location": "The Youniverse...",
            "title": "Image Title",
            "license": "Free License",
        },
    ]


def test_adv_news_sitemap():
    seen = read("adv-news_sitemap.xml")
    assert whole(seen, rolling=True)
    assert len(seen.rows) == 6
    # The first loc ends in a space.
    first = "https://www.nytimes.com/interactive/2020/05/11/magazine/quarantine-insanity.html"
    assert seen.rows[0] == (first, "2020-05-19T21:57:45Z", None, None)
    assert seen.rows[5][:2] == (
        "https://www.nytimes.com/2020/05/19/arts/music/germany-music-coronavirus.html",
        "2020-05-19T21:57:26Z",
    )
    news = read("adv-news_sitemap.xml", extensions={"news"}).extras[0]["news"][0]
    assert news["publication"] == {"name": "The New York Times", "language": "en-US"}
    assert news["publication_date"] == "2020-05-11T09:00:01Z"


def test_adv_sitemap_index():
    seen = read("adv-sitemap_index.xml")
    assert whole(seen, FileKind.INDEX)
    assert seen.children == [
        ("https://advertools.readthedocs.io/sitemap.xml", "2020-05-20T18:23:17+00:00"),
        ("http://www.example.com/sitemap.xml", "2020-05-20"),
        (
            "https://raw.githubusercontent.com/eliasdabbas/advertools/master/tests/data/sitemap_testing/sitemap_index.xml",
            None,
        ),
        ("https://www.google.com/adwords/sitemap_us.xml", "2020-05-20"),
    ]


def test_adv_video_sitemap():
    # lastmod stands behind the video, whose titles are CDATA.
    seen = read("adv-video_sitemap.xml", extensions={"videos"})
    assert whole(seen)
    assert len(seen.rows) == 6
    assert seen.rows[0][:2] == (
        "https://www.washingtonpost.com/politics/trump-indonesia-trees/2020/05/05/62db5abb-8139-4f0d-a10e-748ecdac17e9_video.html",
        "2020-05-05T16:01:00Z",
    )
    video = seen.extras[0]["videos"][0]
    assert (video["title"], video["description"]) == ("Trump Indonesia trees", "")
    assert video["tag"] == ["excludevideoelement", "exclude-bio"]


def test_cc_atom():
    # Two alternate links, one of them saying so; the entry's self and edit links are not its page.
    seen = read("cc-atom.xml")
    assert whole(seen, FileKind.ATOM, rolling=True)
    assert seen.rows == [("http://example.org/2003/12/13/atom03", "2003-12-13T18:30:02Z", None, None)]


def test_cc_feed_rss():
    # A comment stands first, but no declaration after it; the second item's guid says that it is no permalink.
    seen = read("cc-feed.rss")
    assert whole(seen, FileKind.RSS, rolling=True, empty_loc=1)
    assert seen.rows == [
        ("https://www.example.com/blog/post/1", "Sun, 06 Sep 2009 16:20:00 +0000", None, None),
        ("https://www.example.com/foo?q=a&l=en", None, None, None),
        ("https://www.example.com/foo?q=a&l=fr", None, None, None),
    ]


def test_cc_hebdenbridgetimes():
    seen = read("cc-hebdenbridgetimes-articles-sitemap.xml")
    assert whole(seen)
    assert len(seen.rows) == 74
    assert {(row[2], row[3]) for row in seen.rows} == {("daily", None)}
    base = "http://www.hebdenbridgetimes.co.uk/"
    assert seen.rows[0][:2] == (
        f"{base}news/local/video-tour-de-yorkshire-in-calderdale-1-7242580",
        "2015-05-03T18:51:50+01:00",
    )
    assert seen.rows[72][0] == f"{base}sport/local-sport/barkisland-take-derby-spoils-1-7230469"
    assert seen.rows[73][1] == "2015-04-26T17:47:55+01:00"
    images = read("cc-hebdenbridgetimes-articles-sitemap.xml", extensions={"images"}).extras
    assert sum(len(extra["images"]) for extra in images if extra) == 94


def test_cc_pagemaps():
    # The PageMap element changes the default namespace.
    seen = read("cc-pagemaps-sitemap.xml")
    assert whole(seen)
    assert seen.locs == ["http://www.example.com/foo", "http://www.example.com/bar"]


def test_cc_shinpaideshou():
    seen = read("cc-shinpaideshou-news-sitemap.xml")
    assert whole(seen, rolling=True)
    base = "https://shinpaideshou.wordpress.com/2017/04/"
    assert seen.locs == [
        f"{base}25/job-opening-reischauer-policy-research-fellow/",
        f"{base}24/call-for-papers-nation-gender-and-history-asian-cinemas-in-perspective-2/",
        f"{base}24/job-opening-lecturer-in-japanese-studies-university-of-leeds/",
    ]


def test_cc_images():
    seen = read("cc-sitemap-images.xml", extensions={"images"})
    assert whole(seen)
    assert seen.locs == ["http://www.example.com/images/some_image_landing_page.html"]
    assert [image["loc"] for image in seen.extras[0]["images"]] == [
        "http://example.com/image.jpg",
        "http://example.com/photo.jpg",
    ]


def test_cc_links():
    seen = read("cc-sitemap-links.xml", extensions={"alternates"})
    assert whole(seen)
    base = "http://www.example.com/"
    assert seen.locs == [f"{base}english/", f"{base}deutsch/", f"{base}schweiz-deutsch/"]
    links = [
        {"hreflang": "de", "href": f"{base}deutsch/"},
        {"hreflang": "de-ch", "href": f"{base}schweiz-deutsch/"},
        {"hreflang": "en", "href": f"{base}english/"},
    ]
    assert seen.extras == [{"alternates": links}] * 3


def test_cc_mobile():
    seen = read("cc-sitemap-mobile.xml")
    assert whole(seen)
    assert seen.locs == [
        f"http://www.example.com/{page}/" for page in ("mobile-friendly-1", "mobile-friendly-2", "no-mobile")
    ]


def test_cc_news():
    seen = read("cc-sitemap-news.xml", extensions={"news"})
    assert whole(seen, rolling=True)
    assert seen.locs == [
        "http://www.example.org/business/article55.html",
        "http://www.example.org/empty_news_name.html",
    ]
    assert seen.extras[0]["news"][0]["stock_tickers"] == "NASDAQ:A, NASDAQ:B"
    assert seen.extras[1]["news"][0]["publication"] == {"name": "", "language": "en"}


def test_cc_videos_tvshow():
    # The loc stands behind the video.
    seen = read("cc-sitemap-videos-tvshow.xml", extensions={"videos"})
    assert whole(seen)
    assert seen.locs == ["https://example.org/my-tv-show/23/13/"]
    video = seen.extras[0]["videos"][0]
    assert video["tvshow"]["episode_number"] == "13"
    assert video["content_segment_loc"] == [
        {"value": "https://example.org/video/video/23-13-1.mp4", "duration": "1287"},
        {"value": "https://example.org/video/video/23-13-2.mp4", "duration": "1172"},
    ]


def test_cc_videos():
    seen = read("cc-sitemap-videos.xml", extensions={"videos"})
    assert whole(seen)
    assert seen.locs == [f"http://www.example.com/videos/some_video_landing_page{end}.html" for end in ("", "-2", "-3")]
    first, second, third = (extra["videos"][0] for extra in seen.extras)
    assert first["player_loc"] == {
        "value": "http://www.example.com/videoplayer.swf?video=123",
        "allow_embed": "yes",
        "autoplay": "ap=1",
    }
    assert second["price"] == {"value": "1,99", "currency": "EUR"}
    assert third["price"] == {"value": "", "type": "rent"}


def test_cc_badns():
    seen = read("cc-sitemap.badns.xml")
    assert whole(seen, wrong_namespace=1)
    assert seen.rows == [
        ("http://www.example.com/1", None, "daily", None),
        ("http://www.example.com/2", None, "daily", None),
    ]


def test_cc_index_without_loc():
    seen = read("cc-sitemap.index.xml")
    assert whole(seen, FileKind.INDEX, empty_loc=15)
    codes = [10260, 2, 10080, 10140, 10340, 10400, 10430, 10440, 10450, 10460, 10470, 10480, 10490, 10550, 10570]
    assert seen.children == [(f"https://example.com/sitemap.jss?portalCode={code}&lang=en", None) for code in codes]


def test_cc_prefixed():
    seen = read("cc-sitemap.ns.xml")
    assert whole(seen)
    assert seen.rows == [
        ("http://www.example.com/1", None, "daily", None),
        ("http://www.example.com/2", None, "daily", None),
    ]


@pytest.mark.parametrize("name", ["cc-sitemap.txt", "cc-sitemap-with-bom.txt"])
def test_cc_text(name):
    seen = read(name)
    assert whole(seen, FileKind.TEXT)
    assert seen.locs == ["http://www.domain.com/page1.html", "http://www.domain.com/page2.html"]


def test_cc_text_packed():
    seen = read("cc-sitemap.txt.gz")
    assert whole(seen, FileKind.TEXT)
    assert seen.locs == [row[0] for row in protocol_example("www.example.com")]


def test_cc_rss_pubdate():
    seen = read("cc-xmlRss_pubDate.xml")
    assert whole(seen, FileKind.RSS, rolling=True)
    dates = [
        "Thu, 05 Jan 2017 13:34:51 +0100",
        "Thu, 05 Jan 17 13:34:52 +0100",
        "05 Jan 2017 13:34:53 +0100",
        "05 Jan 17 13:34:54 +0100",
        "05 Jan 17 13:34:55",
        None,
        None,
    ]
    assert seen.rows == [
        (f"http://www.example.com/article_{number}", date, None, None) for number, date in enumerate(dates, 1)
    ]


STORM = "https://stormcrawler.apache.org/"
STORM_PAGES = [
    STORM,
    *(f"{STORM}{page}" for page in ("index.html", "download/index.html", "getting-started/", "faq/", "support/")),
]
STORM_ROWS = [(page, "2024-10-19T11:21:53+00:00", None, "0.80") for page in STORM_PAGES]
EXAMPLE_ROW = ("http://www.example.com/", "2012-12-05T10:59:04+00:00", "monthly", "1.00")


def storm(changefreq: str | None = None) -> list[tuple[str, str | None, str | None, str | None]]:
    return [(STORM, "2024-10-19T11:21:53+00:00", changefreq, "1.00"), *STORM_ROWS[1:]]


@pytest.mark.parametrize(
    ("name", "rows", "rolling"),
    [
        ("sc-stormcrawler.sitemap.xml", storm(), False),
        ("sc-stormcrawler.sitemap.xml.gz", storm(), False),
        ("sc-stormcrawler.sitemap.extensions.all.xml", [EXAMPLE_ROW, *storm()], True),
        ("sc-stormcrawler.sitemap.extensions.image.xml", [EXAMPLE_ROW, *storm()], False),
        ("sc-stormcrawler.sitemap.extensions.links.xml", storm(), False),
        ("sc-stormcrawler.sitemap.extensions.mobile.xml", storm(), False),
        ("sc-stormcrawler.sitemap.extensions.news.xml", storm("monthly"), True),
        ("sc-stormcrawler.sitemap.extensions.video.xml", storm("monthly"), False),
    ],
)
def test_stormcrawler(name, rows, rolling):
    seen = read(name)
    assert whole(seen, rolling=rolling)
    assert seen.rows == rows


def test_stormcrawler_all_extensions():
    seen = read("sc-stormcrawler.sitemap.extensions.all.xml", extensions={"alternates", "images", "videos", "news"})
    first = seen.extras[0]
    assert seen.extras[1:] == [None] * 6
    assert sorted(first) == ["alternates", "images", "news", "videos"]
    assert first["alternates"] == [{"hreflang": "en", "href": "http://www.example.com/english/"}]
    assert first["images"][0]["geo_location"] == "Limerick, Ireland"
    assert first["videos"][0]["tag"] == ["sample_tag1", "sample_tag2"]
    assert first["videos"][0]["restriction"] == {"value": "IE GB US CA", "relationship": "allow"}


def test_stormcrawler_index():
    seen = read("sc-stormcrawler.sitemap.index.xml")
    assert whole(seen, FileKind.INDEX)
    assert seen.children == [(f"{STORM}sitemap-00{number}.xml.gz", "2024-10-19T11:21:53Z") for number in range(1, 5)]


def test_every_file_has_a_test():
    named = Path(__file__).read_text(encoding="utf-8")
    files = [path.name for path in FOLDER.iterdir() if path.name != "README.md"]
    assert len(files) == 36
    assert [name for name in files if name not in named] == []
