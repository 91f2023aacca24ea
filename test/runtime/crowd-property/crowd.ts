import { setImmediate as tick } from 'node:timers/promises';
import pg from 'pg';
import { type Environment, systemEnvironment } from '../../../environment.ts';
import { isTurnlockError, type Run, type Runtime, type Session } from '../../../index.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession } from '../../support/runtime-open.ts';
import { waitFor } from '../../support/wait-for.ts';
import { CrowdWorld, crowdAgent } from './crowd-world.ts';
import { checkCrowd, type Letter } from './oracle.ts';
import { PROCESSES, type Schedule, type Step } from './step.ts';

/** What whoever does each deed may be told: somebody else was first, or it does not fit now. */
const MAY_BE_TOLD: Record<Step['does'], readonly string[]> = {
  send: ['SESSION_BUSY', 'EVENT_ILLEGAL', 'SESSION_COMPLETED', 'MESSAGE_CONFLICT'],
  settle: ['EVENT_ILLEGAL', 'EXECUTION_SETTLED', 'EXECUTION_RUNNING', 'OUTCOME_INVALID'],
  retry: ['EVENT_ILLEGAL', 'SESSION_BUSY'],
  complete: ['EVENT_ILLEGAL'],
  release: [],
  start: [],
  stop: [],
  lapse: [],
  cancel: [],
  recover: [],
  resume: [],
  read: [],
};

/** So many turns of the event loop without a passage mean that nothing goes on by itself. */
const IDLE_TURNS = 1_500;

/** How long anybody may take who is not held up, in milliseconds: only what waits for ever takes longer. */
const PATIENCE_MS = 10_000;

/** Counts the fault points that all processes pass, and makes them pause there. */
class Progress {
  /** Turns of the event loop that a process pauses, at one fault point after the other. */
  pace: readonly number[] = [];
  #passages = 0;

