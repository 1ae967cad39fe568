"""The one spider: `sitemap`."""
