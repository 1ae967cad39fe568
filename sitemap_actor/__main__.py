"""`python -m sitemap_actor`: the Actor."""

import asyncio
import gc
import sys

gc.disable()  # nothing that a start makes is garbage; extensions/collector.py turns the collector on when there is work

from sitemap_actor.actor.main import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
