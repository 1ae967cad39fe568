"""`python -m sitemap_actor` as it is, with the gap between requests to one host off."""

import runpy

import sitemap_actor.settings

sitemap_actor.settings.SITEMAP_MIN_GAP_SECS = 0
runpy.run_module("sitemap_actor", run_name="__main__", alter_sys=True)
