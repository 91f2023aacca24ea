import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { ENTRY_PEERS, entriesOf } from './entry-peers.ts';
import { entrySources } from './entry-sources.ts';
import { type PublicName, readPublicNames } from './read-public-names.ts';

/** The page that lists every public name. */
export const API_PAGE = new URL('../docs/api.md', import.meta.url);

/** What each entry point is for. */
const PURPOSES: Readonly<Record<string, string>> = {
  '.': 'Agents, tools, the runtime, errors.',
  './machines': 'The machines, pure and without a database: to read, draw or replay sessions.',
  './persistence':
    'The entities of MikroORM, for queries and foreign keys of your own. Read them; only the runtime writes.',
  './postgres': 'A PostgreSQL server as the database.',
  './pglite': 'PostgreSQL inside the process as the database.',
  './ai-sdk': 'Models, tools and embedders of the AI SDK.',
  './mcp': 'Tools of MCP servers.',
  './scripted': 'A model and an embedder without a provider, for tests and examples.',
  './http': 'Sessions by HTTP: a web-standard fetch handler, and a server for who has none.',
  './inspector': 'A page to watch sessions on and to decide what waits for a person, as a web-standard fetch handler.',
  './telemetry': 'Spans and metrics of a runtime for OpenTelemetry.',
  './stately': 'Sessions and replays in the Stately inspector.',
  './testing':
    'Property tests of your own tools and policies: crashes, zombies, doubles and races, shrunk to the shortest schedule; the promises of a port as cases for adapters of your own.',
  './migrations': 'The schema as migrations, for a set-up that runs them itself.',
};

/** The public names of every entry point, by the entry's name in package.json. */
export function readApi(): ReadonlyMap<string, readonly PublicName[]> {
  const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
  return new Map(
    entriesOf(manifest).map((entry) => {
      const target = manifest.exports[entry as '.'];
      const [source = ''] = entrySources({ exports: { [entry]: target }, bin: {} });
      return [entry, readPublicNames(source, read)];
    }),
  );
}

/** `page` with what stands between `<!-- api -->` and `<!-- /api -->` written anew. */
export function writeApi(page: string, api: ReadonlyMap<string, readonly PublicName[]>): string {
  const sections = [...api].map(([entry, names]) => section(entry, names)).join('\n\n');
  return page.replace(/<!-- api -->[\s\S]*<!-- \/api -->/, () => `<!-- api -->\n\n${sections}\n\n<!-- /api -->`);
}

/** @throws Error for an entry without a purpose, and for names without a doc comment. */
function section(entry: string, names: readonly PublicName[]): string {
  const purpose = PURPOSES[entry];
  if (purpose === undefined) throw new Error(`${entry}: say in scripts/check-api.ts what the entry is for`);
  const silent = names.filter(({ says }) => says === null).map(({ name, path }) => `${name} in ${path}`);
  if (silent.length > 0) throw new Error(`${entry}: public names without a doc comment: ${silent.join(', ')}`);
  const peers = (ENTRY_PEERS[entry] ?? []).map((peer) => `\`${peer}\``).join(', ');
  const rows = names.map(({ name, kind, says }) => `| \`${name}\` | ${kind} | ${says?.replaceAll('|', '\\|')} |`);
  const signatures = names.flatMap(({ signature }) => signature ?? []);
  return [
    `## \`${entry.replace(/^\./, manifest.name)}\``,
    purpose + (peers === '' ? '' : ` Optional peers: ${peers}.`),
    ['| name | kind | |', '|---|---|---|', ...rows].join('\n'),
    ...(signatures.length > 0 ? [['```ts', ...signatures, '```'].join('\n')] : []),
  ].join('\n\n');
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(API_PAGE, writeApi(readFileSync(API_PAGE, 'utf8'), readApi()));
}
