import type { Model, ModelRequest, ModelResponse, ModelToolCall } from '../../adapters/models/model.contract.ts';
import type { MessageCommand, PlannedCall } from '../plan/plan.ts';
import { FINAL_REPLY } from './final-reply.ts';

/** A model that does what the plan says: the message tells which replies are meant, and the history which of them is due. */
export function kitModel(messageOf: (text: string) => MessageCommand | undefined, alive: () => Promise<void>): Model {
  return {
    modelId: 'planned',
    provider: 'scripted',
    generate: async (request) => {
      await alive();
      return replyTo(request, messageOf);
    },
  };
}

function replyTo({ turns }: ModelRequest, messageOf: (text: string) => MessageCommand | undefined): ModelResponse {
  const since = turns.slice(turns.findLastIndex(({ role }) => role === 'user'));
  const message = messageOf(since[0]?.text ?? '');
  const said = since.filter(({ role }) => role === 'assistant').length;
  const replies = message?.replies ?? [];
  const due =
    replies[said] ?? (message?.insists && said === replies.length && hasFailed(since) ? replies.at(-1) : undefined);
  if (due === undefined || due.length === 0) return { text: message?.isFinal ? FINAL_REPLY : 'done' };
  return { text: 'working', toolCalls: due.map(toToolCall) };
}

/** Whether the last calls are told as failed, or as unknown. */
function hasFailed(since: ModelRequest['turns']): boolean {
  const last = since.slice(since.findLastIndex(({ role }) => role === 'assistant'));
  return last.some(({ answers }) => answers !== undefined && answers.outcome !== 'succeeded');
}

function toToolCall({ tool, params, flaw }: PlannedCall): ModelToolCall {
  if (flaw === 'noJson') return { toolName: tool, input: null, invalidInput: `${JSON.stringify(params)}}` };
  if (flaw === 'noTool') return { toolName: `${tool}_`, input: params };
  return { toolName: tool, input: flaw === 'misfit' ? { surprise: params } : params };
}
