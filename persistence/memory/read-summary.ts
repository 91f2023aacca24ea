import type { EntityManager } from '@mikro-orm/postgresql';
import { inPatientTransaction } from '../patient-transaction.ts';
import type { SessionKey } from '../read-session.ts';
import type { Store } from '../session-transaction.ts';

/** The summary of a session that counts. */
export interface SessionSummaryText {
  memoryId: string;
  content: string;
  /** Index of the last turn that it tells of. */
  coversToTurn: number;
  /** Whether it is the session's own: a fork begins with one of the session that it came from. */
  isOwn: boolean;
}

/** Forks of forks that are followed back. */
const MAX_FORKS = 16;

/*
 * The session and those that it was forked from, each with the last turn that they share; of these the latest summary. Of the session's own the one
 * that counts; of the others any that tells of shared turns alone, also one that has been superseded there since.
 */
const SUMMARY = `with recursive line as (
    select s.session_id, s.fork_origin_session_id, s.fork_origin_turn_index, 2147483647 as shared, 0 as depth
      from turnlock.agent_sessions s where s.tenant_id = ? and s.session_id = ?
    union all
    select s.session_id, s.fork_origin_session_id, s.fork_origin_turn_index, least(l.shared, l.fork_origin_turn_index), l.depth + 1
      from line l join turnlock.agent_sessions s on s.tenant_id = ? and s.session_id = l.fork_origin_session_id
      where l.depth < ${MAX_FORKS}
  )
  select m.memory_id, m.content, m.covers_to_turn, l.depth = 0 as is_own
    from line l join turnlock.agent_memories m on m.tenant_id = ? and m.session_id = l.session_id
   where m.covers_to_turn is not null and m.covers_to_turn <= l.shared and (m.superseded_at is null or l.depth > 0)
     and (m.expires_at is null or m.expires_at > turnlock.turnlock_now())
   order by l.depth = 0 desc, m.covers_to_turn desc, m.created_at desc, m.memory_id limit 1`;

/** The latest summary of a session that was neither superseded nor has expired; `null` where there is none. */
export async function readSummary(store: Store, key: SessionKey): Promise<SessionSummaryText | null> {
  return inPatientTransaction(store, { tenantId: key.tenantId }, (em) => findSummary(em, key));
}

/** The same, in the transaction of `em`. */
export async function findSummary(
  em: EntityManager,
  { tenantId, sessionId }: SessionKey,
): Promise<SessionSummaryText | null> {
  const [row] = (await em.execute(SUMMARY, [tenantId, sessionId, tenantId, tenantId])) as {
    memory_id: string;
    content: string;
    covers_to_turn: number;
    is_own: boolean;
  }[];
  if (row === undefined) return null;
  const { memory_id: memoryId, content, covers_to_turn: coversToTurn, is_own: isOwn } = row;
  return { memoryId, content, coversToTurn, isOwn };
}
