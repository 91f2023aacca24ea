import { waitsForPerson } from '../machines/open-calls.ts';
import { paramsProblem, presentParams } from '../persistence/present-params.ts';
import type { ReadSession } from '../persistence/read-session-by-key.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import type { AwaitedExecution } from './run-event.ts';

/** A session with its open calls, and what persons are asked about them. */
export type Asking = Pick<ReadSession, 'session' | 'executions' | 'questions'>;

/** What a session that waits for persons waits for; nothing in any other state. */
export function awaitedOf(asking: Asking): AwaitedExecution[] {
  return asking.session.state === 'AWAITING_INPUT' ? awaitedCalls(asking) : [];
}

/** The calls of a session that cannot go on before a person decided, also while others are at work. */
export function awaitedCalls({ session, executions, questions }: Asking): AwaitedExecution[] {
  const { sessionId, snapshot } = session;
  return snapshot.context.calls.filter(waitsForPerson).flatMap((call) => {
    const row = executions.find((execution) => execution.executionId === call.executionId);
    const approvalId = questions[call.executionId];
    if (row === undefined || approvalId === undefined) return [];
    const { executionId, toolName, idempotencyKey } = row;
    const { params, digest } = presentParams(row);
    const problem = paramsProblem({ params, digest }) ?? problemOf(row);
    const reason = call.waitsFor ?? 'unknown';
    return [{ sessionId, executionId, approvalId, toolName, params, reason, problem, idempotencyKey, digest }];
  });
}

/** Codes under which a call is kept from running in a build. */
const PROBLEMS: readonly (string | null)[] = ['TOOL_UNKNOWN', 'UPGRADE_FAILED', 'PARAMS_CHANGED'];

function problemOf({ errorCode, errorMessage }: ExecutionRow): AwaitedExecution['problem'] {
  return PROBLEMS.includes(errorCode) ? { code: errorCode as string, message: errorMessage ?? '' } : null;
}
