import pg from 'pg';
import { expect, test } from 'vitest';
import { newSession, openBenchRuntime, runOnce } from '../../bench/bench-runtime.ts';
import { costOf, transactionsOf } from '../../bench/cost.ts';
import { countedPool } from '../../bench/counted-pool.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { startEmbeddedServer } from '../support/embedded-server.ts';
import { migrateTemplate } from '../support/migrate-template.ts';

const POSITION = `SELECT pg_current_wal_insert_lsn() - '0/0' AS position`;

/** What one more run of a session costs. On a server of its own: the log of the run's server holds what other tests write. */
async function openCounted() {
  const server = await startEmbeddedServer();
  atTestEnd(() => server.stop());
  await migrateTemplate(server.url);
  const { pool, take } = countedPool(server.url);
  const runtime = await openBenchRuntime(pool);
  const owner = new pg.Client({ connectionString: server.url });
  await owner.connect();
  atTestEnd(async () => {
    await runtime.close();
    await pool.end();
    await owner.end();
  });
  const position = async () => Number((await owner.query(POSITION)).rows[0].position);
  const session = await newSession(runtime);
  return async () => {
    take();
    const before = await position();
    await runOnce(session);
    const bytes = (await position()) - before;
    const trips = take();
    return { bytes, ...costOf(trips), transactions: transactionsOf(trips) };
  };
}

test('a run with one tool call is four commits and one read, and no more statements than these', async () => {
  const { transactions, statements, roundTrips } = await (await openCounted())();
  expect(transactions.map(({ writes }) => writes)).toEqual([true, false, true, true, true]);
  // A new statement here is paid for by every run: raise the number only for what is worth it.
  expect({ statements, roundTrips }).toEqual({ statements: 51, roundTrips: 36 });
});

test('C51 run 200 of a session sends as many statements as run 10, and writes within 10 % as many bytes', {
  timeout: 120_000,
}, async () => {
  const run = await openCounted();
  const costs: Awaited<ReturnType<typeof run>>[] = [];
  for (let count = 1; count <= 204; count += 1) costs.push(await run());
  const [tenth, last] = [costs[9], costs[199]];
  expect(last?.statements).toBe(tenth?.statements);
  expect(last?.roundTrips).toBe(tenth?.roundTrips);
  // The middle one of nine: the split of an index page falls into some run.
  const bytesAround = (place: number) =>
    costs
      .slice(place - 5, place + 4)
      .map(({ bytes }) => bytes)
      .sort((a, b) => a - b)[4] as number;
  const [early, late] = [bytesAround(10), bytesAround(200)];
  expect(Math.max(early, late) / Math.min(early, late)).toBeLessThan(1.1);
});
