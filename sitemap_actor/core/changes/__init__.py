"""Monitor mode's memory and comparison (spec section 7, `seeds/monitor.txt`).

`facts.py` what is remembered of a site and its sitemaps, `files.py` what this run's reading means for each sitemap,
`snapshot.py` the pages in SQLite, `compare.py` and `missing.py` the guards as queries over them, `codec.py` the form between
runs, `vault.py` writing it in steps that survive a crash, `journal.py` what a run was about to save, `lease.py` one run at a
time, `memory.py` what the spider asks, `profiles.py` the rule on profile pages.
"""
