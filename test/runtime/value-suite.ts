import { expect, test } from 'vitest';
import { z } from 'zod';
import type { ModelRequest, ModelResponse } from '../../adapters/models/model.contract.ts';
import { defineTool, type Json, type TurnPart } from '../../index.ts';
import { expectWholeAudit } from '../support/audit-of.ts';
import { ODD_TEXTS } from '../support/odd-texts.ts';
import { ODD_VALUES, REFUSED, STORED_VALUES } from '../support/odd-values.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, eventsOf, looseTool } from '../support/runtime-script.ts';

/** The whole table at once in one metadata. */
const WIDE = { maxMetadataBytes: 1024 * 1024 };

/** The replacement of every text, in order. */
const STORED_TEXTS = ODD_TEXTS.map(({ stored }) => stored);

/** The paths below `name` at which the n-th text of the table was replaced, where each stands at `/name/n/…`. */
const replacedTexts = (name: string, below = '') =>
  ODD_TEXTS.flatMap(({ given, stored }, place) => (given === stored ? [] : [`/${name}/${place}${below}`]));

/** The choke point for values, end to end: what goes in by any way comes back by any way. */
export const describeValues: RuntimeSuite = (database) => {
  const executionsOf = (sessionId: string) =>
    database().query(
      `SELECT tool_name, status, attempt, input_parameters, output_payload, error_code,
              to_jsonb(error_message) AS error_message, to_jsonb(raw_input) AS raw_input,
              to_jsonb(provider_call_id) AS provider_call_id, e.normalised
         FROM turnlock.agent_tool_executions e JOIN turnlock.agent_turns t USING (turn_id)
        WHERE e.session_id = $1 ORDER BY t.turn_index, ordinal`,
      [sessionId],
    );

  test('C34 C35 every odd text in a message, its metadata, a reply and each kind of part', async () => {
    let given = '';
    const metadataOf = (text: string) => ({ note: text, [`key ${text}`]: [text] });
    const partsOf = (text: string): TurnPart[] => [
      { type: 'text', text, providerMetadata: { text } },
      { type: 'reasoning', text, providerMetadata: { signature: text } },
      { type: 'file', mediaType: 'text/plain', reference: text },
      { type: 'source', id: text, [`key ${text}`]: text },
      { type: 'custom', part: [text] },
    ];
    const requests: ModelRequest[] = [];
    const agent = scriptedAgent((request) => {
      requests.push(structuredClone(request));
      return { text: given, parts: partsOf(given), finishReason: given, providerRequestId: given };
    });
    const runtime = await openRuntime(database(), [agent], { limits: WIDE });
    const session = await openSession(runtime, agent, { metadata: { all: ODD_TEXTS.map((text) => text.given) } });
    const shown: unknown[] = [];
    for (const { name, ...text } of ODD_TEXTS) {
      given = text.given;
      const run = await session.send(given, { metadata: metadataOf(given) });
      expect(await run.result(), name).toMatchObject({ state: 'IDLE', reply: text.stored, error: null });
      for (const event of await eventsOf(run)) if (event.type === 'transition') shown.push(...event.turns);
    }
    const again = await (await openRuntime(database(), [agent])).session(session);
    expect((await again.status()).metadata).toEqual({ all: STORED_TEXTS });
    const history = await again.history();
    expect(history.map(({ createdAt, ...turn }) => turn)).toEqual(shown);
    for (const [place, { name, stored, ...text }] of ODD_TEXTS.entries()) {
      const [user, assistant] = history.slice(2 * place);
      const isReplaced = text.given !== stored;
      expect(user, name).toMatchObject({ content: stored, metadata: metadataOf(stored) });
      expect(assistant, name).toMatchObject({ content: stored, parts: partsOf(stored) });
      const key = `/metadata/key ${stored}`;
      expect(user!.normalised, name).toEqual(
        isReplaced ? expect.arrayContaining(['/message', '/metadata/note', key, `${key}/0`]) : null,
      );
      const parts = ['0/text', '0/providerMetadata/text', '1/text', '1/providerMetadata/signature', '2/reference'];
      expect(assistant!.normalised, name).toEqual(
        isReplaced
          ? expect.arrayContaining(['/reply', ...parts.map((path) => `/parts/${path}`), '/parts/4/part/0'])
          : null,
      );
    }
    // What a model is told from memory is what it is told after a restart.
    given = 'last';
    const told = requests.at(-1)!.turns;
    await (await again.send('last')).result();
    expect(requests.at(-1)!.turns.slice(0, told.length)).toEqual(told);
    const calls = await database().query(
      `SELECT to_jsonb(finish_reason) AS finish_reason, to_jsonb(provider_request_id) AS provider_request_id
         FROM turnlock.agent_model_calls WHERE session_id = $1 ORDER BY window_to`,
      [session.sessionId],
    );
    const short = (text: string, characters: number) => [...text].slice(0, characters).join('');
    expect(calls.slice(0, -1)).toEqual(
      STORED_TEXTS.map((text) => ({ finish_reason: short(text, 64), provider_request_id: short(text, 255) })),
    );
    await expectWholeAudit(database(), session.sessionId);
  });

  test('C34 C35 every odd text in params, results, errors, call ids and metadata of the provider', async () => {
    const seen: Json[] = [];
    const echo = looseTool('echo', ({ n, text }) => {
      seen[n as number] = text as Json;
      return ODD_TEXTS[n as number]!.given;
    });
    const fail = looseTool('fail', ({ n }) => {
      throw new Error(`because ${ODD_TEXTS[n as number]!.given}`);
    });
    const callsOf = (tool: string) =>
      ODD_TEXTS.map(({ given: text }, n) =>
        call(tool, { n, text, [`k${text}`]: 1 }, { providerCallId: text, providerMetadata: { text } }),
      );
    const script = eachRun({ toolCalls: callsOf('echo') }, { toolCalls: callsOf('fail') }, 'done');
    const agent = scriptedAgent(script, [echo, fail]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(seen).toEqual(STORED_TEXTS);
    const rows = await executionsOf(session.sessionId);
    const echoed = rows.filter(({ tool_name }) => tool_name === 'echo');
    const failed = rows.filter(({ tool_name }) => tool_name === 'fail');
    for (const [n, { name, given, stored }] of ODD_TEXTS.entries()) {
      const same = { input_parameters: { n, text: stored, [`k${stored}`]: 1 }, provider_call_id: stored };
      expect(echoed[n], name).toMatchObject({ ...same, status: 'SUCCESS', output_payload: stored });
      expect(failed[n], name).toMatchObject({ ...same, status: 'FAILED', error_message: `because ${stored}` });
      const params = ['/providerCallId', '/params/text', `/params/k${stored}`];
      expect(echoed[n].normalised, name).toEqual(
        given === stored ? null : expect.arrayContaining([...params, '/output']),
      );
      expect(failed[n].normalised, name).toEqual(
        given === stored ? null : expect.arrayContaining([...params, '/error']),
      );
    }
    const history = await session.history();
    const [asked] = history.filter(({ role }) => role === 'assistant');
    expect(asked!.parts).toMatchObject(
      STORED_TEXTS.map((text) => ({ type: 'toolCall', providerCallId: text, providerMetadata: { text } })),
    );
    expect(asked!.normalised).toEqual(expect.arrayContaining(replacedTexts('parts', '/providerMetadata/text')));
    expect(history.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual([
      ...STORED_TEXTS,
      ...STORED_TEXTS.map((text) => `The call failed: because ${text}`),
    ]);
    await expectWholeAudit(database(), session.sessionId);
  });

  test('C34 C36 every value that JSON holds, in params, results, metadata and parts, is the same for all who read it', async () => {
    const expected = STORED_VALUES.map(({ fate }) => fate.stored);
    const seen: unknown[] = [];
    const echo = looseTool('echo', ({ n, value }) => {
      seen[n as number] = value;
      return STORED_VALUES[n as number]!.make();
    });
    const all = () => STORED_VALUES.map((value) => value.make());
    const toolCalls = STORED_VALUES.map((value, n) => call('echo', { n, value: value.make() }));
    const parts = [{ type: 'custom', part: all() } as TurnPart];
    const script = eachRun({ toolCalls: toolCalls.slice(0, 50) }, { toolCalls: toolCalls.slice(50) }, { parts });
    const agent = scriptedAgent(script, [echo]);
    const runtime = await openRuntime(database(), [agent], { limits: WIDE });
    const session = await openSession(runtime, agent, { metadata: { all: all() } });
    const run = await session.send('go', { metadata: { all: all() } });
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: '' });
    expect(seen).toEqual(expected);
    const again = await (await openRuntime(database(), [agent])).session(session);
    expect((await again.status()).metadata).toEqual({ all: expected });
    const history = await again.history();
    expect(history[0]!.metadata).toEqual({ all: expected });
    expect(history.at(-1)!.parts).toEqual([{ type: 'custom', part: expected }]);
    const notes = STORED_VALUES.flatMap(({ fate }, n) => fate.paths.map((path) => `/${n}${path}`));
    expect(history[0]!.normalised).toEqual(notes.map((path) => `/metadata/all${path}`));
    expect(history.at(-1)!.normalised).toEqual(notes.map((path) => `/parts/0/part${path}`));
    const rows = await executionsOf(session.sessionId);
    expect(rows.map(({ output_payload }) => output_payload)).toEqual(expected);
    expect(rows.map(({ input_parameters }) => input_parameters.value)).toEqual(expected);
    for (const [n, { name, fate }] of STORED_VALUES.entries()) {
      const places = fate.paths.flatMap((path) => [`/params/value${path}`, `/output${path}`]).toSorted();
      expect((rows[n].normalised ?? []).toSorted(), name).toEqual(places);
    }
    await expectWholeAudit(database(), session.sessionId);
  });

  test('a tool that returns nothing succeeded with null', async () => {
    const agent = scriptedAgent(eachRun({ toolCalls: [call('nothing')] }, 'done'), [
      looseTool('nothing', () => undefined),
    ]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await (await session.send('go')).result();
    expect((await session.history())[2]).toMatchObject({ content: 'null', parts: [{ outcome: 'succeeded' }] });
  });

  test('C36 a result that JSON cannot hold: the call succeeded once, and what it was is told with its path', async () => {
    const results = REFUSED.filter(({ isAwaitable, name }) => isAwaitable && name !== 'undefined');
    const counts = results.map(() => 0);
    const odd = looseTool(
      'odd',
      ({ n }) => {
        counts[n as number]! += 1;
        return results[n as number]!.make();
      },
      { effect: 'nonRepeatable' },
    );
    const toolCalls = results.map((_, n) => call('odd', { n }));
    const agent = scriptedAgent(eachRun({ toolCalls }, 'done'), [odd]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(counts).toEqual(results.map(() => 1));
    const rows = await executionsOf(session.sessionId);
    const turns = (await session.history()).filter(({ role }) => role === 'tool');
    for (const [n, { name, fate }] of results.entries()) {
      const [{ code, path }] = fate.at as [(typeof fate.at)[number]];
      const output_payload = { notStored: true, reason: code, says: expect.stringContaining(`/output${path ?? ''}`) };
      expect(rows[n], name).toMatchObject({ status: 'SUCCESS', attempt: 1, output_payload });
      expect(turns[n], name).toMatchObject({ parts: [{ outcome: 'succeeded' }] });
    }
    await expectWholeAudit(database(), session.sessionId);
  });

  test('C36 metadata that JSON cannot hold is refused with the path, and nothing is written', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    for (const { name, make, fate } of REFUSED.filter((value) => value.name !== 'undefined')) {
      const [{ code, path }] = fate.at as [(typeof fate.at)[number]];
      const refusal = {
        code,
        message: expect.stringContaining(path === null ? '/metadata' : `/metadata/value${path} `),
      };
      const metadata = { value: make() };
      await expect(openSession(runtime, agent, { metadata, tenantId: 'tenant-odd' }), name).rejects.toMatchObject(
        refusal,
      );
      await expect(session.send('x', { metadata }), name).rejects.toMatchObject(refusal);
    }
    expect((await session.status()).version).toBe(0);
    expect(await session.history()).toEqual([]);
    expect(await runtime.sessions({ tenantId: 'tenant-odd' })).toEqual([]);
  });

  test('C36 params that JSON cannot hold are answered at once, with the path, and so is the output of a validator', async () => {
    let count = 0;
    const tool = looseTool('tool', () => ++count);
    const odd = REFUSED.filter(({ name }) => name !== 'undefined');
    const changed = defineTool({
      name: 'changed',
      description: 'Takes what its validator makes.',
      inputSchema: z.object({ n: z.number() }).transform(({ n }) => ({ value: odd[n]!.make() })),
      execute: () => ++count,
    });
    const script = eachRun(
      { toolCalls: odd.map((value) => call('tool', { value: value.make() })) },
      { toolCalls: odd.map((_, n) => call('changed', { n })) },
      'done',
    );
    const agent = scriptedAgent(script, [tool, changed]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(count).toBe(0);
    const rows = await executionsOf(session.sessionId);
    const turns = (await session.history()).filter(({ role }) => role === 'tool');
    expect(rows).toHaveLength(2 * odd.length);
    for (const [n, { name, fate }] of [...odd, ...odd].entries()) {
      const [{ path }] = fate.at as [(typeof fate.at)[number]];
      const message = expect.stringContaining(path === null ? '/params' : `/params/value${path} `);
      expect(rows[n], name).toMatchObject({
        status: 'FAILED',
        attempt: 0,
        error_code: 'PARAMS_INVALID',
        error_message: message,
      });
      expect(turns[n], name).toMatchObject({ content: message, parts: [{ outcome: 'failed' }] });
    }
    await expectWholeAudit(database(), session.sessionId);
  });

  test('C34 C36 whatever a tool throws is its error, and the session goes on', async () => {
    const thrown = ODD_VALUES.flatMap((value) => [
      () => value.make(),
      () => Object.assign(new Error('odd'), { message: value.make(), code: value.make(), cause: value.make() }),
    ]);
    const bad = looseTool('bad', ({ n }) => {
      throw thrown[n as number]!();
    });
    const answers: ModelResponse[] = [];
    for (let from = 0; from < thrown.length; from += 60) {
      const places = thrown.slice(from, from + 60).map((_, place) => from + place);
      answers.push({ toolCalls: places.map((n) => call('bad', { n })) });
    }
    const agent = scriptedAgent(eachRun(...answers, 'done'), [bad]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    const rows = await executionsOf(session.sessionId);
    expect(rows).toHaveLength(thrown.length);
    for (const row of rows) {
      expect(row).toMatchObject({ status: 'FAILED', attempt: 1, error_code: 'TOOL_FAILED' });
      expect(row.error_message).not.toMatch(/^$|TypeError|Cannot (read|convert)|secret/);
    }
    await expectWholeAudit(database(), session.sessionId);
  });

  test('C35 a tool name that is cut in the middle of an emoji, and other odd names, are answered as unknown tools', async () => {
    const names = [`${'x'.repeat(127)}😀`, 'x'.repeat(500), '../../etc', ...ODD_TEXTS.map(({ given }) => given)];
    const agent = scriptedAgent(eachRun({ toolCalls: names.map((name, n) => call(name, { n })) }, 'done'));
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    const answers = (await session.history()).filter(({ role }) => role === 'tool');
    expect(answers).toHaveLength(names.length);
    for (const { parts } of answers) expect(parts).toMatchObject([{ outcome: 'failed' }]);
    const rows = await executionsOf(session.sessionId);
    for (const [n, name] of names.entries()) {
      const isKept = name !== '' && [...name].length <= 128 && name.isWellFormed() && !name.includes('\0');
      expect(rows[n].normalised, name).toEqual(isKept ? null : ['/toolName']);
    }
    await expectWholeAudit(database(), session.sessionId);
  });

  test('C38 arguments that are not JSON, or fail the schema, are answered at once, and the raw text is kept', async () => {
    let count = 0;
    const strict = defineTool({
      name: 'strict',
      description: 'Takes a number.',
      inputSchema: z.strictObject({ n: z.number() }),
      execute: () => ++count,
    });
    const toolCalls = [
      ...ODD_TEXTS.map(({ given }, n) => call('strict', undefined, { invalidInput: `{${n} ${given}` })),
      call('strict', { n: 'one' }),
      call('strict', { n: 1, more: true }),
    ];
    const agent = scriptedAgent(eachRun({ toolCalls }, 'done'), [strict]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const run = await session.send('go');
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(count).toBe(0);
    const rows = await executionsOf(session.sessionId);
    const failed = { status: 'FAILED', attempt: 0, error_code: 'PARAMS_INVALID' };
    expect(rows).toMatchObject([
      ...STORED_TEXTS.map((text, n) => ({ ...failed, raw_input: `{${n} ${text}`, input_parameters: {} })),
      { ...failed, raw_input: null, input_parameters: { n: 'one' } },
      { ...failed, raw_input: null, input_parameters: { n: 1, more: true } },
    ]);
    expect((await session.transitions()).map(({ type, from, to }) => [type, from, to])).toEqual([
      ['user.messaged', 'IDLE', 'PLANNING'],
      ['model.calledTools', 'PLANNING', 'PLANNING'],
      ['model.replied', 'PLANNING', 'IDLE'],
    ]);
    const answers = (await session.history()).filter(({ role }) => role === 'tool').map(({ content }) => content);
    for (const answer of answers.slice(0, -2)) expect(answer).toMatch(/not JSON/);
    expect(answers.slice(-2)).toEqual([expect.stringMatching(/\/n/), expect.stringMatching(/more/)]);
  });

  test('C38 arguments that are null, or that a schema makes null of, are answered at once', async () => {
    let count = 0;
    const tools = [z.any(), z.string().transform(() => null), z.strictObject({})].map((inputSchema, n) =>
      defineTool({ name: `tool${n}`, description: 'Takes anything.', inputSchema, execute: () => ++count }),
    );
    const toolCalls = [call('tool0', null), call('tool1', 'nothing'), call('tool2', null), call('none', null)];
    const agent = scriptedAgent(eachRun({ toolCalls }, 'done'), tools);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const run = await session.send('go');
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(count).toBe(0);
    const failed = { status: 'FAILED', attempt: 0, error_code: 'PARAMS_INVALID' };
    expect(await executionsOf(session.sessionId)).toMatchObject(Array(4).fill(failed));
    const answers = (await session.history()).filter(({ role }) => role === 'tool').map(({ content }) => content);
    for (const answer of answers) expect(answer).toMatch(/found null/);
    await expectWholeAudit(database(), session.sessionId);
  });
};
