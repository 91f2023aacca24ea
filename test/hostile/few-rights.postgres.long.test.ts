import pg from 'pg';
import { expect, test } from 'vitest';
import { postgres } from '../../adapters/databases/postgres.ts';
import { checkSchema, migrate } from '../../persistence/migrate.ts';
import { migrationsTableSql } from '../../persistence/migrate-sql.ts';
import { connect } from '../adapters/databases/connect.ts';
import { type FreshRole, freshRole } from '../adapters/databases/fresh-role.ts';
import { allRest, leaveOwed } from '../runtime/worker/owed.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { onPostgres, type RuntimeDatabase } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, gate, looseTool } from '../support/runtime-script.ts';
import { withClient } from '../support/with-client.ts';
import { chargingAgent, expectCharged } from './charging.ts';

onPostgres((database) => {
  /** A role that was given what `turnlock migrate --grant-to` gives, and the database as it sees it. */
  async function granted(): Promise<{ role: FreshRole; asRole: RuntimeDatabase }> {
    const role = await freshRole(database().url);
    await migrate(await connect(postgres(database().url)), { grantTo: role.name });
    const asRole = { ...database(), url: role.url, adapter: () => postgres({ connectionString: role.url, max: 4 }) };
    return { role, asRole };
  }

  test('C57 a role with the granted rights alone is a worker that listens, and does everything of a session', async () => {
    const { role, asRole } = await granted();
    const { agent, charges } = chargingAgent();
    const codes: string[] = [];
    const runtime = await openRuntime(asRole, [agent], {
      adapter: postgres(role.url, { listen: role.url }),
      limits: { sweepMs: 100 },
      onWarning: ({ code }) => codes.push(code),
    });
    atTestEnd(() => runtime.close());
    await runtime.start();
    const owed = await leaveOwed(asRole, agent, 2);
    await allRest(database(), owed);
    const session = await openSession(runtime, agent, { externalId: 'order 1', metadata: { a: 1 } });
    expect(await (await session.send('go', { messageId: 'm1' })).result()).toMatchObject({ state: 'IDLE' });
    await expectCharged(database(), runtime, charges, [session]);
    expect((await runtime.sessions({ tenantId: 'tenant' })).length).toBeGreaterThan(0);
    expect(await runtime.recover()).toEqual([]);
    await session.complete({ by: 'ann' });
    expect((await session.status()).state).toBe('COMPLETED');
    expect(codes.filter((code) => code !== 'FSYNC_OFF')).toEqual([]);
  });

  test('C57 a role with the granted rights alone cancels, settles, retries and takes messages while it is busy', async () => {
    const { asRole } = await granted();
    const { opened: begun, open: begin } = gate();
    const slow = looseTool('slow', (_, { signal }) => {
      begin();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const charge = looseTool('charge', () => new Promise(() => undefined), {
      effect: 'nonRepeatable',
      timeoutMs: 1_000,
    });
    const agent = scriptedAgent(
      ({ turns }) => {
        const last = turns.at(-1)!;
        if (last.role !== 'user') return 'done';
        if (last.text === 'fail') throw new Error('no model');
        return last.text === 'slow' || last.text === 'charge' ? { toolCalls: [call(last.text)] } : `heard ${last.text}`;
      },
      [slow, charge],
    );
    const runtime = await openRuntime(asRole, [agent], { limits: { maxModelAttempts: 1 } });
    const session = await openSession(runtime, agent);
    const run = await session.send('slow');
    await begun;
    const next = await session.send('hello');
    await session.cancel({ by: 'ann' });
    await run.result();
    expect(await next.result()).toMatchObject({ state: 'IDLE', reply: 'heard hello' });
    expect(await (await session.send('charge')).result()).toMatchObject({ state: 'AWAITING_INPUT' });
    const [{ executionId } = { executionId: '' }] = (await session.status()).awaiting;
    const settled = await session.settle(executionId, { outcome: 'failed', reason: 'No.', by: 'ann' });
    expect(await settled.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(await (await session.send('fail')).result()).toMatchObject({ state: 'FAILED' });
    expect(await (await session.retry({ by: 'ann' })).result()).toMatchObject({ state: 'FAILED' });
  });

  test('C57 a role with the granted rights alone makes sessions and sends in a transaction of its own', async () => {
    const { role, asRole } = await granted();
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(asRole, [agent]);
    const client = new pg.Client({ connectionString: role.url });
    await client.connect();
    atTestEnd(() => client.end());
    const make = () =>
      runtime.createSession({ agent: agent.name, tenantId: 'tenant', userId: 'user', transaction: client });
    await client.query('BEGIN');
    const never = await make();
    await never.send('go', { transaction: client });
    await client.query('ROLLBACK');
    await expect(never.status()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await client.query('BEGIN');
    const session = await make();
    const run = await session.send('go', { transaction: client });
    await client.query('COMMIT');
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
  });
});

test('C57 a schema of which a migration that was killed left the first half is migrated', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  await withClient(url, async (client) => {
    for (const statement of migrationsTableSql('turnlock')) await client.query(statement);
  });
  const database = await connect(postgres(url));
  await expect(checkSchema(database)).rejects.toMatchObject({ category: expect.stringMatching(/version|usage/) });
  expect((await migrate(database)).applied).toHaveLength(1);
  await expect(checkSchema(database)).resolves.toBeUndefined();
});
