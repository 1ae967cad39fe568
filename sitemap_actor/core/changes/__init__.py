"""Monitor mode: what is remembered of a site, and what changed."""
