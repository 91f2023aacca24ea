import type { Agent, Recovery, Runtime } from '../../index.ts';
import type { Limits } from '../../limits.ts';
import { type Fault, FaultPlan } from '../../testing/faults/fault-plan.ts';
import { atTestEnd } from './at-test-end.ts';
import type { RuntimeDatabase } from './runtime-database.ts';
import { LONG_MS, type OpenOptions, openRuntime } from './runtime-open.ts';

/** A runtime as a process of its own, in which what is planned goes wrong. At the test's end it is closed, if it still lives. */
export async function openMortal(
  database: RuntimeDatabase,
  agents: readonly Agent[],
  faults: readonly Fault[] = [],
  limits: Partial<Limits> = {},
  more: Pick<OpenOptions, 'telemetry' | 'log'> = {},
): Promise<{ runtime: Runtime; plan: FaultPlan }> {
  const plan = new FaultPlan(faults);
  const { adapter, destroy } = database.mortalAdapter();
  const runtime = await openRuntime(database, agents, { environment: plan, limits, adapter, ...more });
  void plan.struck.then(() => (plan.isCrashed ? destroy() : undefined));
  atTestEnd(async () => {
    plan.resume();
    if (!plan.isCrashed) await runtime.close();
    await destroy();
  });
  return { runtime, plan };
}

/** Another process finds the sessions of a dead one, long after every lease and deadline, and brings them to rest. */
export async function recoverLater(
  database: RuntimeDatabase,
  agents: readonly Agent[],
  limits: Partial<Limits> = {},
  more: Pick<OpenOptions, 'telemetry' | 'log'> = {},
): Promise<{ runtime: Runtime; recoveries: Recovery[] }> {
  await database.moveClock(LONG_MS);
  const runtime = await openRuntime(database, agents, { limits, ...more });
  return { runtime, recoveries: await runtime.recover() };
}
