import { expect, test } from 'vitest';
import { ToolError } from '../../../index.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';

const odd = (object: object, name: string) =>
  Object.defineProperty(object, name, {
    enumerable: true,
    get: () => {
      throw new Error('do not look');
    },
  });

/** What a tool throws that lost an answer, or that cannot be read; and what it returns that cannot be awaited. */
onPostgres((database) => {
  async function callOf(act: () => unknown, effect: 'nonRepeatable' | 'idempotent' = 'nonRepeatable') {
    let times = 0;
    const counted = () => {
      times += 1;
      return act();
    };
    const agent = scriptedAgent(eachRun({ toolCalls: [call('send')] }, 'done'), [
      looseTool('send', counted, { effect }),
    ]);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const result = await (await session.send('go')).result();
    const [row] = await database().query(
      'SELECT status, unknown_reason, error_code, output_payload FROM turnlock.agent_tool_executions WHERE session_id = $1',
      [session.sessionId],
    );
    return { result, row, times };
  }

  const throwing = (thrown: unknown) => () => {
    throw thrown;
  };
  const lost = () =>
    new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code: 'UND_ERR_SOCKET' }) });

  test.each<[string, () => unknown]>([
    ['the loss of an answer', throwing(lost())],
    ['a ToolError whose outcome cannot be read', throwing(odd(new ToolError('no'), 'outcome'))],
    ['a ToolError with an outcome that is none', () => new ToolError('no', { outcome: 'Unknown' as 'unknown' })],
  ])('nonRepeatable: %s is no failure; a person is asked', async (_, act) => {
    const { result, row, times } = await callOf(act);
    expect(result).toMatchObject({ state: 'AWAITING_INPUT', awaiting: [{ reason: 'unknown' }] });
    expect([row, times]).toMatchObject([{ status: 'RUNNING', unknown_reason: 'reported' }, 1]);
  });

  test('idempotent: what loses its answer again and again is told as unknown', async () => {
    const { result, row, times } = await callOf(throwing(lost()), 'idempotent');
    expect(result).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect([row, times]).toMatchObject([{ status: 'TIMED_OUT' }, 3]);
  });

  test.each<[string, () => unknown]>([
    ['a proxy that was revoked', revoked],
    ['an object that throws when it is asked whether it is a promise', () => odd({}, 'then')],
  ])('a tool that returns %s has run', async (_, act) => {
    const { result, row, times } = await callOf(act);
    expect(result).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect([row, times]).toMatchObject([{ status: 'SUCCESS', output_payload: { notStored: true } }, 1]);
  });

  function revoked(): object {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  }
});
