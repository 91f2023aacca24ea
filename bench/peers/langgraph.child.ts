import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { task as durableTask } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { createAgent, type ToolRuntime, tool } from 'langchain';
import { z } from 'zod';
import { ended, mayGoOn, payBackOrFind, stopAt, task } from './peer-process.ts';
import { CENTS, MESSAGE } from './peer-task.ts';

/*
 * LangGraph.js: an agent of `createAgent` with the checkpointer for Postgres, durability `sync`, and the side effect in a task, as its page on
 * durable execution asks for. It goes on with `invoke(null)` on the same thread.
 */

/** A model without a provider: it asks for the refund, and once it has the tool's answer it says so. */
class ScriptedModel extends BaseChatModel {
  constructor() {
    super({});
  }
  _llmType(): string {
    return 'scripted';
  }
  override bindTools(): this {
    return this;
  }
  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const last = messages.at(-1);
    if (last?.type === 'tool') await stopAt('afterTheRecord');
    const message =
      last?.type === 'tool'
        ? new AIMessage(`Refunded: ${last.text}`)
        : new AIMessage({
            content: '',
            tool_calls: [
              { id: 'call-1', name: 'refund', args: { orderId: task.orderId, cents: CENTS }, type: 'tool_call' },
            ],
          });
    return { generations: [{ text: message.text, message }] };
  }
}

const refundTask = durableTask('refund', payBackOrFind);
const refund = tool(
  // The id of a call is the model's and stands in the checkpoint: with the thread's it is the same when the tool runs again.
  (_, runtime: ToolRuntime) => refundTask(`${task.name}:${runtime.toolCallId}`),
  {
    name: 'refund',
    description: 'Pays an order back.',
    schema: z.object({ orderId: z.string(), cents: z.number().int() }),
  },
);

const checkpointer = PostgresSaver.fromConnString(task.database);
const agent = createAgent({ model: new ScriptedModel(), tools: [refund], checkpointer });
const config = { configurable: { thread_id: task.name }, durability: 'sync' } as const;
if (task.does === 'set') {
  await checkpointer.setup();
  await ended('set up');
}
await mayGoOn();
const input = task.does === 'resume' ? null : { messages: [{ role: 'user', content: MESSAGE }] };
const { messages } = await agent.invoke(input, config);
await ended(messages.at(-1)?.text ?? '');
