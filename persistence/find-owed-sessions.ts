import type { EntityManager } from '@mikro-orm/postgresql';
import type { Build } from './build.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** Which owed sessions are wanted. */
export interface OwedQuery {
  /** What the caller knows: other agents, and what is newer, are left alone. */
  build: Build;
  /** Sessions that the caller found it cannot act for. */
  excluding: string[];
  /** How many at the most. */
  max: number;
}

/** Sessions of any tenant that owe work and have no live lease, longest due first. A hint: whoever takes one over checks again. */
export async function findOwedSessions(store: Store, query: OwedQuery): Promise<SessionKey[]> {
  return inPatientTransaction(store, { tenantId: '' }, (em) => owedSessions(em, 'sweep_sessions', query));
}

/** What `source` finds, within the caller's transaction. */
export async function owedSessions(
  em: EntityManager,
  source: 'claim_sessions' | 'sweep_sessions',
  { build, excluding, max }: OwedQuery,
): Promise<SessionKey[]> {
  const rows = (await em.execute(
    `select tenant_id, session_id from turnlock.${source}(?, ?::jsonb, array(select jsonb_array_elements_text(?::jsonb)::uuid))`,
    [max, JSON.stringify(build), JSON.stringify(excluding)],
  )) as { tenant_id: string; session_id: string }[];
  // One whose parent gave it up may be owed for another reason too.
  const keys = rows.map((row) => ({ tenantId: row.tenant_id, sessionId: row.session_id }));
  return [...new Map(keys.map((key) => [key.sessionId, key])).values()];
}
