import { expect, test } from 'vitest';
import { claimMemoryTasks, finishTask, type MemoryTask, oweSummary } from '../../../persistence/memory/memory-tasks.ts';
import { inTransaction } from '../../../persistence/session-transaction.ts';
import { insertSession, openStore } from '../../support/open-store.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { waitForLockWait } from '../../support/wait-for-lock-wait.ts';
import { describeMemoryStore } from './store-suite.ts';

onPostgres(describeMemoryStore);

onPostgres((database) => {
  test('what is owed further while a task is finished is due at once, whichever of the two waits for the other', async () => {
    const store = await openStore(database());
    const session = await insertSession(store);
    const owe = (upToTurn: number, meanwhile: () => Promise<unknown> = async () => undefined) =>
      inTransaction(store, session, async (em) => {
        const { taskId } = await oweSummary(em, session, upToTurn);
        await meanwhile();
        return taskId;
      });
    const taskId = await owe(4);
    const query = {
      max: 1,
      kinds: ['summarise'],
      agents: [session.agentName],
      leaseMs: 60_000,
      taskIds: [taskId],
    } as const;
    const [task] = (await claimMemoryTasks(store, query)) as [MemoryTask];
    let finished: Promise<void> = Promise.resolve();
    await owe(9, async () => {
      finished = inTransaction(store, session, (em) => finishTask(em, task));
      await waitForLockWait(database().url);
    });
    await finished;
    expect(await claimMemoryTasks(store, query)).toMatchObject([{ taskId, upToTurn: 9, attempts: 1 }]);
  });
});
