import { readExecution } from '../../../persistence/read-execution.ts';
import type { StoredTransition } from '../../../persistence/read-transitions.ts';
import type { StoredTurn } from '../../../persistence/read-turns.ts';
import type { Runtime } from '../../../runtime/create-runtime.ts';
import { servicesOf } from '../../../runtime/services-of.ts';
import type { Session } from '../../../runtime/session-handle.ts';
import type { ShownExecution } from './chat-projection.ts';

/** Transitions that are looked at in one go, backwards. */
const WINDOW = 100;

/** Whether an assistant's message begins with the transition: after a message of the user, and with a retry. */
export function beginsMessage({ type }: StoredTransition): boolean {
  return type === 'user.messaged' || type === 'session.retried';
}

/** Whether the user's message was the answer to a question of the agent, within the run that asked it. */
export function isAnswer({ type, event }: StoredTransition): boolean {
  return type === 'user.messaged' && event?.answersExecutionId !== undefined;
}

/** The id of the assistant's message that begins with the transition: the run's, and for one after an answer its sequence too. */
export function messageIdOf(transition: StoredTransition): string {
  const runId = runOf(transition);
  return isAnswer(transition) ? `${runId}:${transition.sequence}` : runId;
}

/** The run that a transition begins, or belongs to. */
export function runOf({ event, runId }: StoredTransition): string {
  return typeof event?.runId === 'string' ? event.runId : (runId ?? '');
}

/**
 * The transitions from the begin of the message that is the last one up to the sequence `version`: of `runId`, where that is given. `null`
 * where there is none.
 */
export async function lastMessage(
  session: Session,
  version: number,
  runId?: string,
): Promise<StoredTransition[] | null> {
  let found: StoredTransition[] = [];
  for (let end = version; end > 0; end -= WINDOW) {
    const after = Math.max(0, end - WINDOW);
    found = [...(await session.transitions({ after, limit: end - after })), ...found];
    const begin = found.findLastIndex((one) => beginsMessage(one) && (runId === undefined || runOf(one) === runId));
    if (begin !== -1) return found.slice(begin);
  }
  return null;
}

/** The executions that a commit's turns and its event name. */
export async function executionsOf(
  runtime: Runtime,
  session: Session,
  { event, type }: StoredTransition,
  turns: readonly StoredTurn[],
): Promise<ReadonlyMap<string, ShownExecution>> {
  const named = type === 'approval.amended' ? [String(event?.executionId)] : [];
  const ids = new Set([
    ...named,
    ...turns.flatMap(({ role, executionId }) => (role === 'tool' ? (executionId ?? []) : [])),
  ]);
  const { store } = servicesOf(runtime);
  const rows = await Promise.all([...ids].map((executionId) => readExecution(store, session, executionId)));
  return new Map(rows.flatMap((row) => (row === null ? [] : [[row.executionId, row]])));
}
