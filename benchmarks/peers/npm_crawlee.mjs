// @crawlee/utils: parseSitemap, an async iterable.
import { SITEMAP, Rows, begin, end, require } from './common.mjs';
const { parseSitemap } = require('@crawlee/utils');
begin();
const rows = new Rows();
for await (const entry of parseSitemap([{ type: 'url', url: SITEMAP }])) await rows.add(entry.loc, entry.lastmod);
await rows.close();
end(rows.count, rows.dated);
