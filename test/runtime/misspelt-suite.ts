import { expect, test } from 'vitest';
import { pglite } from '../../adapters/databases/pglite.ts';
import { createRuntime, type Runtime, type Session } from '../../index.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';

type Call = (given: { runtime: Runtime; session: Session; agent: string }) => Promise<unknown>;

/** Calls with one option whose name is misspelt, as a caller without types may write them. */
const CALLS: readonly [string, string, Call][] = [
  ['send', 'messageID', ({ session }) => session.send('x', { messageID: 'm' } as never)],
  ['retry', 'By', ({ session }) => session.retry({ By: 'x' } as never)],
  ['cancel', 'why', ({ session }) => session.cancel({ why: 'x' } as never)],
  ['complete', 'who', ({ session }) => session.complete({ who: 'x' } as never)],
  [
    'createSession',
    'externalID',
    ({ runtime, agent }) => runtime.createSession({ agent, tenantId: 't', userId: 'u', externalID: 'x' } as never),
  ],
  ['sessions', 'limt', ({ runtime }) => runtime.sessions({ tenantId: 't', limt: 1 } as never)],
  ['start', 'concurency', ({ runtime }) => runtime.start({ concurency: 1 } as never)],
];

const ID = '00000000-0000-4000-8000-000000000000';

/** A name that is ignored in silence could be what somebody relies on. */
export const describeMisspelt: RuntimeSuite = (database) => {
  test.each(CALLS)('%s refuses an option that it does not have, by name: %s', async (_, name, call) => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const refused = call({ runtime, session, agent: agent.name });
    await expect(refused).rejects.toMatchObject({ code: 'OPTIONS_INVALID', message: expect.stringContaining(name) });
    expect(await session.status()).toMatchObject({ state: 'IDLE', version: 0 });
  });

  test.each([
    [{ outcome: 'succeeded', ouput: 1, by: 'ann' }, 'ouput'],
    [{ outcome: 'failed', output: 1, reason: 'x', by: 'ann' }, 'output'],
    [{ outcome: 'runAgain', reason: 'x', by: 'ann' }, 'reason'],
  ])('settle refuses what does not go with its outcome: %j', async (settlement, name) => {
    const agent = scriptedAgent('done');
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const refused = session.settle(ID, settlement as never);
    await expect(refused).rejects.toMatchObject({ code: 'OPTIONS_INVALID', message: expect.stringContaining(name) });
  });

  test('createRuntime and pglite refuse an option that they do not have', async () => {
    const agents = [scriptedAgent('done')];
    const given = { database: database().adapter(), agents, limts: {} } as never;
    await expect(createRuntime(given)).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining('limts'),
    });
    const misspelt = async () => createRuntime({ database: pglite({ direktory: 'x' } as never), agents });
    await expect(misspelt()).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining('direktory'),
    });
  });

  test('a session whose external id is another one than the caller says is not found', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const { tenantId, sessionId } = await openSession(runtime, agent, { externalId: `one-${agent.name}` });
    const wrong = runtime.session({ tenantId, sessionId, externalId: 'two' } as never);
    await expect(wrong).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    const [summary] = await runtime.sessions({ tenantId, limit: 1 });
    expect((await runtime.session(summary!)).sessionId).toBe(sessionId);
  });

  test('what onWarning throws, at once or later, stops no runtime and ends no process', async () => {
    const told: string[] = [];
    const heard = (warning: Error & { code?: string }) => void (warning.code && told.push(warning.code));
    process.on('warning', heard);
    atTestEnd(async () => void process.off('warning', heard));
    for (const fail of [
      () => {
        throw new Error('sync');
      },
      async () => {
        throw new Error('async');
      },
    ]) {
      const inner = database().adapter();
      const adapter = {
        kind: inner.kind,
        connect: (options: Parameters<typeof inner.connect>[0]) => {
          options.onWarning?.({ code: 'FSYNC_OFF', message: 'x' });
          return inner.connect(options);
        },
      };
      const runtime = await createRuntime({
        database: adapter,
        agents: [scriptedAgent('done')],
        migrate: 'check',
        onWarning: fail,
      });
      await runtime.close();
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(told.filter((code) => code === 'ON_WARNING_FAILED').length).toBeGreaterThanOrEqual(2);
  });
};
