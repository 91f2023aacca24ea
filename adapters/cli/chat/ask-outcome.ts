import type { Settlement } from '../../../runtime/check-settlement.ts';
import type { AwaitedExecution } from '../../../runtime/run-event.ts';
import { escapeJson, escapeText } from '../escape-text.ts';
import type { Colours } from '../terminal.ts';
import type { ChatInput } from './chat-input.ts';
import type { ChatScreen } from './chat-screen.ts';

const WHY: Record<AwaitedExecution['reason'], string> = {
  unknown: 'was started, and nothing says how it ended. Ask its receiver, by the key, what happened.',
  approval: 'waits for a decision. It was not started.',
  answer: 'asks you. Your next message is the answer.',
};

/** What a person at the terminal says of a call. */
export type Outcome =
  | Settlement
  | { decision: 'approve'; by: string }
  | { decision: 'deny'; reason: string; by: string };

/** Asks the person at the terminal how a call ended, or whether it may run. `null`: it is left as it is. */
export async function askOutcome(
  call: AwaitedExecution,
  { screen, input, by }: { screen: ChatScreen; input: ChatInput; by: string },
): Promise<Outcome | null> {
  const { colours } = screen.terminal;
  for (const line of waitingText(call, colours)) screen.aside(line);
  const isApproval = call.reason === 'approval';
  const ways = [
    ...(isApproval ? ['[a] approve', '[d] deny'] : []),
    '[s] it succeeded',
    '[f] it failed',
    ...(call.reason === 'unknown' ? ['[r] run it again'] : []),
    '[l] leave it',
  ];
  for (;;) {
    const answer = (await input.read(`  ${ways.join('   ')} › `))?.trim().toLowerCase();
    if (answer === undefined || answer === 'l') return null;
    if (answer === 'a' && isApproval) return { decision: 'approve', by };
    if (answer === 'd' && isApproval) {
      const reason = await input.read('  Why? The model is told › ');
      return reason === null ? null : { decision: 'deny', reason: reason.trim() || 'A person refused it.', by };
    }
    if (answer === 'r' && call.reason === 'unknown') return { outcome: 'runAgain', by };
    if (answer === 'f') {
      const reason = await input.read('  Why? The model is told › ');
      return reason === null ? null : { outcome: 'failed', reason: reason.trim() || 'It did not happen.', by };
    }
    if (answer === 's') {
      const output = await askOutput(screen, input);
      return output === null ? null : { outcome: 'succeeded', output: output.value, by };
    }
  }
}

/** What a call is that waits for a person, for people. */
export function waitingText(
  { toolName, params, reason, idempotencyKey }: AwaitedExecution,
  colours: Colours,
): string[] {
  const { bold, dim, yellow } = colours;
  return [
    `${yellow('?')} ${bold(escapeText(toolName))} ${escapeJson(params)} ${WHY[reason]}`,
    dim(`  key ${escapeText(idempotencyKey)}`),
  ];
}

async function askOutput(screen: ChatScreen, input: ChatInput): Promise<{ value: unknown } | null> {
  for (;;) {
    const text = await input.read('  What would it have returned? JSON, or nothing › ');
    if (text === null) return null;
    if (text.trim() === '') return { value: null };
    try {
      return { value: JSON.parse(text) as unknown };
    } catch {
      screen.aside('  That is no JSON: text stands in quotes, as in "done".');
    }
  }
}
