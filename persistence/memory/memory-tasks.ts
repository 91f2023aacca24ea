import type { EntityManager } from '@mikro-orm/postgresql';
import { inPatientTransaction } from '../patient-transaction.ts';
import type { SessionKey } from '../read-session.ts';
import type { Store } from '../session-transaction.ts';

/** Work that was claimed: its claimer has it for a while, and counts as having tried. */
export type MemoryTask = {
  taskId: string;
  tenantId: string;
  /** With this one. */
  attempts: number;
} & ({ kind: 'embed'; userId: string; memoryId: string } | { kind: 'summarise'; sessionId: string; upToTurn: number });

/** Which tasks to claim. */
export interface TaskQuery {
  max: number;
  kinds: readonly MemoryTask['kind'][];
  /** Sessions of other agents are left for whoever knows them. */
  agents: readonly string[];
  /** Milliseconds after which another may claim them again. */
  leaseMs: number;
  /** Only these. Default: all that are due. */
  taskIds?: readonly string[];
}

/** Milliseconds before the second attempt; three times as long before each further one. */
const FIRST_RETRY_MS = 10_000;
const LONGEST_RETRY_MS = 6 * 60 * 60 * 1000;

interface Row {
  task_id: string;
  tenant_id: string;
  kind: MemoryTask['kind'];
  user_id: string | null;
  memory_id: string | null;
  session_id: string | null;
  up_to_turn: number | null;
  attempts: number;
}

/**
 * Claims what is owed and due, of any tenant, longest due first. At least once: a claim that comes to nothing is claimed again, after `leaseMs`,
 * by whoever looks then; after ten attempts nobody does, and doctor tells of it.
 */
export async function claimMemoryTasks(store: Store, query: TaskQuery): Promise<MemoryTask[]> {
  const { max, kinds, agents, leaseMs, taskIds } = query;
  return inPatientTransaction(store, { tenantId: '' }, async (em) => {
    const claimed = (await em.execute(
      `select tenant_id, task_id
         from turnlock.claim_memory_tasks(?, array(select jsonb_array_elements_text(?::jsonb)),
           array(select jsonb_array_elements_text(?::jsonb)), ?, ?::uuid[])`,
      [
        max,
        JSON.stringify(kinds),
        JSON.stringify(agents),
        leaseMs,
        taskIds === undefined ? null : `{${taskIds.join(',')}}`,
      ],
    )) as { tenant_id: string; task_id: string }[];
    const tasks: MemoryTask[] = [];
    for (const tenantId of new Set(claimed.map((one) => one.tenant_id))) {
      const taskIds = claimed.filter((one) => one.tenant_id === tenantId).map((one) => one.task_id);
      tasks.push(...(await readTasks(em, tenantId, taskIds)));
    }
    return tasks;
  });
}

/** What the tasks are about is a tenant's: so it is read as that tenant, each in turn. */
async function readTasks(em: EntityManager, tenantId: string, taskIds: readonly string[]): Promise<MemoryTask[]> {
  await em.execute(`select set_config('turnlock.tenant', ?, true)`, [tenantId]);
  const rows = (await em.execute(
    `select task_id, tenant_id, kind, user_id, memory_id, session_id, up_to_turn, attempts from turnlock.agent_memory_tasks
       where tenant_id = ? and task_id = any (?::uuid[]) order by due_at, task_id`,
    [tenantId, `{${taskIds.join(',')}}`],
  )) as Row[];
  return rows.map(toTask);
}

function toTask(row: Row): MemoryTask {
  const task = { taskId: row.task_id, tenantId: row.tenant_id, attempts: row.attempts };
  if (row.kind === 'embed') {
    return { ...task, kind: 'embed', userId: row.user_id as string, memoryId: row.memory_id as string };
  }
  return { ...task, kind: 'summarise', sessionId: row.session_id as string, upToTurn: row.up_to_turn as number };
}

/**
 * Notes in the transaction of `em` that a session is to be summarised up to one of its turns: one task for each session, which only ever
 * reaches further. A new one is due at once. One that is at work, or waits after it failed, goes on with what it is at; one that nobody tries any
 * more is tried again.
 */
export async function oweSummary(
  em: EntityManager,
  { tenantId, sessionId }: SessionKey,
  upToTurn: number,
): Promise<{ taskId: string }> {
  const [row] = (await em.execute(
    `insert into turnlock.agent_memory_tasks as t (tenant_id, kind, session_id, up_to_turn, due_at, created_at)
       select ?, 'summarise', ?::uuid, ?::int, moment, moment from (select turnlock.turnlock_now() as moment) one
     on conflict on constraint uq_memory_task_session do update
       set up_to_turn = greatest(t.up_to_turn, excluded.up_to_turn),
           attempts = case when t.due_at <= excluded.due_at then 0 else t.attempts end
     returning task_id`,
    [tenantId, sessionId, upToTurn],
  )) as [{ task_id: string }];
  return { taskId: row.task_id };
}

/**
 * Forgets a task that is done, in the transaction of `em`, whose tenant is the task's. One that reaches further than what was done stays, and
 * is due at once.
 */
export async function finishTask(em: EntityManager, task: MemoryTask): Promise<void> {
  const reached = task.kind === 'summarise' ? task.upToTurn : null;
  const given = [task.taskId, task.tenantId, reached];
  await em.execute(
    `delete from turnlock.agent_memory_tasks
       where task_id = ? and tenant_id = ? and coalesce(up_to_turn, -1) <= coalesce(?::int, -1)`,
    given,
  );
  // A statement of its own: one that began before somebody owed more, and waited for him, would find neither what was nor what is.
  await em.execute(
    `update turnlock.agent_memory_tasks set attempts = 0, due_at = turnlock.turnlock_now(), last_error_code = null
       where task_id = ? and tenant_id = ? and coalesce(up_to_turn, -1) > coalesce(?::int, -1)`,
    given,
  );
}

/** Leaves a task that failed for later: in 10 s after its first attempt, three times as long after each further one, up to 6 hours. */
export async function failTask(store: Store, task: MemoryTask, errorCode: string): Promise<void> {
  const delayMs = Math.min(FIRST_RETRY_MS * 3 ** (task.attempts - 1), LONGEST_RETRY_MS);
  await inPatientTransaction(store, { tenantId: task.tenantId }, async (em) => {
    await em.execute(
      `update turnlock.agent_memory_tasks set last_error_code = ?,
           due_at = turnlock.turnlock_now() + ?::bigint * interval '1 millisecond'
         where task_id = ? and tenant_id = ? and attempts = ?`,
      [errorCode, delayMs, task.taskId, task.tenantId, task.attempts],
    );
  });
}
