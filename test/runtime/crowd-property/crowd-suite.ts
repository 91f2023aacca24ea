import { setImmediate as tick } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Environment, systemEnvironment } from '../../../environment.ts';
import { isTurnlockError, type Runtime, type Session } from '../../../index.ts';
import { describeProperties, runs } from '../../support/property.ts';
import type { RuntimeDatabase, RuntimeSuite } from '../../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { checkSession } from '../crash-property/facts-of.ts';

/** What one of several processes does to the one session, once all together have passed so many fault points. */
interface Deed {
  who: number;
  after: number;
  does: 'send' | 'repeat' | 'cancel' | 'settle' | 'runAgain' | 'recover' | 'read';
  /** Whether the calls of a message answer, or run out of time. */
  hangs: boolean[];
}

const deed: fc.Arbitrary<Deed> = fc.record({
  who: fc.integer({ min: 0, max: 1 }),
  after: fc.integer({ min: 0, max: 150 }),
  does: fc.constantFrom<Deed['does']>('send', 'send', 'repeat', 'cancel', 'settle', 'runAgain', 'recover', 'read'),
  hangs: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }),
});

/** What a crowd may be told: somebody else was first, or at work. */
const EXPECTED = new Set(['SESSION_BUSY', 'EVENT_ILLEGAL', 'EXECUTION_SETTLED', 'EXECUTION_RUNNING', 'LEASE_HELD']);

/** So many turns of the event loop without a passage mean that nothing goes on by itself. */
const IDLE_TURNS = 2_000;

/** Counts the passages of all processes, so that deeds fall between them. */
class Progress {
  #passages = 0;

  readonly environment: Environment = {
    ...systemEnvironment,
    faultPoint: () => {
      this.#passages += 1;
    },
  };

  async reaches(wanted: number): Promise<void> {
    for (let idle = 0, seen = this.#passages; this.#passages < wanted && idle < IDLE_TURNS; idle += 1) {
      await tick();
      if (this.#passages !== seen) idle = 0;
      seen = this.#passages;
    }
  }
}

/** What was accepted, counted by whoever was answered. */
class Witness {
  /** Texts of messages that began a run. */
  readonly accepted: string[] = [];
  /** How often a person asked for each execution to run again. */
  readonly again = new Map<string, number>();
  /** How often the tool acted for each execution. */
  readonly acts = new Map<string, number>();

  count(counts: Map<string, number>, executionId: string): void {
    counts.set(executionId, (counts.get(executionId) ?? 0) + 1);
  }
}

/** Several processes at once: whatever they do to one session, each is told the truth, and the session stays whole. */
export const describeCrowds =
  (share: number): RuntimeSuite =>
  (database) => {
    describeProperties('any crowd', () => {
      test('leaves a session whole, every message that was accepted in it once, and no act twice unasked', async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(deed, { minLength: 2, maxLength: 12 }), (deeds) => crowd(database(), deeds)),
          runs(10 * share),
        );
      });
    });
  };

async function crowd(database: RuntimeDatabase, deeds: readonly Deed[]): Promise<void> {
  const witness = new Witness();
  const charge = looseTool(
    'charge',
    ({ hangs }, { executionId, signal, attempt }) => {
      witness.count(witness.acts, executionId);
      if (!hangs || attempt > 1) return 'charged';
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
    { effect: 'nonRepeatable', timeoutMs: 20 },
  );
  const agent = scriptedAgent(
    (request) => {
      const { hangs } = JSON.parse(request.turns.findLast(({ role }) => role === 'user')!.text) as Deed;
      return eachRun({ toolCalls: hangs.map((hang, n) => call('charge', { n, hangs: hang })) }, 'done')(request);
    },
    [charge],
  );
  const open = (environment: Environment) => openRuntime(database, [agent], { environment });
  const home = await open(systemEnvironment);
  const { sessionId } = await openSession(home, agent);
  const progress = new Progress();
  const runtimes = [await open(progress.environment), await open(progress.environment)];
  const handles = await Promise.all(runtimes.map((runtime) => runtime.session({ tenantId: 'tenant', sessionId })));
  await Promise.all(
    deeds.map(async (each, index) => {
      await progress.reaches(each.after);
      await perform(each, index, { handle: handles[each.who]!, runtime: runtimes[each.who]!, witness });
    }),
  );
  await comeToRest(runtimes[0]!, handles[0]!, database);
  const history = await handles[1]!.history();
  const messages = history.filter(({ role }) => role === 'user').map(({ content }) => content);
  expect(messages.sort()).toEqual(witness.accepted.sort());
  for (const [executionId, count] of witness.acts) {
    expect(count).toBeLessThanOrEqual(1 + (witness.again.get(executionId) ?? 0));
  }
  await checkSession(database, handles[1]!);
  for (const runtime of [home, ...runtimes]) await runtime.close();
}

async function perform(
  { does, hangs }: Deed,
  index: number,
  { handle, runtime, witness }: { handle: Session; runtime: Runtime; witness: Witness },
): Promise<void> {
  try {
    if (does === 'send' || does === 'repeat') {
      const text = JSON.stringify(does === 'send' ? { hangs, index } : { hangs: [false] });
      const run = await handle.send(text, { messageId: does === 'send' ? `m${index}` : 'the same' });
      if (!run.repeated) witness.accepted.push(text);
    }
    if (does === 'cancel') await handle.cancel({ by: 'ann' });
    if (does === 'recover') await runtime.recover();
    if (does === 'read') await handle.history();
    if (does !== 'settle' && does !== 'runAgain') return;
    const [asked] = (await handle.status()).awaiting;
    if (asked === undefined) return;
    // Counted before the answer: the tool may act before the decision's answer is here.
    if (does === 'runAgain') witness.count(witness.again, asked.executionId);
    await handle.settle(
      asked.executionId,
      does === 'settle' ? { outcome: 'succeeded', by: 'bob' } : { outcome: 'runAgain', by: 'bob' },
    );
  } catch (error) {
    if (!isTurnlockError(error) || !EXPECTED.has(error.code)) throw error;
  }
}

/** A person answers whatever is asked, and a sweep finds whatever was left. */
async function comeToRest(runtime: Runtime, session: Session, database: RuntimeDatabase): Promise<void> {
  for (;;) {
    const { state, awaiting, runId } = await session.status();
    if (state === 'IDLE') return;
    expect(runId).not.toBeNull();
    if (state === 'AWAITING_INPUT') {
      const run = await session.settle(awaiting[0]!.executionId, { outcome: 'succeeded', by: 'bob' });
      await run.result();
    } else {
      await database.moveClock(LONG_MS);
      await runtime.recover();
      await tick();
    }
  }
}
