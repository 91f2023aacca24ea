import { type OwedQuery, owedSessions } from './find-owed-sessions.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** What one look for work found. */
export interface Claim {
  /** Sessions that owe work and have no live lease, longest due first. A hint: whoever takes one over checks again. */
  keys: SessionKey[];
  /** Milliseconds until the next session becomes due that is not due yet, by the database's clock; `null` when nothing is planned. */
  dueInMs: number | null;
}

/**
 * Looks for owed sessions of any tenant in one short transaction. Rows that another worker looks at in the same instant are skipped, so that
 * workers do not all go for the same ones; nothing stays locked afterwards.
 */
export async function claimSessions(store: Store, query: OwedQuery): Promise<Claim> {
  return inPatientTransaction(store, { tenantId: '' }, async (em) => {
    const keys = await owedSessions(em, 'claim_sessions', query);
    const [due] = (await em.execute(
      `select ceil(extract(epoch from turnlock.next_due_at() - turnlock.turnlock_now()) * 1000)::float8 as ms`,
    )) as [{ ms: number | null }];
    return { keys, dueInMs: due.ms };
  });
}
