import type { AskedContent } from '../machines/event-content.ts';
import type { PlannedCall } from '../machines/session-event.ts';
import { PLAIN_QUESTION } from './project-rounds.ts';

/** `asked` with one more reason: what a person is asked about one call is one question. */
export function withReason(asked: AskedContent | undefined, reason: string): AskedContent {
  const { question, ...rest } = asked ?? PLAIN_QUESTION;
  return { ...rest, question: question === null ? reason : `${question}\n${reason}` };
}

/** `call`, for which a person is asked before it starts. */
export function askInstead(call: PlannedCall, reason: string): PlannedCall {
  const content = { ...call.content, asked: withReason(call.content.asked, reason) };
  return { ...call, verdict: 'ask', waitsFor: call.waitsFor ?? 'approval', content };
}
