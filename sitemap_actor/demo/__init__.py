"""A small web site on loopback addresses to try the product on: `python -m sitemap_actor.demo`.

A tool on top of the package: nothing else imports it, and it imports nothing of the package either; it starts
`scrapy crawl sitemap` as a user would. `site.py` is what the site says, `server.py` serves it, `runs.py` reads it.
"""
