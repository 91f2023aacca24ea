import type { RunResult } from '../../runtime/run-event.ts';
import { escapeJson, escapeLines, escapeText } from './escape-text.ts';
import { STATE_COLOURS } from './state-colour.ts';
import type { Colours } from './terminal.ts';

/** How a run came to rest, for people. */
export function resultText({ sessionId, state, reply, awaiting, error }: RunResult, colours: Colours): string[] {
  const lines = [`session ${sessionId} is ${colours[STATE_COLOURS[state]](state)}`];
  if (reply !== null) lines.push(...escapeLines(reply).map((line) => `  ${line}`));
  for (const call of awaiting) {
    lines.push(
      `  waits for a person: ${escapeText(call.toolName)} ${escapeJson(call.params)}, execution ${call.executionId}`,
    );
  }
  if (error !== null) lines.push(`  ${colours.red(escapeText(error.code))}: ${escapeText(error.message)}`);
  return lines;
}
