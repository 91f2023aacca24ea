import { AsyncLocalStorage } from 'node:async_hooks';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { type FaultInfo, type FaultPoint, systemEnvironment } from '../../../environment.ts';
import { createRuntime } from '../../../index.ts';
import { parentChannel } from '../../support/child-channel.ts';
import { agentsOf } from './agents.ts';
import { type KillTask, paymentsStage } from './kill-task.ts';
import { AFTER_ACT, EFFECTS, Way } from './places.ts';

/** A process that drives one session of each effect class, says when each has come to its place, and waits there to be killed. */

const task = JSON.parse(process.argv[2] ?? '') as KillTask;
const parent = parentChannel();
const ways = new AsyncLocalStorage<Way>();

async function faultPoint(point: FaultPoint, { executionId, detail, statement }: FaultInfo): Promise<void> {
  const passage = Object.entries({ executionId, detail, statement }).filter(([, value]) => value !== undefined);
  if (ways.getStore()?.placeOf(point, Object.fromEntries(passage)) !== task.place) return;
  await parent.say('stopped');
  await new Promise(() => undefined);
}

const stage = paymentsStage(task.payments, {
  noteAnswer: () => ways.getStore()?.noteAnswer(),
  async acted(effect, _, executionId) {
    if (effect === 'transactional') await parent.say('wrote');
    await faultPoint('insideEffect', { executionId, detail: AFTER_ACT });
  },
});
const runtime = await createRuntime({
  database: postgres(task.database),
  agents: agentsOf(stage),
  migrate: 'check',
  limits: { leaseMs: 600_000 },
  onWarning: () => undefined,
  environment: { ...systemEnvironment, faultPoint },
});
for (const effect of EFFECTS) {
  const order = task.orders[effect];
  const session = await runtime.createSession({
    agent: effect,
    tenantId: 'tenant',
    userId: 'user',
    externalId: order,
  });
  await ways.run(new Way(), () => session.send(order));
}
