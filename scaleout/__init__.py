"""Many thousands of sites as many runs: `python -m scaleout sites.txt --actor USERNAME/NAME` (docs/scaling-out.md).

A tool beside the package. It splits a list of sites (`parts`), starts a run for each part on Apify or a job on scrapyd
(`platforms`), a few at a time, waits for them, and gathers their REPORTs into one (`gather`, `merge`). What it did is kept
in a `ledger`, so that after an interruption the same command goes on and starts nothing twice.
"""
