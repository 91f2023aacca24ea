import { randomUUID } from 'node:crypto';
import { isTurnlockError, type Run, type RunResult, type Runtime, type Session } from '../../../index.ts';
import { type Fault, FaultPlan } from '../../support/fault-plan.ts';
import { openMortal } from '../../support/runtime-crash.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';
import { openRuntime } from '../../support/runtime-open.ts';
import type { Scenario } from './scenario.ts';
import { failureOf, mortalAgent, outputOf, World } from './world.ts';

/** Where a fault strikes: the n-th passage, of any fault point, after the process is up. */
export interface Strike {
  passage: number;
  fault: Exclude<Fault['fault'], 'stall'>;
}

/** What is left of a session once all its runs rest. */
export interface Played {
  session: Session;
  world: World;
  /** Passages of fault points of the first process, once it was up. */
  passages: number;
  /** Processes that died. */
  deaths: number;
}

const HOUR_MS = 3_600_000;

class Died extends Error {}

interface Process {
  runtime: Runtime;
  plan: FaultPlan;
}

/**
 * Plays a scenario as a client does who cannot be stopped: what was interrupted is sent again with the same ids, to the next process,
 * which first recovers what the dead one left. One strike hits each process, until there are none left.
 */
export async function play(database: RuntimeDatabase, script: Scenario, strikes: readonly Strike[]): Promise<Played> {
  const world = new World();
  const name = `agent-${randomUUID()}`;
  const left = [...strikes];
  let deaths = 0;
  let process = await start();
  const { plan: firstPlan } = process;
  const passagesAtStart = firstPlan.passages.length;

  async function start(): Promise<Process> {
    const strike = left.shift();
    let isUp = false;
    const faults: Fault[] = strike
      ? [{ point: 'any', occurrence: strike.passage, where: () => isUp, fault: strike.fault }]
      : [];
    const limits = { maxParallelTools: script.maxParallelTools, maxRecoveries: 1_000, maxToolAttempts: 1_000 };
    let plan: FaultPlan | undefined;
    const agent = mortalAgent(name, script, world, () => plan!);
    const opened = await openMortal(database, [agent], faults, limits);
    plan = opened.plan;
    isUp = true;
    return opened;
  }

  /** Does `work` in the present process; when that one dies, in the next one, from the start. */
  async function persist<Result>(work: (runtime: Runtime) => Promise<Result>): Promise<Result> {
    for (;;) {
      const { runtime, plan } = process;
      const dying = plan.struck.then(() =>
        plan.isCrashed ? Promise.reject(new Died()) : new Promise<never>(() => undefined),
      );
      try {
        return await Promise.race([work(runtime), dying]);
      } catch (error) {
        if (plan.isCrashed) {
          deaths += 1;
          await database.moveClock(HOUR_MS);
          process = await start();
        } else if (isTurnlockError(error) && error.retryable) {
          await database.moveClock(HOUR_MS);
        } else {
          throw error;
        }
      }
      dying.catch(() => undefined);
    }
  }

  for (let index = 0; index < script.runs.length; index += 1) {
    await persist(async (runtime) => {
      await runtime.recover();
      const session = await runtime.createSession({
        agent: name,
        tenantId: 'tenant',
        userId: 'user',
        externalId: name,
      });
      const run = await session.send(`message ${index}`, { messageId: `m${index}` });
      const { state } = await untilRest(session, run, world);
      if (state !== 'IDLE') throw new Error(`the run rests in ${state}`);
    });
  }
  const passages = firstPlan.passages.length - passagesAtStart;
  const after = await openRuntime(database, [mortalAgent(name, script, world, () => new FaultPlan())]);
  const session = await after.session({ tenantId: 'tenant', externalId: name });
  return { session, world, passages, deaths };
}

/** A person who is asked looks at the world and says what is true. */
async function untilRest(session: Session, run: Run, world: World): Promise<RunResult> {
  let result = await run.result();
  while (result.state === 'AWAITING_INPUT') {
    const [asked] = result.awaiting;
    const { executionId, toolName, params, idempotencyKey } = asked!;
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
