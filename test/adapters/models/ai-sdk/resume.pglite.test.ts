import { randomUUID } from 'node:crypto';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { type ToolSet, tool } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { aiSdk, fromAiSdk } from '../../../../adapters/models/ai-sdk.ts';
import { type Agent, defineAgent, type Model } from '../../../../index.ts';
import { ManualClock } from '../../../../testing/clock/manual-clock.ts';
import { openMortal, recoverLater } from '../../../support/runtime-crash.ts';
import { onPglite } from '../../../support/runtime-database.ts';
import { openRuntime, openSession } from '../../../support/runtime-open.ts';
import { waitFor } from '../../../support/wait-for.ts';
import {
  anthropicBlocks,
  anthropicError,
  anthropicReply,
  redactedBlock,
  textBlock,
  thinkingBlock,
  toolBlock,
} from './anthropic-wire.ts';
import { callItem, messageItem, reasoningItem, responsesReply } from './openai-wire.ts';
import { type SseReply, sseServer } from './sse-server.ts';

const SIGNATURE = `EqoBCkgIARABGAIiQL8/0+z//aZ9u+++${'Zm9v/+'.repeat(200)}==`;
const REDACTED = `EmwKAhgBEgy3va3pzix/LafPsn4a+/${'x'.repeat(300)}==`;

/** A tool of the SDK that notes under which id it is called. */
function chargeTool() {
  const ids: string[] = [];
  const charge = tool({
    description: 'Charges a card.',
    inputSchema: z.object({ order: z.number(), zeta: z.string(), a: z.string() }),
    execute: async ({ order }, { toolCallId }) => {
      ids.push(toolCallId);
      return { charged: order };
    },
  });
  return { ids, tools: { charge } satisfies ToolSet };
}

function agentOf(model: Model, tools: ToolSet): Agent {
  const name = `agent-${randomUUID().slice(0, 8)}`;
  return defineAgent({
    name,
    model,
    instructions: 'Be brief.',
    tools: fromAiSdk(tools, { charge: { effect: 'idempotent' } } as never),
  });
}

async function onAnthropic(...replies: SseReply[]) {
  const server = await sseServer(...replies);
  const anthropic = createAnthropic({ baseURL: `${server.url}/v1`, apiKey: 'x' });
  const providerOptions = { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } };
  return { server, model: aiSdk(anthropic('claude-x'), { providerOptions, maxOutputTokens: 4_096 }) };
}

