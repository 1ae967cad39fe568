"""advertools: sitemap_to_df(robots.txt), a data frame, written by its own to_json."""

import advertools
from common import OUT, ROBOTS, begin, end

begin()
try:
    frame = advertools.sitemap_to_df(ROBOTS)
    if "lastmod" not in frame:
        frame["lastmod"] = None
    frame = frame[["loc", "lastmod"]].rename(columns={"loc": "url"})
    frame.to_json(OUT, orient="records", lines=True, date_format="iso")
    end(int(frame["url"].notna().sum()), int(frame["lastmod"].notna().sum()))
except Exception as error:
    end(0, 0, f"{type(error).__name__}: {str(error)[:60]}")
