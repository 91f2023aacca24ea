import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { onPostgres } from '../../support/runtime-database.ts';
import { paymentsWorld } from '../../support/world/payments-world.ts';
import type { PaymentsService } from '../../support/world/start-payments.ts';
import { MAKE_SHOP } from './agents.ts';
import { readFaultTable } from './fault-table.ts';
import { killAt } from './kill-scene.ts';
import type { KillTask } from './kill-task.ts';
import { EFFECTS } from './places.ts';

const table = readFaultTable(readFileSync('docs/guarantees.md', 'utf8'), 'Processes that are killed');
const places = [...table.keys()].map((place, row) => ({ place, row }));

onPostgres((database) => {
  let payments: PaymentsService;
  beforeAll(async () => {
    payments = await paymentsWorld();
    await database().query(MAKE_SHOP);
  });

  test.each(places)(
    'C02 C03 C04 killed at $place: what the outside world saw, and how it ended, is what the page says',
    async ({ place, row }) => {
      const orders = EFFECTS.map((effect, column) => [effect, `${row + 1}0${column}`]);
      const scene = { database: database(), payments };
      expect(await killAt(scene, place, Object.fromEntries(orders) as KillTask['orders'])).toEqual(table.get(place));
    },
  );
});
