"""robots.txt: our own reading in front of Protego's matching (spec 5; RFC 9309).

`lines` turns bytes into text lines, `records` lines into groups, `paths` brings rules and URLs into one spelling,
`finder` picks out of a whole batch the few URLs that any Disallow touches, and `rules` is what the others are for: the
verdicts. Where the standard is silent or unclear, the reading that asks for less of the site is taken: odd spellings
count for Disallow and Crawl-delay, never for Allow.
"""

from sitemap_actor.core.robots.lines import MOST_BYTES, Unreadable
from sitemap_actor.core.robots.rules import NO_RULES, OTHER_TOKEN, PRODUCT_TOKEN, Rules

__all__ = ["MOST_BYTES", "NO_RULES", "OTHER_TOKEN", "PRODUCT_TOKEN", "Rules", "Unreadable"]
