import type { EntityManager } from '@mikro-orm/postgresql';
import { inPatientTransaction } from '../patient-transaction.ts';
import type { SessionKey } from '../read-session.ts';
import type { Store } from '../session-transaction.ts';

/** The last transition of a session. The hash of its begin, with sequence 0, for a session without one. */
export interface ChainHead extends SessionKey {
  sequence: number;
  hash: string;
}

/** Heads that are read at a time. */
const PAGE = 1_000;

/** The head of every session of a tenant, by session id, page by page. */
export async function* chainHeads(store: Store, tenantId: string): AsyncGenerator<ChainHead> {
  for (let after: string | null = null; ; ) {
    const last: string | null = after;
    const heads: ChainHead[] = await inPatientTransaction(
      store,
      { tenantId },
      async (em) =>
        (await em.execute(
          `select s.tenant_id as "tenantId", s.session_id as "sessionId", s.version as sequence, coalesce(t.hash, s.genesis_hash) as hash
             from turnlock.agent_sessions s
             left join turnlock.agent_transitions t on t.session_id = s.session_id and t.sequence = s.version
            where s.tenant_id = ? and (?::uuid is null or s.session_id > ?::uuid)
            order by s.session_id limit ?::int`,
          [tenantId, last, last, PAGE],
        )) as ChainHead[],
    );
    yield* heads;
    if (heads.length < PAGE) return;
    after = heads.at(-1)?.sessionId ?? null;
  }
}

/**
 * What became of a head that was anchored: it is part of the chain; another hash stands in its place; its session was removed by retention,
 * when and by which role; or its session is gone, and nothing says why.
 */
export type AnchoredHead = ChainHead &
  ({ is: 'kept' | 'changed' | 'gone' } | { is: 'removed'; removedAt: Date; removedBy: string });

/** Compares heads of one tenant with the chains as they are now. */
export async function compareHeads(
  store: Store,
  tenantId: string,
  heads: readonly ChainHead[],
): Promise<AnchoredHead[]> {
  const wanted = heads.map(({ sessionId, sequence }) => ({ id: sessionId, sequence }));
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const rows = (await em.execute(
      `select s.session_id as "sessionId", w.sequence, case when w.sequence = 0 then s.genesis_hash else t.hash end as hash
         from jsonb_to_recordset(?::text::jsonb) as w (id uuid, sequence int)
         join turnlock.agent_sessions s on s.session_id = w.id and s.tenant_id = ?
         left join turnlock.agent_transitions t on t.session_id = s.session_id and t.sequence = w.sequence`,
      [JSON.stringify(wanted), tenantId],
    )) as { sessionId: string; sequence: number; hash: string | null }[];
    const found = new Map(rows.map(({ sessionId, sequence, hash }) => [`${sessionId} ${sequence}`, hash]));
    const hashOf = ({ sessionId, sequence }: ChainHead) => found.get(`${sessionId} ${sequence}`);
    const gone = heads.filter((head) => hashOf(head) === undefined).map(({ sessionId }) => sessionId);
    const removals = await readRemovals(em, gone);
    return heads.map((head): AnchoredHead => {
      const hash = hashOf(head);
      if (hash === undefined) return { ...head, ...(removals.get(head.sessionId) ?? { is: 'gone' }) };
      return { ...head, is: hash === head.hash ? 'kept' : 'changed' };
    });
  });
}

type Removal = Extract<AnchoredHead, { is: 'removed' }>;

/** Of the transaction's tenant: those that retention removed and noted. */
async function readRemovals(
  em: EntityManager,
  sessionIds: readonly string[],
): Promise<Map<string, Omit<Removal, keyof ChainHead>>> {
  if (sessionIds.length === 0) return new Map();
  const rows = (await em.execute(
    `select session_id as "sessionId", (extract(epoch from removed_at) * 1000)::float8 as ms, removed_by as "removedBy"
       from turnlock.removed_sessions(?::uuid[])`,
    [`{${sessionIds.join(',')}}`],
  )) as { sessionId: string; ms: number; removedBy: string }[];
  return new Map(
    rows.map(({ sessionId, ms, removedBy }) => [sessionId, { is: 'removed', removedAt: new Date(ms), removedBy }]),
  );
}
