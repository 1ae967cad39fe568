"""Fuzz the reading of robots.txt: any bytes give rules or Unreadable, in bounded time, and all ways of asking agree.

Run by `make fuzz`.
"""

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent.parent))

with atheris.instrument_imports():
    from sitemap_actor.core.doors import door, is_html
    from sitemap_actor.core.robots import Rules, Unreadable
    from sitemap_actor.core.urls import UrlError, UrlJudge, canonical, parse_entry, percent_encoded

SITE = "https://www.example.com"
PATHS = ("/", "/a", "/a/b.pdf?x=1", "/%7euser/", "/caf\u00e9 x", "/a/../private/", "/*$", "/robots.txt", "/a#b")


def one_input(data: bytes) -> None:
    """Split the bytes into a robots.txt and a path, and ask every question there is."""
    body, _, rest = data.partition(b"\xfe\xfd")
    path = rest.decode("utf-8", "ignore")
    is_html(body)
    door(200, {}, body, SITE, SITE)
    ask_rules(body, [f"{SITE}{known}" for known in PATHS] + [f"{SITE}/{path}"])
    ask_urls([f"{SITE}/{path}", path, f"https://{path}/"])


def ask_rules(body: bytes, urls: list[str]) -> None:
    try:
        rules = Rules.read(body, f"{SITE}/robots.txt")
    except Unreadable:
        return
    refused = rules.refused(urls)
    assert refused == [index for index, url in enumerate(urls) if not rules.allows(url)], "batch and single differ"
    assert rules.allows(f"{SITE}/robots.txt")
    assert rules.can_refuse or not refused
    assert rules.crawl_delay is None or 0 <= rules.crawl_delay < float("inf")
    for index in refused:
        assert rules.rule(urls[index]).startswith("group ")


def ask_urls(urls: list[str]) -> None:
    judged = UrlJudge(f"{SITE}/sitemap.xml").judge(urls)
    bad = {index for index, _, _ in judged.refused}
    for index, (url, key) in enumerate(zip(judged.urls, judged.keys, strict=True)):
        if index not in bad:
            assert canonical(url) == key == canonical(key)
            assert percent_encoded(percent_encoded(url)) == percent_encoded(url)
    for text in urls:
        try:
            entry = parse_entry(text)
        except UrlError:
            continue
        assert parse_entry(entry.url).site == entry.site


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
