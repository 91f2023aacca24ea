import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { createRuntime } from '../../../index.ts';
import { parentChannel } from '../../support/child-channel.ts';
import { KILL_LIMITS, workerAgent } from '../kill/worker-agent.ts';

/** A worker that is a process: it works until it is killed, and sends what it is told to. */

/** What it is told. */
export interface WorkerProcessTask {
  url: string;
  /** File to which every act appends a line. */
  ledger: string;
  concurrency: number;
  /** Milliseconds before and after each act, and before each answer of the model: time in which it may be killed. */
  pauseMs: number;
}

const task = JSON.parse(process.argv[2] ?? '') as WorkerProcessTask;
const parent = parentChannel();
const agent = workerAgent({
  act: (line) => appendFileSync(task.ledger, `${JSON.stringify({ ...line, pid: process.pid })}\n`),
  stopAt: () => pause(task.pauseMs),
});
const runtime = await createRuntime({
  database: postgres(task.url, { listen: task.url }),
  agents: [agent],
  migrate: 'check',
  limits: { ...KILL_LIMITS, sweepMs: 200, maxRecoveries: 1_000 },
  onWarning: () => undefined,
});
await runtime.start({
  concurrency: task.concurrency,
  onSession: (recovery) => void parent.say('session', { ...recovery }),
});
await parent.say('ready');
for (;;) {
  const { sessionId, text } = (await parent.hear('send')) as unknown as { sessionId: string | null; text: string };
  if (sessionId === null) {
    await parent.say('allSent');
    continue;
  }
  const session = await runtime.session({ tenantId: 'tenant', sessionId });
  // Busy by now, or the same message through another process: the test looks at what became of it.
  await session.send(text, { messageId: text }).catch(() => undefined);
}
