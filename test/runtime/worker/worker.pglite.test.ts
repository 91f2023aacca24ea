import { expect, test } from 'vitest';
import { onPglite } from '../../support/runtime-database.ts';
import { openRuntime, scriptedAgent } from '../../support/runtime-open.ts';
import { waitFor } from '../../support/wait-for.ts';
import { allRest, leaveOwed, rowsOf } from './owed.ts';
import { describeWorker } from './worker-suite.ts';

onPglite((database) => {
  describeWorker(database);

  test('a worker on PGlite looks as soon as something is committed that says so', async () => {
    const agent = scriptedAgent('done');
    const limits = { sweepMs: 3_600_000 };
    const runtime = await openRuntime(database(), [agent], { limits });
    await runtime.start();
    const isListening = async () => {
      const [row] = await database().query('SELECT count(*)::int AS channels FROM pg_listening_channels()');
      return row.channels === 1;
    };
    await waitFor(isListening, { for: 'the worker to listen' });
    for (const _ of [1, 2]) {
      const owed = await leaveOwed(database(), agent);
      await database().query('SELECT pg_notify($1, $2)', ['turnlock', 'x']);
      await allRest(database(), owed);
      expect(await rowsOf(database(), owed)).toMatchObject([{ takeovers: 1 }]);
    }
    await runtime.stop();
    const left = await leaveOwed(database(), agent);
    await database().query('SELECT pg_notify($1, $2)', ['turnlock', 'x']);
    expect(await isListening()).toBe(false);
    expect(await rowsOf(database(), left)).toMatchObject([{ state: 'PLANNING' }]);
  });
});
