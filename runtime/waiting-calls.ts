import type { Limits } from '../limits.ts';
import { pendingEffects } from '../machines/pending-effects.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import { type ExecutionRow, isWithChild } from '../persistence/row-changes.ts';

/** The calls that child sessions are at work on, where there is nothing else to do for the session; `null` where there is. */
export function waitingCalls(
  session: CommittedSession,
  executions: readonly ExecutionRow[],
  { maxParallelTools }: Limits,
): ExecutionRow[] | null {
  if (session.state !== 'EXECUTING_TOOL') return null;
  const effects = pendingEffects(session.snapshot, executions);
  const running = effects.filter(({ type }) => type === 'runAttempt').length;
  const children = executions.filter(isWithChild);
  const canStart = effects.length > running && running < maxParallelTools;
  return children.length > 0 && children.length === running && !canStart ? children : null;
}
