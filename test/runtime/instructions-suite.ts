import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { scripted } from '../../adapters/models/scripted.ts';
import { type Agent, defineAgent, type Instructions, type InstructionsContext } from '../../index.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession } from '../support/runtime-open.ts';

let count = 0;

/** An agent whose model says back what it was told, and whose name no other test has. */
function told(instructions: Instructions): Agent {
  count += 1;
  return defineAgent({
    name: `instructions-${process.pid}-${count}`,
    model: scripted((request) => request.instructions),
    instructions,
  });
}

/** Instructions that are made for each attempt. */
export const describeInstructions: RuntimeSuite = (database) => {
  test('a function makes them, knowing whose session it is', async () => {
    const seen: InstructionsContext[] = [];
    const agent = told(async (context) => {
      seen.push(context);
      return `Speak ${context.metadata.language} with ${context.userId}.`;
    });
    const over = { userId: 'ana', externalId: `mail-${process.pid}`, metadata: { language: 'Danish' } };
    const session = await openSession(await openRuntime(database(), [agent]), agent, over);
    const run = await session.send('Hej');
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'Speak Danish with ana.' });
    const { sessionId, tenantId } = session;
    expect(seen).toEqual([{ ...over, tenantId, sessionId, runId: run.runId, signal: expect.any(AbortSignal) }]);
  });

  test('what it changes of what it was handed changes nothing', async () => {
    const agent = told(({ metadata }) => {
      metadata.language = 'changed';
      return 'x';
    });
    const session = await openSession(await openRuntime(database(), [agent]), agent, { metadata: { language: 'da' } });
    await (await session.send('one')).result();
    expect((await session.status()).metadata).toEqual({ language: 'da' });
  });

  test('it is asked again for each attempt, so what throws once costs one attempt', async () => {
    let asked = 0;
    const agent = told(() => {
      asked += 1;
      if (asked === 1) throw new Error('settings are away');
      return `asked ${asked} times`;
    });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'asked 2 times' });
    const types = (await session.transitions()).map(({ type }) => type);
    expect(types).toEqual(['user.messaged', 'model.attemptFailed', 'model.replied']);
    const rows = await database().query(
      'SELECT error_code, error_message FROM turnlock.agent_model_calls WHERE session_id = $1 ORDER BY attempt',
      [session.sessionId],
    );
    expect(rows).toEqual([
      { error_code: 'INSTRUCTIONS_FAILED', error_message: expect.stringContaining('settings are away') },
      { error_code: null, error_message: null },
    ]);
  });

  test.each([undefined, null, 7, {}, ['x']])('%j is no text, and no further attempt can help', async (made) => {
    let asked = 0;
    const agent = told(() => {
      asked += 1;
      return made as unknown as string;
    });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({
      state: 'FAILED',
      error: { code: 'INSTRUCTIONS_FAILED', message: expect.stringContaining('wanted text') },
    });
    expect(asked).toBe(1);
  });

  test('one that never ends has the time of the attempt, and its signal fires', async () => {
    const signals: AbortSignal[] = [];
    const agent = told(async ({ signal }) => {
      signals.push(signal);
      await sleep(60_000, null, { signal });
      return 'late';
    });
    const limits = { modelTimeoutMs: 50, maxModelAttempts: 1 };
    const session = await openSession(await openRuntime(database(), [agent], { limits }), agent);
    expect(await (await session.send('go')).result()).toMatchObject({
      state: 'FAILED',
      error: {
        code: 'INSTRUCTIONS_FAILED',
        message: expect.stringContaining(`instructions were not made in time: agent "${agent.name}"`),
      },
    });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test.each(['a\u0000b', 'a\ud83db'])('characters that no provider takes are replaced: %j', async (text) => {
    const runtimes = [told(text), told(() => text)].map(async (agent) => {
      const session = await openSession(await openRuntime(database(), [agent]), agent);
      return (await (await session.send('go')).result()).reply;
    });
    expect(await Promise.all(runtimes)).toEqual(['a\uFFFDb', 'a\uFFFDb']);
  });
};
