import { expect, test } from 'vitest';
import type { ModelContext, ModelResponse } from '../../adapters/models/model.contract.ts';
import { type Agent, defineAgent, type Session, TurnlockError } from '../../index.ts';
import { expectWholeAudit } from '../support/audit-of.ts';
import { ODD_VALUES, REFUSED, type RefusedAt } from '../support/odd-values.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, looseTool } from '../support/runtime-script.ts';

/** What an error of the language sounds like, and what getters of the table throw. */
const RAW = /TypeError|RangeError|Cannot |is not (a function|iterable|defined)|undefined \(reading/;

/** Every sixth: each is a run of its own, and what becomes of all of them is tested without a database. */
const some = <Value>(values: readonly Value[]) => values.filter((_, place) => place % 6 === 0);

/** What a model of a user may do wrong, and what becomes of it. */
export const describeAnswers: RuntimeSuite = (database) => {
  /** A session whose model does what the test says, each run of it a single attempt. */
  async function modelled(): Promise<{ session: Session; agent: Agent; answer(next: Generate): Promise<Failure> }> {
    let generate: Generate = () => 'none';
    const { name } = scriptedAgent('x');
    const echo = looseTool('echo', (params) => params);
    const model = {
      modelId: 'broken',
      generate: async (_: unknown, context: ModelContext) => (await generate(context)) as ModelResponse,
    };
    const agent = defineAgent({ name, model, instructions: 'Do it.', tools: [echo] });
    const runtime = await openRuntime(database(), [agent], { limits: { maxModelAttempts: 1 } });
    const session = await openSession(runtime, agent);
    generate = () => {
      throw new Error('first');
    };
    await (await session.send('go')).result();
    return {
      session,
      agent,
      answer: async (next) => {
        generate = next;
        const { state, reply, error } = await (await session.retry()).result();
        return { state, reply, ...error } as Failure;
      },
    };
  }

  type Generate = (context: ModelContext) => unknown;
  type Failure = { state: string; reply: string | null; code: string; message: string };

  async function expectFailuresAlone(session: Session, count: number): Promise<void> {
    expect((await session.history()).map(({ role }) => role)).toEqual(['user']);
    expect(new Set((await session.transitions()).slice(1).map(({ type }) => type))).toEqual(
      new Set(['model.failed', 'session.retried']),
    );
    const rows = await database().query(
      'SELECT error_code, error_message FROM turnlock.agent_model_calls WHERE session_id = $1 AND error_code IS NOT NULL',
      [session.sessionId],
    );
    expect(rows).toHaveLength(count + 1);
    for (const row of rows) expect(row.error_message).not.toMatch(RAW);
    await expectWholeAudit(database(), session.sessionId);
  }

  test('an answer that has not the form of the port is a failed attempt that says what is wrong', async () => {
    const answers: unknown[] = [
      null,
      undefined,
      42,
      'done',
      [],
      () => 'done',
      { toolCalls: 'echo' },
      { toolCalls: [null] },
      { toolCalls: [call('echo'), 'echo'] },
      { parts: 'abc' },
      { parts: [{ type: 'toolCall', toolName: 'echo' }] },
      { text: 42 },
      { usage: { inputTokens: -1 } },
      { usage: { inputTokens: Number.NaN } },
      { usage: { inputTokens: Number.POSITIVE_INFINITY } },
      { usage: 'much', toolCalls: [call('echo')] },
      { finishReason: 7 },
      { providerRequestId: Symbol('id') },
    ];
    const { session, answer } = await modelled();
    for (const broken of answers) {
      const failure = await answer(() => broken);
      expect(failure).toMatchObject({ state: 'FAILED', reply: null, code: 'MODEL_FAILED' });
      expect(failure.message).toMatch(/^answer not accepted: .+ of broken \(found .+, wanted .+\)\.$/);
    }
    expect(await answer((context) => context.emit(null as never))).toMatchObject({
      code: 'MODEL_FAILED',
      message: expect.stringContaining('delta not accepted'),
    });
    await expectFailuresAlone(session, answers.length + 1);
  });

  test('C36 a wrong delta throws nothing where the model emits it, and fails the attempt once it answers', async () => {
    const { session, answer } = await modelled();
    let emitted: ModelContext['emit'] = () => undefined;
    const failure = await answer(async ({ emit }) => {
      emitted = emit;
      await new Promise<void>((resolve) => setTimeout(() => resolve(emit(null as never)), 1));
      emit({ type: 'text', text: 7 } as never);
      return { text: 'as if nothing had been' };
    });
    expect(failure).toMatchObject({
      state: 'FAILED',
      code: 'MODEL_FAILED',
      message: expect.stringContaining('delta not accepted: of broken (found null'),
    });
    expect(() => emitted(null as never)).not.toThrow();
    await expectFailuresAlone(session, 1);
  });

  test('what a model shows after its attempt is over reaches nobody', async () => {
    let emitted: ModelContext['emit'] = () => undefined;
    let steps = 0;
    const agent = defineAgent({
      name: scriptedAgent('x').name,
      instructions: 'Do it.',
      model: {
        modelId: 'late',
        async generate(_: unknown, { emit }: ModelContext) {
          if (steps++ === 0) emitted = emit;
          else emitted({ type: 'text', text: 'late' });
          emit({ type: 'text', text: `step ${steps}` });
          return steps === 1 ? { toolCalls: [call('echo')] } : { text: 'done' };
        },
      },
      tools: [looseTool('echo', (params) => params)],
    });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const shown: string[] = [];
    for await (const event of await session.send('go')) if (event.type === 'delta') shown.push(event.text);
    expect(shown).toEqual(['step 1', 'step 2']);
  });

  test('C36 a part, or metadata of a provider, that JSON cannot hold is a failed attempt with its path', async () => {
    const { session, answer } = await modelled();
    const odd = some(REFUSED).filter(({ name, fate }) => name !== 'undefined' && fate.at[0]?.code === 'VALUE_INVALID');
    for (const { name, make, fate } of odd) {
      const [{ code, path }] = fate.at as [RefusedAt];
      const inPart = await answer(() => ({ parts: [{ type: 'custom', part: { value: make() } }] }));
      const inCall = await answer(() => ({
        toolCalls: [call('echo', {}, { providerMetadata: { value: make() } as never })],
      }));
      const places = ['/parts/0/part/value', '/parts/0/providerMetadata/value'];
      for (const [n, failure] of [inPart, inCall].entries()) {
        const message = expect.stringContaining(path === null ? '/parts' : `${places[n]}${path} `);
        expect(failure, name).toMatchObject({ state: 'FAILED', code, message });
      }
    }
    await expectFailuresAlone(session, 2 * odd.length);
  });

  test('C34 C36 whatever a model throws is a failed attempt', async () => {
    const { session, answer } = await modelled();
    const brand = Symbol.for('turnlock.error');
    const thrown = [
      ...some(ODD_VALUES).map((value) => () => value.make()),
      ...some(REFUSED).map(
        (value) => () =>
          Object.assign(new Error('odd'), { message: value.make(), code: value.make(), cause: value.make() }),
      ),
      () => ({ [brand]: true }),
      () => ({ [brand]: true, code: 'x'.repeat(500), retryable: true, details: null }),
      () => new TurnlockError('MODEL_FAILED', { message: 'odd', details: { retryAfterMs: Number.NaN } }),
    ];
    for (const make of thrown) {
      const failure = await answer(() => {
        throw make();
      });
      expect(failure).toMatchObject({
        state: 'FAILED',
        reply: null,
        code: 'MODEL_FAILED',
        message: expect.stringMatching(/./),
      });
    }
    await expectFailuresAlone(session, thrown.length);
  });

  test('what is wrong in the middle of an answer is told after the attempts that are allowed, and the session goes on', async () => {
    let asked = 0;
    const { name } = scriptedAgent('x');
    const generate = async () =>
      ++asked < 3
        ? {
            get text(): string {
              throw Object.assign(new Error('odd'), { retryable: 1 });
            },
          }
        : { text: 'done' };
    const agent = defineAgent({ name, model: { modelId: 'getter', generate }, instructions: 'Do it.' });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect((await session.transitions()).map(({ type }) => type)).toEqual([
      'user.messaged',
      'model.attemptFailed',
      'model.attemptFailed',
      'model.replied',
    ]);
  });

  test('a validator that answers with no result is a call that cannot run, and says so', async () => {
    const odd = [null, undefined, 42, 'text', { issues: 'none' }, { issues: null }, { issues: {} }];
    const tools = odd.map((result, n) => ({
      ...looseTool(`odd${n}`, () => 'ran'),
      inputSchema: {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: () => result,
          jsonSchema: { input: () => ({}), output: () => ({}) },
        },
      },
    })) as unknown as ReturnType<typeof looseTool>[];
    const agent = scriptedAgent(
      ({ turns }) => (turns.length === 1 ? { toolCalls: tools.map(({ name }) => call(name)) } : 'done'),
      tools,
    );
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    const answers = (await session.history()).filter(({ role }) => role === 'tool').map(({ content }) => content);
    expect(answers).toHaveLength(odd.length);
    for (const answer of answers)
      expect(answer).toMatch(/validator answered with no result: .*found .+, wanted a value or a list of issues/);
  });
};
