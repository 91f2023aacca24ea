import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';

/** A file of the page, as it is answered. */
export interface PageFile {
  type: string;
  body: string;
}

const FOLDER = join(import.meta.dirname, 'page');

/** The page's files by path. Its script is bundled in memory when the process starts: nothing is fetched from elsewhere, now or later. */
export async function buildPage(): Promise<ReadonlyMap<string, PageFile>> {
  const read = (name: string) => readFile(join(FOLDER, name), 'utf8');
  const [html, css, icon, script] = await Promise.all([
    read('index.html'),
    read('page.css'),
    read('icon.svg'),
    bundle(join(FOLDER, 'main.tsx')),
  ]);
  return new Map([
    ['/', { type: 'text/html; charset=utf-8', body: html }],
    ['/page.css', { type: 'text/css; charset=utf-8', body: css }],
    ['/page.js', { type: 'text/javascript; charset=utf-8', body: script }],
    ['/icon.svg', { type: 'image/svg+xml', body: icon }],
  ]);
}

async function bundle(entry: string): Promise<string> {
  const built = await build({
    configFile: false,
    root: FOLDER,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    build: { write: false, rolldownOptions: { input: entry, output: { codeSplitting: false } } },
  });
  const outputs = (Array.isArray(built) ? built : [built]).flatMap((one) => ('output' in one ? one.output : []));
  const [script] = outputs.filter((output) => output.type === 'chunk');
  if (script === undefined) throw new Error(`nothing was bundled from ${entry}`);
  return script.code;
}
