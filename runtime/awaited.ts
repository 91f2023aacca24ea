import type { Json } from '../machines/event-content.ts';
import { waitsForPerson } from '../machines/open-calls.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import type { AwaitedExecution } from './run-event.ts';

/** What a session that waits for persons waits for; nothing in any other state. */
export function awaitedOf(session: CommittedSession, executions: readonly ExecutionRow[]): AwaitedExecution[] {
  return session.state === 'AWAITING_INPUT' ? awaitedCalls(session, executions) : [];
}

/** The calls of a session that cannot go on before a person decided, also while others are at work. */
export function awaitedCalls(session: CommittedSession, executions: readonly ExecutionRow[]): AwaitedExecution[] {
  const { sessionId, snapshot } = session;
  return snapshot.context.calls.filter(waitsForPerson).flatMap((call) => {
    const row = executions.find((execution) => execution.executionId === call.executionId);
    if (row === undefined) return [];
    const { executionId, toolName, idempotencyKey, paramsDigest: digest } = row;
    const params = row.inputParameters as Json;
    const reason = call.waitsFor ?? 'unknown';
    return [{ sessionId, executionId, toolName, params, reason, idempotencyKey, digest }];
  });
}
