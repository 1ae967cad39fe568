"""`python -m sitemap_actor`: the Actor."""

import asyncio
import sys

from sitemap_actor.actor.main import main

if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
