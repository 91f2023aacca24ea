import type { EntityManager } from '@mikro-orm/postgresql';
import { inPatientTransaction } from '../patient-transaction.ts';
import type { Store } from '../session-transaction.ts';
import type { Found } from './doctor-codes.ts';

/** Tasks of a tenant that are told of, at most. */
const MAX_TASKS = 100;

/** Memories without a vector that are counted, at most. */
const MAX_COUNTED = 1_000;

interface Task {
  kind: 'embed' | 'summarise';
  memory_id: string | null;
  session_id: string | null;
  attempts: number;
  last_error_code: string | null;
  overdue_s: number;
}

/** Of a tenant: what is owed for its memories and nobody does, and memories that have no vector where vectors are kept. */
export async function checkMemoryOf(store: Store, tenantId: string, stuckAfterMs: number): Promise<Found[]> {
  return inPatientTransaction(store, { tenantId }, async (em) => [
    ...(await readStuck(em, tenantId, stuckAfterMs)).map((task) => toFound(tenantId, task)),
    ...(await checkVectors(em, tenantId)),
  ]);
}

/** Given up after all their attempts, or due for too long with nobody at them. */
async function readStuck(em: EntityManager, tenantId: string, stuckAfterMs: number): Promise<Task[]> {
  return (await em.execute(
    `select kind, memory_id, session_id, attempts, last_error_code,
         greatest(0, extract(epoch from turnlock.turnlock_now() - due_at))::float8 as overdue_s
       from turnlock.agent_memory_tasks
       where tenant_id = ? and (attempts >= 10 or due_at < turnlock.turnlock_now() - ?::bigint * interval '1 millisecond')
       order by created_at, task_id limit ${MAX_TASKS}`,
    [tenantId, stuckAfterMs],
  )) as Task[];
}

function toFound(tenantId: string, task: Task): Found {
  const {
    kind,
    memory_id: memoryId,
    session_id: sessionId,
    attempts,
    last_error_code: code,
    overdue_s: overdueS,
  } = task;
  const failed = code === null ? '' : `, the last with ${code}`;
  const waits = attempts >= 10 ? `given up after ${attempts} attempts` : `owed for ${Math.round(overdueS)} s`;
  return {
    code: 'MEMORY_OWED',
    tenantId,
    ...(sessionId === null ? {} : { sessionId }),
    place: kind === 'embed' ? `vector of memory ${memoryId}` : 'summary',
    found: `${waits}${failed}`,
    wanted: kind === 'embed' ? 'its vector' : 'its summary',
  };
}

async function checkVectors(em: EntityManager, tenantId: string): Promise<Found[]> {
  const [kept] = (await em.execute(`select to_regclass('turnlock.agent_memory_embeddings') is not null as yes`)) as [
    { yes: boolean },
  ];
  if (!kept.yes) return [];
  const [{ count }] = (await em.execute(
    `select count(*)::int as count from (select 1 from turnlock.agent_memories m
       where m.tenant_id = ? and m.superseded_at is null and (m.expires_at is null or m.expires_at > turnlock.turnlock_now())
         and not exists (select from turnlock.agent_memory_embeddings e
           where e.tenant_id = m.tenant_id and e.user_id = m.user_id and e.memory_id = m.memory_id)
         and not exists (select from turnlock.agent_memory_tasks t
           where t.tenant_id = m.tenant_id and t.user_id = m.user_id and t.memory_id = m.memory_id)
       limit ${MAX_COUNTED}) without`,
    [tenantId],
  )) as [{ count: number }];
  if (count === 0) return [];
  const found = `${count}${count === MAX_COUNTED ? ' or more' : ''} without one, and none is owed`;
  return [{ code: 'MEMORY_NOT_EMBEDDED', tenantId, place: 'vectors of memories', found, wanted: 'one for each' }];
}
