import type { Json } from '../../../machines/event-content.ts';
import { canonicalJson } from '../../../persistence/keys/canonical-json.ts';
import type { Transcript } from './transcript.ts';

/** One act of a recording: what a tool is asked to do, and where in the recording the call stands. */
export interface Act {
  transcriptId: string;
  toolName: string;
  input: Json;
  /** Index of the assistant turn among the recording's turns. */
  turnIndex: number;
  /** Its place among the calls of that turn. */
  ordinal: number;
}

/** What makes two acts the same to the outside world, whatever turn they stand in. */
export function actIdentity({
  transcriptId,
  toolName,
  input,
}: Pick<Act, 'transcriptId' | 'toolName' | 'input'>): string {
  return canonicalJson([transcriptId, toolName, input]);
}

/** How often each act was recorded, by identity. */
export function recordedActs(transcripts: readonly Transcript[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { id: transcriptId, turns } of transcripts) {
    for (const { toolName, input } of turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls : []))) {
      const identity = actIdentity({ transcriptId, toolName, input });
      counts.set(identity, (counts.get(identity) ?? 0) + 1);
    }
  }
  return counts;
}
