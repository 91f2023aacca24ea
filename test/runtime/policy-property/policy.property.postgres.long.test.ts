import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { describeProperties, runs } from '../../support/property.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { makeShop } from '../effects/transactional-scene.ts';
import { playPlot } from './play-plot.ts';
import { plot } from './plot.ts';

/** Milliseconds after which an ordinary run shows the shortest plot that it has found; the fuzzer has its own limit. */
const LIMIT_MS = 120_000;
const isFuzzing = Number(process.env.TURNLOCK_FUZZ_MS ?? 0) > 0;
const limit = isFuzzing ? {} : { interruptAfterTimeLimit: LIMIT_MS };

/** Tools of every class, policies that change, people who contradict each other, and faults: what the world sees holds. */
onPostgres(
  (database) => {
    beforeAll(() => makeShop(database()));

    describeProperties('any tools', () => {
      test('act once where they may act once, never where somebody denies it, and every call is answered', async () => {
        expect.hasAssertions();
        await fc.assert(
          fc.asyncProperty(plot, (script) => playPlot(database(), script)),
          { ...runs(16), ...limit },
        );
      });
    });
  },
  // The fuzzer stops when its time is over, in the middle of a play whose processes are still up.
  { toleratesOpenConnections: isFuzzing },
);
