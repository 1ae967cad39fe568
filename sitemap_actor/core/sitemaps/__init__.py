"""Reading sitemap files: bytes in, columns of entries and one verdict out. Pure: no fetching, no clock, no logging."""
