import type { RecordedEvent } from '../../../machines/session-event.ts';
import type { SessionState } from '../../../machines/session-state.ts';
import type { ExecutionRow } from '../../../persistence/row-changes.ts';
import { describeEvent } from '../describe-event.ts';
import { escapeText } from '../escape-text.ts';
import type { SessionRecord } from '../session-record.ts';
import { buildTimeline, type TimelineEntry } from '../timeline.ts';

/** A committed transition as the story tells it. */
export interface Committed {
  sequence: number;
  event: string;
  from: SessionState;
  to: SessionState;
  /** Which calls it is about, in a few words. */
  about: string;
  /** What was said in it. */
  words: { role: 'user' | 'assistant'; text: string }[];
  /** Tools of which it started an attempt. */
  started: string[];
  /** Milliseconds that had passed since its commit when it was read. */
  agoMs: number;
}

/**
 * The transitions of a session after the one of sequence `seen`. What is newer than the session's row in the record is left for the next
 * look: its turns and calls may not have been read yet.
 */
export function committedSince(record: SessionRecord, seen: number): Committed[] {
  return buildTimeline(record).flatMap((entry) => toCommitted(entry, record, seen));
}

function toCommitted(
  { transition, turns }: TimelineEntry,
  { executions, overview }: SessionRecord,
  seen: number,
): Committed[] {
  if (transition === null || transition.sequence <= seen || transition.sequence > overview.version) return [];
  const { sequence, type: event, from, to, createdAt } = transition;
  const calls = turns.flatMap((turn) => turn.executions.map(({ toolName }) => toolName));
  const words = turns.flatMap(({ turn: { role, content } }) =>
    (role === 'user' || role === 'assistant') && content !== '' ? [{ role, text: content }] : [],
  );
  const about = event === 'model.calledTools' ? escapeText(calls.join(', ')) : describe(transition.event, executions);
  const started = event === 'model.calledTools' ? calls : startedAgain(transition.event, executions);
  return [{ sequence, event, from, to, about, words, started, agoMs: overview.now.getTime() - createdAt.getTime() }];
}

/** As the other commands describe it, without what goes without saying here. */
function describe(event: RecordedEvent | null, executions: readonly ExecutionRow[]): string {
  return describeEvent(event, executions)
    .replaceAll(/ \(attempt \d+\)/g, '')
    .replace(/, by .*/, '');
}

function startedAgain(event: RecordedEvent | null, executions: readonly ExecutionRow[]): string[] {
  if (event?.type !== 'execution.started') return [];
  const ids = (event.executions as { executionId: string }[]).map(({ executionId }) => executionId);
  return executions.filter(({ executionId }) => ids.includes(executionId)).map(({ toolName }) => toolName);
}
