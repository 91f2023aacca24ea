import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { openSessionHarness, type SessionHarness } from '../../../testing/harness/session-harness.ts';
import { charging, owner } from './charging.ts';
import { describeSessionHarness, prepare } from './session-harness-suite.ts';

const database = { url: inject('postgresUrl') };

let harness: SessionHarness;
beforeAll(async () => {
  harness = await openSessionHarness({ database, prepare });
});
afterEach(() => harness.reset());
afterAll(() => harness.close());

describeSessionHarness(() => harness);

test('a harness on a server has a database of its own, which is gone when it is closed', async () => {
  const other = await openSessionHarness({ database, startsAt: new Date(1_900_000_000_000) });
  const [{ name, at }] = await other.query(
    'SELECT current_database() AS name, extract(epoch FROM turnlock.turnlock_now())::float8 AS at',
  );
  expect(at).toBe(1_900_000_000);
  await (await other.start({ agents: charging([]) })).runtime.createSession(owner);
  expect(await harness.query('SELECT 1 FROM turnlock.agent_sessions')).toEqual([]);
  await other.close();
  await other.close();
  expect(await harness.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])).toEqual([]);
});

test('a server that does not answer is told as such', async () => {
  const nowhere = Object.assign(new URL(database.url), { port: '1' }).href;
  await expect(openSessionHarness({ database: { url: nowhere } })).rejects.toMatchObject({
    code: 'DATABASE_UNREACHABLE',
  });
});
