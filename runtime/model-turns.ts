import type { ModelTurn, ToolOutcome } from '../adapters/models/model.contract.ts';
import type { TurnPart } from '../machines/event-content.ts';
import type { HistoryTurn } from '../persistence/read-history.ts';

/** The turns of a session as a model reads them: ordered by index, each tool turn with the call that it answers. */
export function toModelTurns(turns: readonly HistoryTurn[]): ModelTurn[] {
  let calls: TurnPart[] = [];
  return turns.map((turn) => {
    const parts = turn.parts as TurnPart[];
    if (turn.role === 'assistant') calls = parts.filter((part) => part.type === 'toolCall');
    const { turnIndex, role, content: text } = turn;
    return role === 'tool'
      ? { turnIndex, role, text, parts, answers: answered(turn, calls) }
      : { turnIndex, role, text, parts };
  });
}

function answered(turn: HistoryTurn, calls: TurnPart[]): NonNullable<ModelTurn['answers']> {
  const [result] = turn.parts as unknown as [{ toolName: string; outcome: ToolOutcome }];
  const ordinal = turn.callOrdinal ?? 0;
  const call = calls[ordinal];
  const providerCallId = call?.type === 'toolCall' ? call.providerCallId : null;
  return { ordinal, toolName: result.toolName, outcome: result.outcome, providerCallId };
}
