import { readExecutions } from '../../persistence/read-execution.ts';
import type { SessionKey } from '../../persistence/read-session.ts';
import { readSessionOverview, type SessionOverview } from '../../persistence/read-session-overview.ts';
import { readTransitions, type StoredTransition } from '../../persistence/read-transitions.ts';
import { readTurns, type StoredTurn } from '../../persistence/read-turns.ts';
import type { ExecutionRow } from '../../persistence/row-changes.ts';
import type { Store } from '../../persistence/session-transaction.ts';

/** Everything that a session's rows say. */
export interface SessionRecord {
  overview: SessionOverview;
  turns: readonly StoredTurn[];
  executions: readonly ExecutionRow[];
  transitions: readonly StoredTransition[];
  /** Indexes of the turns that a transition wrote, by its sequence; erased ones are missing. */
  turnsOf: ReadonlyMap<number, readonly number[]>;
}

/**
 * Reads a session's rows. Transitions come last: a session that moves meanwhile has a transition for every turn that was read.
 *
 * @throws SESSION_NOT_FOUND when the tenant has no such session.
 */
export async function readSessionRecord(store: Store, key: SessionKey): Promise<SessionRecord> {
  const overview = await readSessionOverview(store, key);
  const turns = await readTurns(store, key);
  const executions = await readExecutions(store, key);
  const transitions = await readTransitions(store, key);
  const turnsOf = new Map(
    transitions.flatMap(({ event, sequence, turnIndexes }) =>
      event === null ? [] : [[sequence, turnIndexes] as const],
    ),
  );
  return { overview, turns, executions, transitions, turnsOf };
}
