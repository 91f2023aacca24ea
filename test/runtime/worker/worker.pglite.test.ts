import { expect, test } from 'vitest';
import { onPglite } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { waitFor } from '../../support/wait-for.ts';
import { answered, enqueue } from './owed.ts';
import { describeWorkerEnd } from './worker-end-suite.ts';
import { describeWorker } from './worker-suite.ts';

onPglite((database) => {
  describeWorker(database);
  describeWorkerEnd(database);

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
    const session = await openSession(runtime, agent);
    for (const message of ['one', 'two']) {
      await enqueue(database(), session, message);
      await answered(session, message);
    }
    await runtime.stop();
    expect(await isListening()).toBe(false);
  });
});
