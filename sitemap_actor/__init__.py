"""Reads websites' sitemaps: every page URL with its lastmod (extract), or what changed since the last run (monitor).

The map of the house. Arrows of import point down only; `tests/test_layers.py` checks it.

    actor/        Apify: input, lifecycle, money, the SDK's storages      jobs/   records and state as files
    spiders/      robots.txt, then sitemaps, then batches of URLs
    middlewares/  one request's way: private_address, host_policy; retries, doors, redirects
    pipelines/    one batch's way: validity, lastmod, page_robots, dedup or changes, deliver
    extensions/   stopping, settling sites, writing the records, progress
    exporters/    feeds with a line per row; REPORT, SKIPPED, SUMMARY, REPORT.html, CHANGES.atom
    download/     sockets: the streaming handler, the gate (pace), the address guard, robots.txt
    run.py        what the components of one crawl share
    core/         pure: bytes and values in, values out

In core/: job (the input), conduct (every number that differs by mode), rows (batches and rows), urls, addresses, patterns,
robots, hosts, sitemaps/ (unpack, sniff, parse), lastmod, doors, reading (one site's files), changes/ (monitor mode),
report and reasons (what the records say), ports (what the place it runs in must offer).

A URL's way: `download/handler` spools a file, `core/sitemaps` reads it into columns, `spiders/sitemap` makes batches of up
to 1,000, `pipelines/` filter columns, `pipelines/deliver` saves what is left, `exporters/rows` writes lines.
"""
