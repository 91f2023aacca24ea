import { expect, test } from 'vitest';
import { z } from 'zod';
import { scripted } from '../../adapters/models/scripted.ts';
import { defineAgent, type InputSchema, type ModelRequest } from '../../index.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';

const order = z.object({ orderId: z.string(), cents: z.int().default(0) });

let count = 0;

/** An agent with an output, whose name no other test has. */
function outputAgent<Output extends InputSchema>(output: Output, ...replies: string[]) {
  count += 1;
  return defineAgent({
    name: `output-${process.pid}-${count}`,
    model: scripted(replies),
    instructions: 'Do it.',
    output,
  });
}

const ids = { tenantId: 'tenant', userId: 'user' };

/** What an agent's sessions come to. */
export const describeOutputs: RuntimeSuite = (database) => {
  test('a reply that fits is final: the session is COMPLETED, and the output is what the schema makes of it', async () => {
    const agent = outputAgent(order, '{"orderId":"42"}');
    const runtime = await openRuntime(database(), [agent]);
    const session = await runtime.createSession({ agent: agent.name, ...ids });
    const result = await (await session.send('Which order?', { messageId: 'm1' })).result();
    expect(result).toMatchObject({
      state: 'COMPLETED',
      reply: '{"orderId":"42"}',
      output: { orderId: '42', cents: 0 },
    });
    expect((await session.history()).at(-1)).toMatchObject({ metadata: { output: { orderId: '42', cents: 0 } } });
    expect((await session.transitions()).at(-1)).toMatchObject({ type: 'model.replied', to: 'COMPLETED' });
    await expect(session.send('More?')).rejects.toMatchObject({ code: 'SESSION_COMPLETED' });
  });

  test('the output is the same when it is read back by another runtime', async () => {
    const agent = outputAgent(order, '{"orderId":"42","cents":1999}');
    const session = await (await openRuntime(database(), [agent])).createSession({ agent: agent.name, ...ids });
    const first = await (await session.send('go', { messageId: 'm1' })).result();
    const again = await (await openRuntime(database(), [agent])).session(session);
    const repeat = await again.send('go', { messageId: 'm1' });
    expect(repeat.repeated).toBe(true);
    expect(await repeat.result()).toEqual(first);
    expect(first.output).toEqual({ orderId: '42', cents: 1999 });
  });

  test.each<[string, string, RegExp]>([
    ['words', 'Which order do you mean?', /not JSON/],
    ['nothing', '', /not JSON/],
    ['JSON of another shape', '{"orderId":42}', /does not fit the schema: \/orderId/],
  ])('%s is an ordinary reply, and the turn says why', async (_, reply, reason) => {
    const agent = outputAgent(order, reply, '{"orderId":"43"}');
    const session = await (await openRuntime(database(), [agent])).createSession({ agent: agent.name, ...ids });
    expect(await (await session.send('go')).result()).toMatchObject({
      state: 'IDLE',
      reply,
      output: null,
      error: null,
    });
    const { metadata } = (await session.history()).at(-1)!;
    expect(metadata).toEqual({ outputRefused: expect.stringMatching(reason) });
    expect(await (await session.send('Order 43.')).result()).toMatchObject({
      state: 'COMPLETED',
      output: { orderId: '43' },
    });
  });

  test.each<[string, InputSchema, RegExp]>([
    ['cannot be stored', z.object({ at: z.string().transform((at) => new Date(at)) }), /\/output\/at/],
    ['is made by a validator that throws', z.unknown().transform(() => assertNever()), /because/],
  ])('an output that %s makes no reply final', async (_, output, reason) => {
    const agent = outputAgent(output, '{"at":"2026-11-29"}');
    const session = await (await openRuntime(database(), [agent])).createSession({ agent: agent.name, ...ids });
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', output: null, error: null });
    expect((await session.history()).at(-1)!.metadata.outputRefused).toMatch(reason);
  });

  test('an output may be null, and one with characters that cannot be stored says where they were replaced', async () => {
    const nothing = outputAgent(z.null(), 'null');
    const odd = outputAgent(order, String.raw`{"orderId":"a\u0000b"}`);
    const runtime = await openRuntime(database(), [nothing, odd]);
    const first = await runtime.createSession({ agent: nothing.name, ...ids });
    expect(await (await first.send('go')).result()).toMatchObject({ state: 'COMPLETED', output: null });
    const second = await runtime.createSession({ agent: odd.name, ...ids });
    const { output } = await (await second.send('go')).result();
    expect(output).toEqual({ orderId: 'a\uFFFDb', cents: 0 });
    expect((await second.history()).at(-1)).toMatchObject({
      metadata: { output },
      normalised: ['/output/orderId'],
    });
  });

  test('a reply is final only once the calls before it are answered; the model is told the schema', async () => {
    const requests: ModelRequest[] = [];
    const answer = eachRun({ text: '{"orderId":"1"}', toolCalls: [call('look')] }, '{"orderId":"2"}');
    const agent = defineAgent({
      name: `output-${process.pid}-calls`,
      model: scripted((request) => {
        requests.push(request);
        return answer(request);
      }),
      instructions: 'Do it.',
      tools: [looseTool('look', () => 'seen')],
      output: order,
    });
    const session = await (await openRuntime(database(), [agent])).createSession({ agent: agent.name, ...ids });
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'COMPLETED', output: { orderId: '2' } });
    expect(requests).toHaveLength(2);
    for (const { outputSchema } of requests) {
      expect(outputSchema).toMatchObject({ type: 'object', required: ['orderId'] });
    }
  });

  test('a run that rests without a reply has no output', async () => {
    const agent = outputAgent(order);
    const session = await (await openRuntime(database(), [agent])).createSession({ agent: agent.name, ...ids });
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'FAILED', reply: null, output: null });
  });
};

function assertNever(): never {
  throw new Error('because');
}
