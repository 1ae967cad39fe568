// sitemap: XMLToSitemapItemStream over fetch(); the children of an index are followed by hand.
import zlib from 'node:zlib';
import { Readable } from 'node:stream';
import { NAME, SITEMAP, Rows, begin, end, require } from './common.mjs';
const { XMLToSitemapItemStream, parseSitemapIndex } = require('sitemap');
begin();
if (NAME.endsWith('.txt')) {
  end(0, 0, 'no text sitemaps');
  process.exit(0);
}
const rows = new Rows();
const open = async (url) => {
  const body = Readable.fromWeb((await fetch(url)).body);
  return url.endsWith('.gz') ? body.pipe(zlib.createGunzip()) : body;
};
const urls = NAME.includes('index') ? (await parseSitemapIndex(await open(SITEMAP))).map((child) => child.url) : [SITEMAP];
for (const url of urls) {
  for await (const entry of (await open(url)).pipe(new XMLToSitemapItemStream({ logger: false }))) {
    await rows.add(entry.url, entry.lastmod);
  }
}
await rows.close();
end(rows.count, rows.dated);
