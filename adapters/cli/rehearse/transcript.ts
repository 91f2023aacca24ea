import type { Json } from '../../../machines/event-content.ts';

/** One call that a recorded assistant made, with its recorded answer. */
export interface RecordedCall {
  /** The provider's id, unique within its message. */
  id: string;
  toolName: string;
  input: Json;
  output: string;
}

/** One turn of a recording, in the form in which the session's history must show it. */
export type RecordedTurn =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; calls: RecordedCall[] }
  | { role: 'tool'; toolName: string; text: string };

/** One recorded conversation. */
export interface Transcript {
  id: string;
  /** The leading system message: what the model was told. It is no turn. */
  instructions: string | null;
  /** A user's turn first; every call is answered right after its assistant turn, in call order. */
  turns: RecordedTurn[];
}

/** How many calls the recordings hold. */
export function countCalls(transcripts: readonly Transcript[]): number {
  return transcripts.reduce((sum, { turns }) => sum + turns.filter((turn) => turn.role === 'tool').length, 0);
}