  readonly environment: Environment = {
    ...systemEnvironment,
    faultPoint: async () => {
      const turns = this.pace[this.#passages % this.pace.length] ?? 0;
      this.#passages += 1;
      for (let left = turns; left > 0; left -= 1) await tick();
    },
  };

  /** Waits until `passages` more fault points are passed, or nothing goes on. */
  async passes(passages: number): Promise<void> {
    const wanted = this.#passages + passages;
    for (let idle = 0, seen = this.#passages; this.#passages < wanted && idle < IDLE_TURNS; idle += 1) {
      await tick();
      if (this.#passages !== seen) idle = 0;
      seen = this.#passages;
    }
  }
}

/** Several processes that know one agent, for one session after the other. */
export class Crowd {
  readonly #database: RuntimeDatabase;
  readonly #progress = new Progress();
  readonly #worlds = new Map<string, CrowdWorld>();
  readonly #agent = crowdAgent((sessionId) => this.#worlds.get(sessionId)!);
  #runtimes: Runtime[] = [];

  constructor(database: RuntimeDatabase) {
    this.#database = database;
  }

  /** The first process gives signs of life often, the others never within a test. Leases end when the clock is moved. */
  async open(): Promise<void> {
    const limits = { maxRecoveries: 1_000, maxToolAttempts: 1_000, leaseMs: 60_000, heartbeatMs: 50_000 };
    const { environment } = this.#progress;
    for (let process = 0; process < PROCESSES; process += 1) {
      const own = process === 0 ? { ...limits, heartbeatMs: 20 } : limits;
      this.#runtimes.push(await openRuntime(this.#database, [this.#agent], { environment, limits: own }));
    }
  }

  async close(): Promise<void> {
    for (const world of this.#worlds.values()) world.calm();
    for (const runtime of this.#runtimes) await runtime.close();
  }

  /** Does what the schedule says, lets everybody come to rest, and holds what is left against what was acknowledged. */
  async play({ steps, pace }: Schedule): Promise<void> {
    const world = new CrowdWorld();
    const runtimes = this.#runtimes;
    const { sessionId, tenantId } = await openSession(runtimes[0]!, this.#agent);
    this.#worlds.set(sessionId, world);
    const handles = await Promise.all(runtimes.map((runtime) => runtime.session({ tenantId, sessionId })));
    const scene: Scene = { database: this.#database, world, runtimes, handles, letters: [], moment: 0 };
    this.#progress.pace = pace;
    const deeds: Promise<void>[] = [];
    let done = 0;
    for (const [index, step] of steps.entries()) {
      const deed = perform(scene, step, index).finally(() => {
        done += 1;
      });
      deed.catch(() => undefined);
      deeds.push(deed);
      await this.#progress.passes(step.gap);
    }
    world.calm();
    await waitFor(() => done === deeds.length, { for: 'every deed to end', timeoutMs: PATIENCE_MS });
    await Promise.all(deeds);
    await comeToRest(scene);
    await checkCrowd(scene);
    for (const runtime of runtimes) await runtime.stop();
  }
}

/** Everything that the deeds of one schedule share. */
export interface Scene {
  database: RuntimeDatabase;
  world: CrowdWorld;
  runtimes: Runtime[];
  handles: Session[];
  letters: Letter[];
  /** Rises whenever a message is begun to be sent or is acknowledged. */
  moment: number;
}

async function perform(scene: Scene, step: Step, index: number): Promise<void> {
  try {
    await act(scene, step, index);
  } catch (error) {
    if (!isTurnlockError(error) || !MAY_BE_TOLD[step.does].includes(error.code)) throw error;
  }
}

async function act(scene: Scene, step: Step, index: number): Promise<void> {
  const { world, database } = scene;
  const handle = scene.handles[step.by]!;
  switch (step.does) {
    case 'send':
      return send(scene, step, index);
    case 'release':
      return world.release(step.all);
    case 'lapse':
      return database.moveClock(LONG_MS);
    case 'start':
      return void (await scene.runtimes[step.by]!.start());
    case 'stop':
      return scene.runtimes[step.by]!.stop();
    case 'cancel':
      return handle.cancel({ by: 'ann' });
    case 'recover':
      return void (await scene.runtimes[step.by]!.recover());
    case 'resume':
      return void (await handle.resume());
    case 'retry':
      return void (await handle.retry());
    case 'complete':
      return handle.complete();
    case 'read':
      return void (await handle.history());
    case 'settle':
      return settle(scene, handle, step.outcome);
  }
}

async function settle({ world }: Scene, handle: Session, outcome: 'succeeded' | 'failed' | 'runAgain'): Promise<void> {
  const [asked] = (await handle.status()).awaiting;
  if (asked === undefined) return;
  // Counted before the answer: the tool may act before the decision's answer is here.
  if (outcome === 'runAgain') world.count(world.again, asked.executionId);
  await handle.settle(
    asked.executionId,
    outcome === 'failed' ? { outcome, by: 'bob', reason: 'no' } : { outcome, by: 'bob' },
  );
}

function tellMoment(scene: Scene): number {
  scene.moment += 1;
  return scene.moment;
}

async function send(scene: Scene, step: Extract<Step, { does: 'send' }>, index: number): Promise<void> {
  const { id, way, whenBusy, wish, by } = step;
  const text = JSON.stringify({ from: id ?? `step ${index}`, wish });
  const letter: Letter = { id, text, way, whenBusy, begunAt: tellMoment(scene), ackedAt: null, runId: null };
  scene.letters.push(letter);
  const acknowledge = (runId: string, run?: Run) => Object.assign(letter, { ackedAt: tellMoment(scene), runId, run });
  const handle = scene.handles[by]!;
  const options = { whenBusy, ...(id === null ? {} : { messageId: id }) };
  try {
    if (way === 'handle') {
      const run = await handle.send(text, options);
      acknowledge(run.runId, run);
      return;
    }
    const client = new pg.Client({ connectionString: scene.database.url });
    await client.connect();
    try {
      if (way === 'sql') {
        const { rows } = await client.query('SELECT * FROM turnlock.enqueue($1, $2, $3, $4, $5)', [
          handle.tenantId,
          handle.sessionId,
          id,
          text,
          whenBusy,
        ]);
        acknowledge(rows[0].enqueued_run_id);
        return;
      }
      await client.query('BEGIN');
      const run = await handle.send(text, { ...options, transaction: client });
      await tick();
      await client.query(way === 'committed' ? 'COMMIT' : 'ROLLBACK');
      if (way === 'committed') acknowledge(run.runId, run);
    } finally {
      await client.end();
    }
  } catch (error) {
    const code = (error as { code?: string }).code;
    // What the functions raise, by SQL.
    if (code === 'TL063') letter.refused = 'MESSAGE_CONFLICT';
    else if (code === 'TL050') letter.refused = 'SESSION_COMPLETED';
    else if (isTurnlockError(error)) letter.refused = error.code;
    if (code?.startsWith('TL0')) return;
    throw error;
  }
}

/** A person answers whatever is asked, and a sweep finds whatever was left: all must come to rest, and nothing may wait then. */
async function comeToRest(scene: Scene): Promise<void> {
  const { database, handles, runtimes } = scene;
  const session = handles[0]!;
  await database.moveClock(LONG_MS);
  await waitFor(
    async () => {
      await runtimes[1]!.recover();
      const { state } = await session.status();
      if (state === 'AWAITING_INPUT') await perform(scene, { does: 'settle', outcome: 'succeeded', by: 0, gap: 0 }, 0);
      if (state === 'FAILED') await perform(scene, { does: 'retry', by: 0, gap: 0 }, 0);
      return owesNothing(scene);
    },
    { for: 'the crowd to come to rest', timeoutMs: PATIENCE_MS, everyMs: 5 },
  );
}

/** Whether the session is at rest with no message that waits and nothing that a sweep finds: one look at all of it. */
async function owesNothing({ database, handles: [session] }: Scene): Promise<boolean> {
  const [row] = await database.query(
    `SELECT current_state IN ('IDLE', 'COMPLETED')
       AND NOT EXISTS (SELECT FROM turnlock.agent_inbox i WHERE i.session_id = s.session_id AND rejected_at IS NULL)
       AND NOT EXISTS (SELECT FROM turnlock.sweep_sessions(1000) w WHERE w.session_id = s.session_id) AS rests
      FROM turnlock.agent_sessions s WHERE session_id = $1`,
    [session!.sessionId],
  );
  return row.rests;
}
