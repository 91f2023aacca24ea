import { beforeAll, expect, test } from 'vitest';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { createRuntime } from '../../../index.ts';
import { FaultPlan } from '../../../testing/faults/fault-plan.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { type EmbeddedServer, startEmbeddedServer } from '../../support/embedded-server.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';
import { openRuntime, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';
import { withClient } from '../../support/with-client.ts';
import { allRest, isLook, leaveOwed, rowsOf } from './owed.ts';

let server: EmbeddedServer;
let database: RuntimeDatabase;

beforeAll(async () => {
  server = await startEmbeddedServer();
  atTestEnd(() => server.stop());
  const { url } = server;
  const query: RuntimeDatabase['query'] = (text, values) =>
    withClient(url, async (client) => (await client.query(text, values)).rows);
  const adapter = () => postgres({ connectionString: url, max: 4 });
  database = {
    kind: 'postgres',
    url,
    query,
    adapter,
    mortalAdapter: () => ({ adapter: adapter(), destroy: async () => undefined }),
    moveClock: async (ms) => void (await query('UPDATE turnlock.turnlock_clock SET offset_ms = offset_ms + $1', [ms])),
  };
  const agents = [scriptedAgent('done')];
  await (await createRuntime({ database: adapter(), agents, migrate: 'auto', onWarning: () => undefined })).close();
});

const limits = { sweepMs: 100, leaseMs: 1_000, connectTimeoutMs: 1_000, toolTimeoutMs: 1_000 };

/** A worker, and what it warned of. */
async function work(agent: Parameters<typeof openRuntime>[1][number], environment = new FaultPlan()) {
  const codes: string[] = [];
  const runtime = await openRuntime(database, [agent], {
    limits,
    environment,
    onWarning: ({ code }) => codes.push(code),
  });
  const isDeaf = () =>
    waitFor(() => codes.includes('SWEEP_FAILED'), { for: 'the worker to notice', timeoutMs: 30_000 });
  return { runtime, isDeaf, start: () => runtime.start() };
}

test('C11 the server is stopped at once in the middle of a look: a later look finds the session', async () => {
  const agent = scriptedAgent('done');
  const owed = await leaveOwed(database, agent, 2);
  const plan = new FaultPlan([{ point: 'afterStatement', fault: 'stall', where: isLook }]);
  const { start, isDeaf } = await work(agent, plan);
  await start();
  await plan.struck;
  await server.crash();
  plan.resume();
  await isDeaf();
  await server.restart();
  await allRest(database, owed, 'IDLE', { timeoutMs: 30_000 });
  expect((await rowsOf(database, owed)).map(({ takeovers }) => takeovers)).toEqual([1, 1]);
});

test('a worker that is started while the database is away works once it is there', async () => {
  const agent = scriptedAgent('done');
  const owed = await leaveOwed(database, agent);
  const { start, isDeaf } = await work(agent);
  await server.crash();
  await start();
  await isDeaf();
  await server.restart();
  await allRest(database, owed, 'IDLE', { timeoutMs: 30_000 });
  expect(await rowsOf(database, owed)).toMatchObject([{ takeovers: 1 }]);
});

test('the database goes away while a worker drives: the session comes to rest, with one act', async () => {
  const { opened: begun, open: begin } = gate();
  const { opened, open } = gate();
  const acts: string[] = [];
  const charge = looseTool(
    'charge',
    async (_, { idempotencyKey }) => {
      acts.push(idempotencyKey);
      begin();
      await opened;
      return 'charged';
    },
    { effect: 'nonRepeatable', timeoutMs: 60_000 },
  );
  const agent = scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge]);
  const owed = await leaveOwed(database, agent);
  const { start, isDeaf, runtime } = await work(agent);
  await start();
  await begun;
  await server.crash();
  await isDeaf();
  open();
  await server.restart();
  await waitFor(async () => ['IDLE', 'AWAITING_INPUT'].includes((await rowsOf(database, owed))[0]!.state), {
    for: 'the session to rest',
    timeoutMs: 60_000,
  });
  expect(acts).toHaveLength(1);
  await runtime.stop();
  expect(await rowsOf(database, owed)).toMatchObject([{ holder: null }]);
});

test('stop() and close() end while the database is away', async () => {
  const agent = scriptedAgent('done');
  const { start, isDeaf, runtime } = await work(agent);
  await start();
  await server.crash();
  await isDeaf();
  await runtime.stop();
  await start();
  await runtime.close();
  await server.restart();
  await expect(start()).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' });
});
