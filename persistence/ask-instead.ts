import type { AskedContent } from '../machines/event-content.ts';
import type { PlannedCall } from '../machines/session-event.ts';
import { PLAIN_QUESTION } from './project-rounds.ts';

/** `asked` with one more reason: what a person is asked about one call is one question. `controls` are what the reason is about. */
export function withReason(asked: AskedContent | undefined, reason: string, controls: string[] = []): AskedContent {
  const { question, controls: named = [], ...rest } = asked ?? PLAIN_QUESTION;
  const all = [...named, ...controls];
  const isSaid = question?.includes(reason) ?? false;
  const said = { ...rest, question: isSaid ? question : question === null ? reason : `${question}\n${reason}` };
  return all.length === 0 ? said : { ...said, controls: all };
}

/** `call`, for which a person is asked before it starts. */
export function askInstead(call: PlannedCall, reason: string, controls?: string[]): PlannedCall {
  const content = { ...call.content, asked: withReason(call.content.asked, reason, controls) };
  return { ...call, verdict: 'ask', waitsFor: call.waitsFor ?? 'approval', content };
}
