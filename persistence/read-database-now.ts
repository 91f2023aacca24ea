import type { EntityManager } from '@mikro-orm/postgresql';
import { OPEN_QUESTIONS, type OpenQuestions } from './open-questions.ts';
import type { SessionKey } from './read-session.ts';

const NOW = '(extract(epoch from turnlock.turnlock_now()) * 1000)::bigint::text as now';

/** The database's time in whole milliseconds: the one clock of leases, deadlines and wakes. Read it after the lock. */
export async function readDatabaseNow(em: EntityManager): Promise<Date> {
  const [row] = (await em.execute(`select ${NOW}`)) as [{ now: string }];
  return new Date(Number(row.now));
}

/** The same, with the version of a session in that moment, `null` where it is not there any more, and what persons are asked about its calls. */
export async function readDatabaseNowOf(
  em: EntityManager,
  { tenantId, sessionId }: SessionKey,
): Promise<{ now: Date; version: number | null; questions: OpenQuestions }> {
  const [row] = (await em.execute(
    `select ${NOW}, s.version, ${OPEN_QUESTIONS} as questions
       from (select) one left join turnlock.agent_sessions s on s.session_id = ? and s.tenant_id = ?`,
    [sessionId, tenantId],
  )) as [{ now: string; version: number | null; questions: OpenQuestions | null }];
  return { now: new Date(Number(row.now)), version: row.version, questions: row.questions ?? {} };
}
