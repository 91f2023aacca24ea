import { inPatientTransaction } from '../patient-transaction.ts';
import type { Store } from '../session-transaction.ts';
import type { MemoryTask } from './memory-tasks.ts';

/** Gives a claimed task back of which a part is done: it is due at once, and what it has tried counts no more. */
export async function continueTask(store: Store, { taskId, tenantId, attempts }: MemoryTask): Promise<void> {
  await inPatientTransaction(store, { tenantId }, (em) =>
    em.execute(
      `update turnlock.agent_memory_tasks set due_at = turnlock.turnlock_now(), attempts = 0, last_error_code = null
         where task_id = ? and tenant_id = ? and attempts = ?`,
      [taskId, tenantId, attempts],
    ),
  );
}
