"""ultimate-sitemap-parser: sitemap_tree_for_homepage(), reading what robots.txt names."""

import logging

from common import ORIGIN, begin, end, write
from usp.tree import sitemap_tree_for_homepage

logging.disable(logging.WARNING)
begin()
tree = sitemap_tree_for_homepage(f"{ORIGIN}/", use_known_paths=False)
end(*write((page.url, page.last_modified and page.last_modified.isoformat()) for page in tree.all_pages()))
