import type { Json, TurnPart } from '../../../machines/event-content.ts';
import { canonicalJson } from '../../../persistence/keys/canonical-json.ts';
import type { RecordedTurn, Transcript } from './transcript.ts';

/** A place where a session's history is not the recording. */
export interface Difference {
  transcriptId: string;
  /** Index of the turn, from 0. */
  turn: number;
  /** What differs: `role`, `text`, `tool calls`, `tool name`, or `turn` where one of the two has ended. */
  what: string;
  recorded: string;
  found: string;
}

/** What is compared of a stored turn. */
export interface ComparedTurn {
  role: string;
  content: string;
  parts: readonly unknown[];
}

/** Every difference between a recording and the history of the session that repeated it, first turn first. */
export function compareHistory(
  { id: transcriptId, turns }: Transcript,
  history: readonly ComparedTurn[],
): Difference[] {
  const differences: Difference[] = [];
  for (let turn = 0; turn < Math.max(turns.length, history.length); turn += 1) {
    const recorded = facts(turns[turn]);
    const found = foundFacts(history[turn]);
    for (const what of Object.keys({ ...recorded, ...found })) {
      const pair = { recorded: recorded[what] ?? 'nothing', found: found[what] ?? 'nothing' };
      if (pair.recorded !== pair.found) differences.push({ transcriptId, turn, what, ...pair });
    }
  }
  return differences;
}

type Facts = { [what: string]: string };

function facts(turn: RecordedTurn | undefined): Facts {
  if (turn === undefined) return { turn: 'the end' };
  const { role, text } = turn;
  if (role === 'assistant') return { role, text, 'tool calls': showCalls(turn.calls) };
  return role === 'tool' ? { role, text, 'tool name': turn.toolName } : { role, text };
}

function foundFacts(turn: ComparedTurn | undefined): Facts {
  if (turn === undefined) return { turn: 'the end' };
  const { role, content: text } = turn;
  const parts = turn.parts as TurnPart[];
  if (role === 'assistant') {
    const calls = parts.flatMap((part) => (part.type === 'toolCall' ? [part] : []));
    return { role, text, 'tool calls': showCalls(calls.map((call) => ({ ...call, id: call.providerCallId }))) };
  }
  if (role !== 'tool') return { role, text };
  return { role, text, 'tool name': String((turn.parts[0] as { toolName?: string } | undefined)?.toolName) };
}

function showCalls(calls: readonly { toolName: string; input: Json; id: string | null }[]): string {
  return calls.map(({ id, toolName, input }) => `${toolName}(${canonicalJson(input)}) as ${id}`).join(', ') || 'none';
}
