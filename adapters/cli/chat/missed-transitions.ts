import type { SessionRecord } from '../session-record.ts';
import { buildTimeline } from '../timeline.ts';
import type { Transition } from './describe-transition.ts';

/** The transitions after the one of sequence `seen`, as a run would have shown them: those that another process committed. */
export function missedTransitions(record: SessionRecord, seen: number): Transition[] {
  return buildTimeline(record).flatMap(({ transition, turns }) => {
    if (transition === null || transition.event === null || transition.sequence <= seen) return [];
    const { sequence, from, to, event, runId } = transition;
    return [{ type: 'transition', sequence, from, to, event, runId, turns: turns.map(({ turn }) => turn) }];
  });
}
