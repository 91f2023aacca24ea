import type { StoredTransition } from '../../persistence/read-transitions.ts';
import type { StoredTurn } from '../../persistence/read-turns.ts';
import type { ExecutionRow } from '../../persistence/row-changes.ts';
import type { SessionRecord } from './session-record.ts';

/** A transition with what it wrote. */
export interface TimelineEntry {
  /** `null` for turns that no transition is known for. */
  transition: StoredTransition | null;
  turns: TimelineTurn[];
}

/** A turn with the executions of its calls, in call order. */
export interface TimelineTurn {
  turn: StoredTurn;
  executions: ExecutionRow[];
}

/**
 * The transitions of a session in their order, each with the turns that it wrote. Where a transition's payload was erased, its turns are
 * those that no other one wrote and that are not younger.
 */
export function buildTimeline({
  transitions,
  turns,
  executions,
  turnsOf,
}: Omit<SessionRecord, 'overview'>): TimelineEntry[] {
  const written = new Set([...turnsOf.values()].flat());
  const homeless = turns.filter(({ turnIndex }) => !written.has(turnIndex));
  const byIndex = new Map(turns.map((turn) => [turn.turnIndex, turn]));
  const entries = transitions.map((transition): TimelineEntry => {
    const known = turnsOf.get(transition.sequence);
    const own = known?.flatMap((index) => byIndex.get(index) ?? []) ?? takeUntil(homeless, transition.createdAt);
    return { transition, turns: own.map((turn) => ({ turn, executions: callsOf(turn, executions) })) };
  });
  const rest = homeless.map((turn) => ({ turn, executions: callsOf(turn, executions) }));
  return rest.length === 0 ? entries : [...entries, { transition: null, turns: rest }];
}

function takeUntil(turns: StoredTurn[], time: Date): StoredTurn[] {
  const count = turns.findIndex((turn) => turn.createdAt > time);
  return turns.splice(0, count < 0 ? turns.length : count);
}

function callsOf(turn: StoredTurn, executions: readonly ExecutionRow[]): ExecutionRow[] {
  return executions.filter((execution) => execution.turnId === turn.turnId);
}
