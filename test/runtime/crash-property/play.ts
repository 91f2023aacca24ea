import { randomUUID } from 'node:crypto';
import type { Run, RunResult, Runtime, Session } from '../../../index.ts';
import type { FaultKind } from '../../../testing/faults/fault-plan.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';
import { checkSession, factsOf } from './facts-of.ts';
import { type Process, type Strike, startProcess } from './process.ts';
import type { Scenario } from './scenario.ts';
import { failureOf, mortalAgent, outputOf, World } from './world.ts';

/** What is left of a session once all its runs rest. */
export interface Played {
  facts: Awaited<ReturnType<typeof factsOf>>;
  world: World;
  /** How often a fault could have struck the first process. */
  passagesFor(fault: FaultKind): number;
  /** Processes that died or were paused. */
  losses: number;
}

const HOUR_MS = 3_600_000;

/** However often it is struck, a run is not given up. */
const ENDURING = { maxRecoveries: 1_000, maxToolAttempts: 1_000, modelBackoffMs: 0, graceMs: 0 };

/**
 * Plays a scenario as a client does who cannot be stopped: what its process did not finish is sent again with the same ids, to the next
 * process, which first recovers what it finds. `lives` has the strikes of one process after the other; further ones are not struck.
 */
export async function play(
  database: RuntimeDatabase,
  script: Scenario,
  lives: readonly (readonly Strike[])[],
): Promise<Played> {
  const world = new World();
  const name = `agent-${randomUUID()}`;
  const processes: Process[] = [];
  const limits = { ...ENDURING, maxParallelTools: script.maxParallelTools };
  const start = (strikes: readonly Strike[]) =>
    startProcess(database, (plan) => mortalAgent(name, script, world, plan), strikes, limits);
  const next = async (): Promise<Process> => {
    const process = await start(lives[processes.length] ?? []);
    processes.push(process);
    return process;
  };
  let present = await next();
  for (let index = 0; index < script.runs.length; index += 1) {
    while (!(await finishes(present, (runtime) => playRun(runtime, name, index, world)))) {
      await database.moveClock(HOUR_MS);
      const paused = present;
      present = await next();
      paused.plan.resume();
    }
  }
  const losses = processes.length - 1;
  const last = await start([]);
  const session = await last.runtime.session({ tenantId: 'tenant', externalId: name });
  for (const process of processes) await process.close();
  const facts = await factsOf(database, session);
  await checkSession(database, session);
  await last.close();
  return { facts, world, passagesFor: (fault) => processes[0]!.passagesFor(fault), losses };
}

/** Whether the process lived long enough for the work. What a paused one still says is of no interest. */
async function finishes({ runtime, plan }: Process, work: (runtime: Runtime) => Promise<void>): Promise<boolean> {
  const working = work(runtime).then(
    () => true,
    (error: unknown) => {
      if (plan.isCrashed) return false;
      throw error;
    },
  );
  working.catch(() => undefined);
  const isLost = plan.struck.then(() =>
    plan.isCrashed || plan.isPaused ? false : new Promise<never>(() => undefined),
  );
  return await Promise.race([working, isLost]);
}

async function playRun(runtime: Runtime, name: string, index: number, world: World): Promise<void> {
  await runtime.recover();
  const session = await runtime.createSession({ agent: name, tenantId: 'tenant', userId: 'user', externalId: name });
  const run = await session.send(`message ${index}`, { messageId: `m${index}` });
  const { state } = await untilRest(session, run, world);
  if (state !== 'IDLE') throw new Error(`the run rests in ${state}`);
}

/** A person who is asked looks at the world and says what is true. */
async function untilRest(session: Session, run: Run, world: World): Promise<RunResult> {
  let result = await run.result();
  while (result.state === 'AWAITING_INPUT') {
    const { executionId, toolName, params, idempotencyKey } = result.awaiting[0]!;
    const by = 'person';
    const didFail = (params as { fails: boolean }).fails;
    const settled =
      world.countOf(idempotencyKey) === 0
        ? await session.settle(executionId, { outcome: 'runAgain', by })
        : didFail
          ? await session.settle(executionId, { outcome: 'failed', reason: failureOf(toolName), by })
          : await session.settle(executionId, { outcome: 'succeeded', output: outputOf(toolName, params), by });
    result = await settled.result();
  }
  return result;
}
