import { appendFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { seededRandom } from '../../../adapters/cli/rehearse/seeded-random.ts';
import { postgres } from '../../../adapters/databases/postgres.ts';
import type { Session } from '../../../index.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { spawnChild } from '../../support/child.ts';
import { seed } from '../../support/property.ts';
import { onPostgres, type RuntimeDatabase } from '../../support/runtime-database.ts';
import { openRuntime } from '../../support/runtime-open.ts';
import type { Child } from '../../support/start-child.ts';
import { waitFor } from '../../support/wait-for.ts';
import { checkSession } from '../crash-property/facts-of.ts';
import { killScene, openByExternalId, readLedger } from '../kill/kill-scene.ts';
import { KILL_LIMITS, workerAgent } from '../kill/worker-agent.ts';
import { allRest, rowsOf } from './owed.ts';
import type { WorkerProcessTask } from './worker.child.ts';

/** How long processes are killed in the second test, in milliseconds. */
const KILLING_MS = 8_000;

onPostgres((database) => {
  async function ledgerFile(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'turnlock-workers-'));
    atTestEnd(() => rm(folder, { recursive: true, force: true }));
    return join(folder, 'ledger');
  }

  function startWorker(task: Omit<WorkerProcessTask, 'url' | 'concurrency'>): Child {
    const args = [JSON.stringify({ url: database().url, concurrency: 4, ...task } satisfies WorkerProcessTask)];
    return spawnChild('test/runtime/worker/worker.child.ts', { args });
  }

  test('C02 C19 what a killed process left is brought to rest by workers, though nobody calls recover', async () => {
    const { kill, resume, acts } = await killScene({
      location: { url: database().url },
      adapter: () => postgres(database().url),
    });
    await kill({ sessions: { note: 'note 1', charge: 'charge 2' }, stopAt: 'afterAct' }, 2);
    expect(acts()).toHaveLength(2);
    const ledger = await ledgerFile();
    const workers = [1, 2].map(() => startWorker({ ledger, pauseMs: 0 }));
    for (const worker of workers) await worker.next('ready');
    const reader = await resume();
    const note = await openByExternalId(reader, 'note');
    const charge = await openByExternalId(reader, 'charge');
    await allRest(database(), [note], 'IDLE', { timeoutMs: 30_000 });
    await allRest(database(), [charge], 'AWAITING_INPUT', { timeoutMs: 30_000 });
    expect(await rowsOf(database(), [note, charge])).toMatchObject([
      { takeovers: 1, recoveries: 1 },
      { takeovers: 1, recoveries: 1 },
    ]);
    const repeats = readLedger(ledger);
    expect(repeats).toMatchObject([{ tool: 'note', key: acts().find(({ n }) => n === 1)!.key }]);
    expect(repeats[0]!.attempt).toBeGreaterThan(1);
  });

  test('C05 C19 C21 three workers, eight sessions, random kills: each session whole, tokens only rise, no act twice that must not be', async () => {
    const random = seededRandom(seed);
    const ledger = await ledgerFile();
    const task = { ledger, pauseMs: 20 };
    const workers = [1, 2, 3].map(() => startWorker(task));
    const reader = await openRuntime(
      database(),
      [
        workerAgent({
          act: (line) => appendFileSync(ledger, `${JSON.stringify(line)}\n`),
          stopAt: async () => undefined,
        }),
      ],
      { limits: KILL_LIMITS },
    );
    const sessions: Session[] = [];
    for (let index = 0; index < 8; index += 1) {
      const options = { agent: 'worker', tenantId: 'tenant', userId: 'user', externalId: `many ${index}` };
      sessions.push(await reader.createSession(options));
    }
    for (const worker of workers) await worker.next('ready');
    let kills = 0;
    const endsAt = performance.now() + KILLING_MS;
    while (performance.now() < endsAt) {
      for (const session of await awaiting(database(), sessions)) await settleAll(session, ledger);
      for (const { sessionId, text } of await whatIsNext(database(), sessions)) {
        random.pick(workers).send({ type: 'send', sessionId, text });
      }
      await pause(random.int(50, 400));
      if (!random.chance(0.5)) continue;
      const victim = random.int(0, workers.length - 1);
      await workers[victim]!.kill();
      workers[victim] = startWorker(task);
      kills += 1;
    }
    // The faults stop, and what the last workers were told to send is sent; now everything must come to rest.
    for (const worker of workers) worker.send({ type: 'send', sessionId: null });
    for (const worker of workers) await worker.next('allSent', { timeoutMs: 60_000 });
    await waitFor(
      async () => (await rowsOf(database(), sessions)).every(({ state, holder }) => isAtRest(state) && holder === null),
      { for: 'every session to rest', timeoutMs: 60_000, everyMs: 100 },
    );
    for (const worker of workers) await worker.kill();

    let takeovers = 0;
    for (const [index, row] of (await rowsOf(database(), sessions)).entries()) {
      takeovers += row.takeovers;
      const session = sessions[index]!;
      const history = await session.history();
      expect(history.map(({ turnIndex }) => turnIndex)).toEqual(history.map((_, turn) => turn));
      await settleAll(session, ledger);
      await checkSession(database(), session);
    }
    const charges = chargesIn(ledger);
    expect(new Set(charges).size).toBe(charges.length);
    expect(kills).toBeGreaterThan(0);
    expect(takeovers).toBeGreaterThan(0);
    expect(charges.length).toBeGreaterThan(0);
  });
});

const isAtRest = (state: string) => state === 'IDLE' || state === 'AWAITING_INPUT';

/** The next message of each session that takes one: the number of messages so far stands in it, so that a repeat is known as such. */
async function whatIsNext(database: RuntimeDatabase, sessions: readonly Session[]) {
  const rows = await database.query(
    `SELECT session_id, (SELECT count(*)::int FROM turnlock.agent_turns t WHERE t.session_id = s.session_id AND role = 'user') AS sent
      FROM turnlock.agent_sessions s WHERE session_id = ANY ($1) AND current_state = 'IDLE'`,
    [sessions.map(({ sessionId }) => sessionId)],
  );
  return rows.map(({ session_id, sent }) => ({
    sessionId: session_id as string,
    text: `note ${3 * sent}, charge ${3 * sent + 1}, note ${3 * sent + 2}`,
  }));
}

const chargesIn = (ledger: string) =>
  readLedger(ledger)
    .filter(({ tool }) => tool === 'charge')
    .map(({ key }) => key);

/** Those that wait for a person. */
async function awaiting(database: RuntimeDatabase, sessions: readonly Session[]): Promise<Session[]> {
  const rows = await rowsOf(database, sessions);
  return sessions.filter((_, index) => rows[index]!.state === 'AWAITING_INPUT');
}

/** A person looks at the world and says what is true of each call whose outcome nobody knows. */
async function settleAll(session: Session, ledger: string): Promise<void> {
  for (let { awaiting } = await session.status(); awaiting.length > 0; { awaiting } = await session.status()) {
    const [{ executionId, idempotencyKey }] = awaiting as [(typeof awaiting)[number]];
    const settlement = chargesIn(ledger).includes(idempotencyKey)
      ? ({ outcome: 'succeeded', output: 'seen', by: 'ann' } as const)
      : ({ outcome: 'failed', reason: 'Not there.', by: 'ann' } as const);
    await (await session.settle(executionId, settlement)).result();
  }
}
