import { expect, test } from 'vitest';
import type { ModelResponse } from '../../adapters/models/model.contract.ts';
import { nested, textOfBytes } from '../support/odd-values.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';

const LIMITS = {
  maxMessageBytes: 100,
  maxMetadataBytes: 200,
  maxParamsBytes: 200,
  maxOutputBytes: 200,
  maxErrorBytes: 256,
  maxReplyBytes: 900,
  maxDepth: 5,
  maxModelAttempts: 1,
};

const TOO_LARGE = { code: 'VALUE_TOO_LARGE', category: 'limit' };

/** An object whose JSON has `bytes` bytes, an emoji at its end. */
const objectOfBytes = (bytes: number) => ({ a: textOfBytes(bytes - '{"a":""}'.length) });

/** An answer whose parts, with what is added of its own, have `bytes` bytes as JSON. */
function answerOfBytes(
  bytes: number,
  added: unknown[] = [],
  toolCalls: ModelResponse['toolCalls'] = [],
): ModelResponse {
  const empty = Buffer.byteLength(JSON.stringify([{ type: 'text', text: '' }, ...added]));
  return { parts: [{ type: 'text', text: textOfBytes(bytes - empty) }], toolCalls };
}

/** Each bound of a value, to the byte: what is at it passes unchanged, one more is decided as documented. */
export const describeBounds: RuntimeSuite = (database) => {
  test('C26 messages, metadata and ids: at the bound they pass, one more is refused and nothing is written', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent], { limits: LIMITS });
    const session = await openSession(runtime, agent);
    const deep = (levels: number) => ({ a: nested(levels - 1) });
    for (const [text, metadata, path] of [
      [textOfBytes(101), {}, '/message'],
      ['', objectOfBytes(201), '/metadata'],
      ['', deep(6), '/metadata/a'],
    ] as const) {
      await expect(session.send(text, { metadata })).rejects.toMatchObject({
        ...TOO_LARGE,
        details: { path: expect.stringContaining(path) },
      });
      if (path !== '/message') await expect(openSession(runtime, agent, { metadata })).rejects.toMatchObject(TOO_LARGE);
    }
    await expect(session.send('', { messageId: '😀'.repeat(256) })).rejects.toMatchObject(TOO_LARGE);
    const ids = { tenantId: 64, userId: 64, externalId: 255 };
    for (const [id, characters] of Object.entries(ids)) {
      const over = { [id]: '😀'.repeat(characters + 1) };
      await expect(openSession(runtime, agent, over)).rejects.toMatchObject({
        ...TOO_LARGE,
        details: { path: `/${id}` },
      });
    }
    expect((await session.status()).version).toBe(0);
    expect(await runtime.sessions({ tenantId: '😀'.repeat(64) })).toEqual([]);

    const metadata = objectOfBytes(200);
    await (await session.send(textOfBytes(100), { metadata, messageId: '😀'.repeat(255) })).result();
    await (await session.send('', { metadata: deep(5) })).result();
    const [first, , second] = await session.history();
    expect(first).toMatchObject({ content: textOfBytes(100), metadata, normalised: null });
    expect(second).toMatchObject({ metadata: deep(5) });
    const named = { tenantId: '😀'.repeat(64), userId: '😀'.repeat(64), externalId: '😀'.repeat(255), metadata };
    const opened = await openSession(runtime, agent, named);
    expect(await opened.status()).toMatchObject({ userId: named.userId, externalId: named.externalId, metadata });
  });

  test('C26 params, results and errors: at the bound they pass, one more is answered, replaced or cut', async () => {
    const outputs = [textOfBytes(198), textOfBytes(199), nested(5), nested(6)];
    const errors = [textOfBytes(256), textOfBytes(257), '😀'.repeat(100)];
    const take = looseTool('take', () => 'taken');
    const give = looseTool('give', ({ n }) => outputs[n as number]);
    const fail = looseTool('fail', ({ n }) => {
      throw new Error(errors[n as number]);
    });
    const params = [objectOfBytes(200), objectOfBytes(201), { a: nested(4) }, { a: nested(5) }];
    const toolCalls = [
      ...params.map((input) => call('take', input)),
      ...outputs.map((_, n) => call('give', { n })),
      ...errors.map((_, n) => call('fail', { n })),
    ];
    const limits = { ...LIMITS, maxReplyBytes: 10_000 };
    const agent = scriptedAgent(eachRun({ toolCalls }, 'done'), [take, give, fail]);
    const session = await openSession(await openRuntime(database(), [agent], { limits }), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    const rows = await database().query(
      'SELECT status, input_parameters, output_payload, error_message FROM turnlock.agent_tool_executions WHERE session_id = $1 ORDER BY ordinal',
      [session.sessionId],
    );
    const taken = { status: 'SUCCESS', output_payload: 'taken' };
    const refused = { status: 'FAILED', error_message: expect.stringContaining('/params') };
    const placed = { status: 'SUCCESS', output_payload: { notStored: true, reason: 'VALUE_TOO_LARGE' } };
    expect(rows.slice(0, -1)).toMatchObject([
      { ...taken, input_parameters: params[0] },
      refused,
      { ...taken, input_parameters: params[2] },
      refused,
      { status: 'SUCCESS', output_payload: outputs[0] },
      placed,
      { status: 'SUCCESS', output_payload: outputs[2] },
      placed,
      { status: 'FAILED', error_message: errors[0] },
      {
        status: 'FAILED',
        error_message: expect.stringMatching(/^x+… \[cut: 257 bytes, of which at most 256 are kept\]$/),
      },
    ]);
    // A text that is cut is cut between two characters.
    expect(rows.at(-1).error_message).toMatch(/^(😀)+… \[cut: 400 bytes, /u);
    expect(Buffer.byteLength(rows.at(-1).error_message)).toBeLessThanOrEqual(256);
  });

  test('C26 answers: parts with their calls pass at the bound, one more fails the run for good', async () => {
    let answer: ModelResponse | string = 'none';
    const take = looseTool('take', () => 'taken');
    const agent = scriptedAgent(({ turns }) => (turns.at(-1)?.role === 'tool' ? 'done' : answer), [take]);
    const session = await openSession(await openRuntime(database(), [agent], { limits: LIMITS }), agent);
    answer = answerOfBytes(900);
    expect(await (await session.send('1')).result()).toMatchObject({ state: 'IDLE' });
    expect((await session.history())[1]!.parts).toEqual(answer.parts);
    answer = { toolCalls: [call('take', { a: nested(4) })] };
    await (await session.send('2')).result();
    const asked = (await session.history())[3]!.parts;
    answer = answerOfBytes(900, asked, answer.toolCalls);
    expect(await (await session.send('3')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    const { version } = await session.status();
    const tooMuch = [answerOfBytes(901), answerOfBytes(901, asked, answer.toolCalls), { text: textOfBytes(901) }];
    for (const [place, next] of [...tooMuch, { parts: [{ type: 'custom' as const, part: nested(4) }] }].entries()) {
      answer = next;
      const run = place === 0 ? await session.send('4') : await session.retry();
      expect(await run.result()).toMatchObject({ state: 'FAILED', error: { code: 'VALUE_TOO_LARGE' } });
    }
    // Each began and failed, and wrote no turn but the message.
    expect((await session.status()).version).toBe(version + 8);
    expect((await session.history()).at(-1)).toMatchObject({ role: 'user', content: '4' });
  });

  test('C26 what a person says: at the bound it passes, one more is refused and nothing is written', async () => {
    const hang = looseTool('hang', () => new Promise(() => undefined), { effect: 'nonRepeatable', timeoutMs: 700 });
    const toolCalls = [call('hang', { n: 1 }), call('hang', { n: 2 }), call('hang', { n: 3 })];
    const agent = scriptedAgent(eachRun({ toolCalls }, 'done'), [hang]);
    const session = await openSession(await openRuntime(database(), [agent], { limits: LIMITS }), agent);
    const { awaiting } = await (await session.send('go')).result();
    const [first, second] = awaiting.map(({ executionId }) => executionId) as [string, string, string];
    const { version } = await session.status();
    const by = '😀'.repeat(255);
    const refused = [
      session.settle(first, { outcome: 'succeeded', output: textOfBytes(199), by }),
      session.settle(first, { outcome: 'succeeded', output: nested(6), by }),
      session.settle(first, { outcome: 'succeeded', output: 1, by: `${by}!` }),
      session.settle(second, { outcome: 'failed', reason: textOfBytes(257), by }),
      session.cancel({ reason: textOfBytes(257) }),
      session.cancel({ by: `${by}!` }),
      session.complete({ by: `${by}!` }),
    ];
    for (const refusal of await Promise.allSettled(refused)) {
      expect(refusal).toMatchObject({ status: 'rejected', reason: TOO_LARGE });
    }
    expect((await session.status()).version).toBe(version);
    await session.settle(first, { outcome: 'succeeded', output: textOfBytes(198), by });
    await session.settle(second, { outcome: 'failed', reason: textOfBytes(256), by });
    await session.cancel({ reason: textOfBytes(256), by });
    const rows = await database().query(
      'SELECT output_payload, error_message, settled_by FROM turnlock.agent_tool_executions WHERE session_id = $1 ORDER BY ordinal',
      [session.sessionId],
    );
    expect(rows).toMatchObject([
      { output_payload: textOfBytes(198), settled_by: by },
      { error_message: textOfBytes(256), settled_by: by },
      { error_message: textOfBytes(256), settled_by: by },
    ]);
  });
};
