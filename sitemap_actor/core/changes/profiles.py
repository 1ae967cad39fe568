"""The rule on people's profile pages (`seeds/monitor.txt`): which pages and child sitemaps are left out by default."""

import re
from collections.abc import Sequence
from urllib.parse import unquote

PROFILE_PAGE = "profile_page"
"""Why such a page is remembered silently."""

WORDS = frozenset({"users", "user", "people", "profile", "profiles", "author", "authors", "member", "members"})

_PAGE = re.compile(
    rf"^https?://[^/?#\n]*/(?:{'|'.join(sorted(WORDS))})/[^/?#\n]+/?(?:[?#][^\n]*)?$", re.IGNORECASE | re.MULTILINE
)
_TOKENS = re.compile(r"[^\W\d_]+")


def profile_pages(urls: Sequence[str]) -> list[int]:
    """The places of the URLs whose path is exactly `/users/<name>` or the like; a slash at the end does not matter."""
    if _PAGE.search("\n".join(urls)) is None:
        return []
    return [place for place, url in enumerate(urls) if _PAGE.search(url)]


def is_profile_sitemap(url: str) -> bool:
    """Whether a segment of the sitemap's path has one of the words as a whole token: split at everything but letters."""
    path = url.partition("://")[2].partition("/")[2].partition("#")[0].partition("?")[0]
    return any(token.lower() in WORDS for segment in path.split("/") for token in _TOKENS.findall(unquote(segment)))
