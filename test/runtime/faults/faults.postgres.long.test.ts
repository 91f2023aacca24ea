import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { onPostgres } from '../../support/runtime-database.ts';
import { onBoard } from './board.ts';
import { readFaultTable } from './fault-table.ts';
import { EFFECTS, PLACES } from './places.ts';
import { type Cell, playCell } from './play-cell.ts';

const page = readFileSync('docs/guarantees.md', 'utf8');
const TITLES = { crash: 'Crash', stall: 'Stall', disconnect: 'Disconnect', timeout: 'Time-out' } as const;
const FAULTS = Object.keys(TITLES) as (keyof typeof TITLES)[];

/** How many cells are played side by side. */
const LANES = 20;

const rows = FAULTS.flatMap((fault) => PLACES.map((place) => ({ fault, place })));

onPostgres((database) => {
  const ends = new Map<string, string>();
  const nameOf = ({ fault, place, effect }: Cell) => [fault, place, effect].join();

  beforeAll(async () => {
    const cells = rows.flatMap((row) => EFFECTS.map((effect): Cell => ({ ...row, effect }))).values();
    await onBoard(database(), 3 * LANES, async (board) => {
      const lanes = Array.from({ length: LANES }, async () => {
        for (const cell of cells) {
          ends.set(nameOf(cell), await playCell(board, cell).catch((error: Error) => `broken: ${error.message}`));
        }
      });
      await Promise.all(lanes);
    });
  }, 240_000);

  test.each(rows)(
    'C02 C03 C04 C14 $fault at $place: what the outside world saw, and how it ended, is what the page says',
    (row) => {
      const found = EFFECTS.map((effect) => [effect, ends.get(nameOf({ ...row, effect }))]);
      expect(Object.fromEntries(found)).toEqual(readFaultTable(page, TITLES[row.fault]).get(row.place));
    },
  );
});
