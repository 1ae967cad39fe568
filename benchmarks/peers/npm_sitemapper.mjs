// sitemapper, asked for loc and lastmod.
import { SITEMAP, Rows, begin, end, require } from './common.mjs';
const module = await import(require.resolve('sitemapper'));
const Sitemapper = module.default?.default ?? module.default;
begin();
const { sites, errors } = await new Sitemapper({ url: SITEMAP, timeout: 120000, fields: { loc: true, lastmod: true } }).fetch();
const rows = new Rows();
for (const site of sites) await rows.add(site.loc ?? site, site.lastmod);
await rows.close();
end(rows.count, rows.dated, errors?.length ? String(errors[0].type ?? '').slice(0, 60) : '');
