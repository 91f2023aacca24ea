import { z } from 'zod';
import { HttpProblem } from '../http-problem.ts';

const PART = z.looseObject({ type: z.string() });
const MESSAGE = z.looseObject({ id: z.string(), role: z.string(), parts: z.array(PART) });

/** What `DefaultChatTransport` posts. Of the messages only the last one, or the one that was answered, is read: the history is ours. */
export const POSTED_CHAT = z.looseObject({
  id: z.string(),
  messages: z.array(z.unknown()).min(1),
  trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
  messageId: z.string().nullish(),
  agent: z.string().optional(),
});

const RESPONDED = z.looseObject({
  state: z.literal('approval-responded'),
  approval: z.looseObject({
    id: z.string(),
    approved: z.boolean(),
    reason: z.string().optional(),
    descriptor: z.looseObject({ executionId: z.string(), approvalId: z.string(), digest: z.string() }),
  }),
});

/** A decision of a person about a call, bound to what was seen. */
export interface PostedDecision {
  executionId: string;
  approvalId: string;
  digest: string;
  approved: boolean;
  reason: string | null;
}

/** What was posted: a message of the user, or decisions about calls. */
export type Posted =
  | { type: 'message'; messageId: string; text: string }
  | { type: 'decisions'; decisions: PostedDecision[] };

/** @throws HttpProblem 400 for what is neither. */
export function readPosted({ messages, messageId }: z.output<typeof POSTED_CHAT>): Posted {
  const isNamed = (message: unknown): boolean => (message as { id?: unknown } | null)?.id === messageId;
  // Where no id is said, the last one is meant, and none of those before it that has no id.
  const named = messageId === undefined || messageId === null ? undefined : messages.findLast(isNamed);
  const read = MESSAGE.safeParse(named ?? messages.at(-1));
  if (!read.success) throw invalid('The last message is none of the AI SDK.');
  const { id, role, parts } = read.data;
  if (role === 'user') {
    const texts = parts.flatMap((part) => (part.type === 'text' && typeof part.text === 'string' ? [part.text] : []));
    if (texts.length === 0 && parts.length === 0) throw invalid('Nothing was said.');
    if (texts.length < parts.length) throw invalid('The message has parts that are no text, for example files.');
    return { type: 'message', messageId: id, text: texts.join('\n') };
  }
  const responded = parts.filter(({ state }) => state === 'approval-responded');
  // What was decided before the page was opened stands there as it was sent: without a descriptor. It is nobody's answer now.
  const answers = responded.filter(
    ({ approval }) => (approval as { descriptor?: unknown } | null)?.descriptor !== undefined,
  );
  const decisions = (answers.length > 0 ? answers : responded).map(readDecision);
  if (role !== 'assistant' || decisions.length === 0) throw invalid('Nothing was said, and nothing decided.');
  return { type: 'decisions', decisions };
}

function readDecision(part: z.output<typeof PART>): PostedDecision {
  const read = RESPONDED.safeParse(part);
  if (!read.success) {
    throw invalid('An answer does not say what was seen: `approval.descriptor` must come back as it was sent.');
  }
  const { approved, reason, descriptor } = read.data.approval;
  const { executionId, approvalId, digest } = descriptor;
  return { executionId, approvalId, digest, approved, reason: reason?.trim() ? reason : null };
}

function invalid(detail: string): HttpProblem {
  return new HttpProblem(400, 'REQUEST_INVALID', detail, 'See "Chats" in docs/http.md.');
}
