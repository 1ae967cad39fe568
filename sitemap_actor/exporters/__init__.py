"""How results are written: rows into Scrapy's feeds, and the records, from `RunReport` alone."""
