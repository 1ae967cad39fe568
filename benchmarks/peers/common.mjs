// What the Node runners share: the same arguments and the same line of JSON as common.py.
import { createRequire } from 'node:module';
import fs from 'node:fs';
export const [ORIGIN, NAME, OUT, MODULES] = process.argv.slice(2);
export const SITEMAP = `${ORIGIN}/${NAME}`;
export const require = createRequire(`${MODULES}/`);
let cpu;
export const begin = () => { cpu = process.cpuUsage(); };
export const end = (count, dated, note = '') => {
  const used = process.cpuUsage(cpu);
  console.log(JSON.stringify({ count, dated, note, work_cpu: (used.user + used.system) / 1e6 }));
};
export class Rows {
  count = 0;
  dated = 0;
  file = fs.createWriteStream(OUT);
  // Returns a promise only where the file wants to be waited for.
  add(url, lastmod) {
    this.count++;
    if (lastmod) this.dated++;
    if (!this.file.write(`${JSON.stringify({ url, lastmod: lastmod ?? null })}\n`)) {
      return new Promise((resolve) => { this.file.once('drain', resolve); });
    }
    return undefined;
  }
  close() { return new Promise((resolve) => { this.file.end(resolve); }); }
}
