import { expect, test } from 'vitest';
import { systemEnvironment } from '../../environment.ts';
import { pendingEffects } from '../../machines/pending-effects.ts';
import { readSession } from '../../persistence/read-session-by-key.ts';
import { openStore } from '../support/open-store.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession } from '../support/runtime-open.ts';
import { echoAgent } from './inbox-scene.ts';

onPostgres((database) => {
  test('a commit between the two statements of a look: session and executions are of one version all the same', async () => {
    const { agent, begun, open } = echoAgent();
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const run = await session.send('wait');
    await begun;
    let isFirst = true;
    const faultPoint = async (point: string, { statement = '' }: { statement?: string }) => {
      if (!isFirst || point !== 'afterStatement' || !statement.includes('agent_sessions')) return;
      isFirst = false;
      open();
      await run.result();
    };
    const store = await openStore(database(), { environment: { ...systemEnvironment, faultPoint } });
    const read = await readSession(store, session);
    expect(isFirst).toBe(false);
    expect(() => pendingEffects(read.session.snapshot, read.executions)).not.toThrow();
    expect(read).toMatchObject({ session: { state: 'IDLE' }, executions: [] });
  });
});
