import { setTimeout as pause } from 'node:timers/promises';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { createRuntime, isTurnlockError, type Runtime } from '../../../index.ts';
import { parentChannel } from '../../support/child-channel.ts';
import { type RaceTask, raceAgent } from './race-agent.ts';

/** What one process of a race is to do, at the moment `at` of the host's clock. */
export interface RaceMove {
  action: 'approve' | 'deny' | 'expire' | 'cancel' | 'settle';
  sessionId: string;
  executionId: string;
  by: string;
  at: number;
}

async function act(runtime: Runtime, { action, sessionId, executionId, by }: RaceMove): Promise<unknown> {
  const session = await runtime.session({ tenantId: 'tenant', sessionId });
  switch (action) {
    case 'approve':
      return (await session.approve(executionId, { by })).result();
    case 'deny':
      return (await session.deny(executionId, { by, reason: 'no' })).result();
    case 'cancel':
      return session.cancel({ by });
    case 'settle':
      return (await session.settle(executionId, { outcome: 'succeeded', output: by, by })).result();
    case 'expire':
      return runtime.recover();
  }
}

const task = JSON.parse(process.argv[2] ?? '') as RaceTask;
const channel = parentChannel();
await using runtime = await createRuntime({
  database: postgres(task.url),
  agents: [raceAgent(task)],
  limits: { graceMs: 0 },
  onWarning: () => undefined,
});
await channel.say('ready');
for (;;) {
  const move = (await channel.hear('move')) as unknown as RaceMove;
  await pause(move.at - Date.now());
  const code = await act(runtime, move).then(
    () => null,
    (error: unknown) => (isTurnlockError(error) ? error.code : String(error)),
  );
  await channel.say('moved', { code });
}
