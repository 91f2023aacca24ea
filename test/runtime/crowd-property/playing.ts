import type { RuntimeDatabase } from '../../support/runtime-database.ts';
import { Crowd } from './crowd.ts';
import type { Schedule } from './step.ts';

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
