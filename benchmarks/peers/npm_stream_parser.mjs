// sitemap-stream-parser: URLs only.
import { SITEMAP, Rows, begin, end, require } from './common.mjs';
const parser = require('sitemap-stream-parser');
begin();
const rows = new Rows();
parser.parseSitemaps(SITEMAP, (url) => { rows.add(url, null); }, async (error) => {
  await rows.close();
  end(rows.count, 0, error ? String(error).slice(0, 60) : '');
});
