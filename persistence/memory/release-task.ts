import { inPatientTransaction } from '../patient-transaction.ts';
import type { Store } from '../session-transaction.ts';
import type { MemoryTask } from './memory-tasks.ts';

/** Gives a claimed task back, as if it had not been claimed: the next process that looks has it. Where that fails it waits for its time. */
export async function releaseTask(store: Store, { taskId, tenantId, attempts }: MemoryTask): Promise<void> {
  await inPatientTransaction(store, { tenantId }, (em) =>
    em.execute(
      `update turnlock.agent_memory_tasks set due_at = turnlock.turnlock_now(), attempts = attempts - 1
         where task_id = ? and tenant_id = ? and attempts = ?`,
      [taskId, tenantId, attempts],
    ),
  ).catch(() => undefined);
}
