import type { ChatMessage } from '../../../../adapters/cli/rehearse/generate-transcript.ts';

/** One line of a file of recordings; what is no chat message is for tests of refusals. */
export function chatLine(messages: readonly (ChatMessage | object)[], id: unknown = 'one'): string {
  return `${JSON.stringify({ id, messages })}\n`;
}

/** A message of the user. */
export function user(content: unknown): object {
  return { role: 'user', content };
}

/** A message of the assistant with calls: each a name and the text of its arguments. */
export function calling(
  calls: readonly (readonly [id: string, name: string, args: string])[],
  content: unknown = null,
): object {
  const tool_calls = calls.map(([id, name, args]) => ({ id, type: 'function', function: { name, arguments: args } }));
  return { role: 'assistant', content, tool_calls };
}

/** The answer to a call. */
export function answer(id: string, content: unknown): object {
  return { role: 'tool', tool_call_id: id, content };
}

/** A message of the assistant without calls. */
export function reply(content: unknown): object {
  return { role: 'assistant', content };
}
