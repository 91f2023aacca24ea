import type { PGlite } from '@electric-sql/pglite';
import type { WakeUps } from '../../persistence/database.contract.ts';

/** Hears NOTIFY on the one connection of a PGlite: whatever commits, commits there. */
export function pgliteWakeUps(pglite: PGlite, channel: string): WakeUps {
  return {
    subscribe(onWake) {
      const subscribed = pglite.listen(channel, onWake).catch(() => null); // a closed one says so to whoever looks for work
      void subscribed.then(() => onWake());
      return async () => {
        const unsubscribe = await subscribed;
        await unsubscribe?.().catch(() => undefined);
      };
    },
  };
}
