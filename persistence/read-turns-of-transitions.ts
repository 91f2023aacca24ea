import type { SessionKey } from './read-session.ts';
import { inTransaction, type Store } from './session-transaction.ts';

/** Which turns each transition of a session wrote: their indexes by sequence. A transition whose payload was erased is left out. */
export async function readTurnsOfTransitions(
  store: Store,
  { tenantId, sessionId }: SessionKey,
): Promise<ReadonlyMap<number, readonly number[]>> {
  return inTransaction(store, { tenantId }, async (em) => {
    const rows = (await em.execute(
      `select sequence, payload -> 'turns' as turns from turnlock.agent_transition_payloads
        where session_id = ? and payload is not null`,
      [sessionId],
    )) as { sequence: number; turns: number[] | null }[];
    return new Map(rows.map(({ sequence, turns }) => [sequence, turns ?? []]));
  });
}
