import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeProperties, runs } from '../../support/property.ts';
import type { RuntimeDatabase, RuntimeSuite } from '../../support/runtime-database.ts';
import { Crowd } from './crowd.ts';
import { type Schedule, schedule } from './step.ts';

/** Plays one schedule after the other with the same processes; after a failure with new ones, which know nothing of the broken session. */
export function playing(database: RuntimeDatabase): (script: Schedule) => Promise<void> {
  let crowd: Crowd | null = null;
  return async (script) => {
    if (crowd === null) {
      crowd = new Crowd(database);
      await crowd.open();
    }
    const present = crowd;
    try {
      await present.play(script);
    } catch (error) {
      crowd = null;
      // Not waited for: whatever is broken may hold it up.
      void present.close().catch(() => undefined);
      throw error;
    }
  };
}

/** Milliseconds after which an ordinary run shows the shortest schedule that it has found; the fuzzer has its own limit. */
const LIMIT_MS = 20_000;
const isFuzzing = Number(process.env.TURNLOCK_FUZZ_MS ?? 0) > 0;
const limit = isFuzzing ? {} : { interruptAfterTimeLimit: LIMIT_MS };

/** Several processes at once: whatever they do to one session, each is told the truth, and the session stays whole. */
export const describeCrowds: RuntimeSuite = (database) => {
  describeProperties('any crowd', () => {
    test('leaves a session whole, every message that was acknowledged in it once, and no delicate act done twice unasked', async () => {
      expect.hasAssertions();
      await fc.assert(fc.asyncProperty(schedule, playing(database())), { ...runs(20), ...limit });
    });
  });
};
