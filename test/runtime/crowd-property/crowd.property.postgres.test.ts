import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeProperties, runs } from '../../support/property.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { playing } from './playing.ts';
import { schedule } from './step.ts';

/** Milliseconds after which an ordinary run shows the shortest schedule that it has found; the fuzzer has its own limit. */
const LIMIT_MS = 20_000;
const isFuzzing = Number(process.env.TURNLOCK_FUZZ_MS ?? 0) > 0;
const limit = isFuzzing ? {} : { interruptAfterTimeLimit: LIMIT_MS };

/** Several processes at once: whatever they do to one session, each is told the truth, and the session stays whole. */
onPostgres(
  (database) => {
    describeProperties('any crowd', () => {
      test('leaves a session whole, every message that was acknowledged in it once, and no delicate act done twice unasked', async () => {
        expect.hasAssertions();
        await fc.assert(fc.asyncProperty(schedule, playing(database())), { ...runs(20), ...limit });
      });
    });
  },
  // The fuzzer stops when its time is over, in the middle of a schedule whose processes are still up.
  { toleratesOpenConnections: isFuzzing },
);
