import { waitsForPerson } from '../machines/open-calls.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import { paramsProblem, presentParams } from '../persistence/present-params.ts';
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
    const { executionId, toolName, idempotencyKey } = row;
    const { params, digest } = presentParams(row);
    const problem = paramsProblem({ params, digest }) ?? problemOf(row);
    const reason = call.waitsFor ?? 'unknown';
    return [{ sessionId, executionId, toolName, params, reason, problem, idempotencyKey, digest }];
  });
}

/** Codes under which a call is kept from running in a build. */
const PROBLEMS: readonly (string | null)[] = ['TOOL_UNKNOWN', 'UPGRADE_FAILED', 'PARAMS_CHANGED'];

function problemOf({ errorCode, errorMessage }: ExecutionRow): AwaitedExecution['problem'] {
  return PROBLEMS.includes(errorCode) ? { code: errorCode as string, message: errorMessage ?? '' } : null;
}
