import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeProperties, runs } from '../../support/property.ts';
import { onPglite } from '../../support/runtime-database.ts';
import { checkSession, factsOf } from './facts-of.ts';
import { play, type Strike } from './play.ts';
import { scenario } from './scenario.ts';

/** Where in the calm run each process dies, in thousandths of its way. */
const places = fc.array(fc.integer({ min: 0, max: 999 }), { minLength: 1, maxLength: 3 });

function strikesAt(thousandths: readonly number[], passages: number, fault: Strike['fault']): Strike[] {
  return thousandths.map((place) => ({ passage: 1 + Math.floor((place / 1_000) * passages), fault }));
}

onPglite((database) => {
  describeProperties('crashes', () => {
    test('any run, however often its process dies and wherever, ends as the one that never dies', async () => {
      await fc.assert(
        fc.asyncProperty(scenario, places, async (script, deaths) => {
          const calm = await play(database(), script, []);
          const rough = await play(database(), script, strikesAt(deaths, calm.passages, 'crash'));
          expect(await factsOf(database(), rough.session)).toEqual(await factsOf(database(), calm.session));
          await checkSession(database(), calm.session);
          await checkSession(database(), rough.session);
          expect(rough.world.distinctActs()).toEqual(calm.world.distinctActs());
          for (const count of rough.world.countsOf('charge')) expect(count).toBe(1);
          for (const tool of ['look', 'note', 'each']) {
            for (const count of rough.world.countsOf(tool)) expect(count).toBeLessThanOrEqual(1 + rough.deaths);
          }
        }),
        runs(15),
      );
    });
  });
});
