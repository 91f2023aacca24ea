import { systemEnvironment } from '../../../environment.ts';
import { type Agent, createRuntime, type Runtime } from '../../../index.ts';
import type { Limits } from '../../../limits.ts';
import { type Fault, type FaultKind, FaultPlan, type Passage } from '../../../testing/faults/fault-plan.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';

/** Where a fault strikes a process: at the n-th passage, from 1 on, of the points at which that fault may strike. */
export interface Strike {
  passage: number;
  fault: FaultKind;
}

/** One simulated process. */
export interface Process {
  runtime: Runtime;
  plan: FaultPlan;
  /** How often a fault of this kind could have struck since the process was up. */
  passagesFor(fault: FaultKind): number;
  close(): Promise<void>;
}

/**
 * A process dies anywhere. It loses its connection at a statement. It is paused outside of transactions, where it holds no lock, and
 * after its acts: before them only their receiver could tell a paused process from a dead one.
 */
const MAY_STRIKE: Record<FaultKind, RegExp> = {
  crash: /./,
  disconnect: /^(beforeBegin|after(Lock|Statement|Commit)|beforeCommit|commitSent)$/,
  timeout: /^(afterLock|afterStatement|beforeCommit)$/,
  stall: /^(beforeBegin|afterEffect)$/,
};

/** On PGlite whoever is about to begin has the one connection already: nobody else would get any further. */
function mayStrike(fault: FaultKind, { kind }: RuntimeDatabase): (passage: Passage) => boolean {
  const points = fault === 'stall' && kind === 'pglite' ? /^afterEffect$/ : MAY_STRIKE[fault];
  return ({ point }) => points.test(point);
}

/** Starts a process that knows the agent which `agentOf` makes for it. Faults count from when it is up. */
export async function startProcess(
  database: RuntimeDatabase,
  agentOf: (plan: FaultPlan) => Agent,
  strikes: readonly Strike[],
  limits: Partial<Limits>,
): Promise<Process> {
  let start = Number.POSITIVE_INFINITY;
  const faults = strikes.map(
    ({ passage, fault }): Fault => ({
      point: 'any',
      occurrence: passage,
      where: (at) => plan.passages.length > start && mayStrike(fault, database)(at),
      fault,
    }),
  );
  const plan: FaultPlan = new FaultPlan(faults, systemEnvironment, { endsTransactions: true });
  const { adapter, destroy } = database.mortalAdapter();
  const runtime = await createRuntime({
    database: adapter,
    agents: [agentOf(plan)],
    migrate: 'check',
    limits,
    onWarning: () => undefined,
    environment: plan,
  });
  start = plan.passages.length;
  return {
    runtime,
    plan,
    passagesFor: (fault) => plan.passages.slice(start).filter(mayStrike(fault, database)).length,
    async close() {
      plan.resume();
      if (!plan.isCrashed) await runtime.close();
      await destroy();
    },
  };
}