onPglite((database) => {
  /** A run whose process dies after the tool ran and before its result is written; another one goes on. */
  async function dieBetweenCallAndResult(model: Model) {
    const { ids, tools } = chargeTool();
    const agent = agentOf(model, tools);
    const where = (passage: { executionId?: string }) => passage.executionId !== undefined;
    const { runtime, plan } = await openMortal(database(), [agent], [{ point: 'afterEffect', fault: 'crash', where }]);
    const session = await openSession(runtime, agent);
    await session.send('Charge order 42.');
    await plan.struck;
    const { runtime: second, recoveries } = await recoverLater(database(), [agent]);
    expect(recoveries).toMatchObject([{ state: 'IDLE' }]);
    return { ids, session: await second.session(session) };
  }

  test('Anthropic: a run that another process goes on with sends thinking and signatures back unchanged', async () => {
    const input = '{"order":42,"zeta":"ü","a":"1"}';
    const { model, server } = await onAnthropic(
      anthropicReply(
        'tool_use',
        thinkingBlock('First the order.\n\n  Then… 🂡', SIGNATURE),
        redactedBlock(REDACTED),
        textBlock('I charge.'),
        toolBlock('toolu_01', 'charge', input),
      ),
      anthropicReply('end_turn', textBlock('Done.')),
    );
    const { ids, session } = await dieBetweenCallAndResult(model);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]?.body.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'First the order.\n\n  Then… 🂡', signature: SIGNATURE },
          { type: 'redacted_thinking', data: REDACTED },
          { type: 'text', text: 'I charge.' },
          { type: 'tool_use', id: 'toolu_01', name: 'charge', input: JSON.parse(input) },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_01', content: '{"charged":42}' }] },
    ]);
    expect((await session.history()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  test('OpenAI: a run that another process goes on with sends encrypted reasoning back unchanged', async () => {
    const server = await sseServer(
      responsesReply(
        reasoningItem('rs_1', 'First the order.', SIGNATURE),
        callItem('fc_1', 'call_1', 'charge', '{"order":42,"zeta":"z","a":"1"}'),
      ),
      responsesReply(messageItem('msg_1', 'Done.')),
    );
    const openai = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'x' });
    await dieBetweenCallAndResult(aiSdk(openai('gpt-5-x'), { providerOptions: { openai: { store: false } } }));
    expect(server.requests[0]?.body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
    expect(server.requests[1]?.body.input.slice(2)).toMatchObject([
      { type: 'reasoning', id: 'rs_1', encrypted_content: SIGNATURE, summary: [{ text: 'First the order.' }] },
      { type: 'function_call', call_id: 'call_1', name: 'charge' },
      { type: 'function_call_output', call_id: 'call_1', output: '{"charged":42}' },
    ]);
  });

  test('C30 a stream that breaks after a call was seen runs nothing; the attempt after it counts', async () => {
    const callBlock = toolBlock('toolu_01', 'charge', '{"order":42,"zeta":"z","a":"1"}');
    const { model, server } = await onAnthropic(
      { events: anthropicBlocks(textBlock('I charge.'), callBlock), ending: 'break' },
      anthropicReply('tool_use', callBlock),
      anthropicReply('end_turn', textBlock('Done.')),
    );
    const { ids, tools } = chargeTool();
    const agent = agentOf(model, tools);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('Charge order 42.')).result()).toMatchObject({ state: 'IDLE', reply: 'Done.' });
    expect(ids).toHaveLength(1);
    expect(server.requests).toHaveLength(3);
    const calls = await database().query(
      'SELECT attempt, error_code, finish_reason, provider_request_id, token_usage_json FROM turnlock.agent_model_calls WHERE session_id = $1 ORDER BY started_at, attempt',
      [session.sessionId],
    );
    expect(calls).toMatchObject([
      { attempt: 1, error_code: 'MODEL_FAILED', finish_reason: null },
      { attempt: 2, error_code: null, finish_reason: 'tool-calls', provider_request_id: 'req_011' },
      { attempt: 1, finish_reason: 'stop', token_usage_json: { inputTokens: 25, outputTokens: 9 } },
    ]);
  });

  test('C38 arguments that are no JSON are answered at once, and the next request says so', async () => {
    const { model, server } = await onAnthropic(
      anthropicReply('tool_use', toolBlock('toolu_01', 'charge', '{"order":')),
      anthropicReply('end_turn', textBlock('Sorry.')),
    );
    const { ids, tools } = chargeTool();
    const agent = agentOf(model, tools);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('Charge order 42.')).result()).toMatchObject({ state: 'IDLE', reply: 'Sorry.' });
    expect(ids).toEqual([]);
    const [, assistant, results] = server.requests[1]!.body.messages;
    expect(assistant.content).toEqual([
      { type: 'tool_use', id: 'toolu_01', name: 'charge', input: { arguments: '{"order":' } },
    ]);
    expect(results.content).toMatchObject([{ is_error: true, content: expect.stringContaining('not JSON') }]);
  });

  test('the pause that a provider asks for is kept', async () => {
    const { model } = await onAnthropic(
      anthropicError(429, 'rate_limit_error', 'slow down', { 'retry-after': '40' }),
      anthropicReply('end_turn', textBlock('Done.')),
    );
    const clock = new ManualClock();
    const agent = agentOf(model, chargeTool().tools);
    const runtime = await openRuntime(database(), [agent], { environment: clock });
    const session = await openSession(runtime, agent);
    const run = await session.send('Go.');
    const failed = async () => (await session.transitions()).some(({ type }) => type === 'model.attemptFailed');
    await waitFor(failed, { for: 'the failed attempt' });
    await waitFor(() => clock.longestSleepMs > 35_000, { for: 'the pause' });
    expect(clock.longestSleepMs).toBeLessThanOrEqual(40_000);
    clock.advance(40_000);
    await database().moveClock(40_000);
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'Done.' });
  });

  test('a request that the provider refuses fails the run at once, and says why', async () => {
    const { model, server } = await onAnthropic(anthropicError(400, 'invalid_request_error', 'prompt is too long'));
    const agent = agentOf(model, chargeTool().tools);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('Go.')).result()).toMatchObject({
      state: 'FAILED',
      error: {
        code: 'MODEL_FAILED',
        message: 'model call failed: claude-x (found HTTP 400, invalid_request_error: prompt is too long).',
      },
    });
    expect(server.requests).toHaveLength(1);
  });
});
