import { EFFECTS, type Effect, type Place } from './places.ts';

/** What a table of the page says of each place: one text for each class. */
export type FaultTable = ReadonlyMap<Place, Readonly<Record<Effect, string>>>;

/**
 * The table under the heading `title` of the page, whose rows may name several places at once: `` start: `afterLock`, `beforeCommit` ``.
 */
export function readFaultTable(page: string, title: string): FaultTable {
  const [, after] = page.split(`\n### ${title}\n`);
  if (after === undefined) throw new Error(`the page has no heading ${title}`);
  const lines = (after.split(/\n#{1,3} /)[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  const [head = [], , ...rows] = lines.map(cellsOf);
  const wanted = ['place', ...EFFECTS];
  if (head.join() !== wanted.join()) throw new Error(`${title} has the columns ${head}, wanted ${wanted}`);
  const table = new Map<Place, Record<Effect, string>>();
  for (const [first = '', ...cells] of rows) {
    for (const place of placesIn(first)) {
      if (table.has(place)) throw new Error(`${title} has two rows for ${place}`);
      table.set(place, Object.fromEntries(EFFECTS.map((effect, column) => [effect, cells[column] ?? ''])) as never);
    }
  }
  return table;
}

function cellsOf(line: string): string[] {
  return line
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim());
}

/** The places that a row names. */
function placesIn(cell: string): Place[] {
  const commit = /^(start|record): /.exec(cell)?.[0] ?? '';
  const when = /, (?:before|after) the act$/.exec(cell)?.[0] ?? '';
  return [...cell.matchAll(/`(\w+)`/g)].map(([, point]) => `${commit}${point}${when}`);
}
