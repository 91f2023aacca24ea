import { isTurnlockError } from '../errors.ts';
import { isResting } from '../machines/session-state.ts';
import { childSessionId } from '../persistence/keys/child-ids.ts';
import { isLeaseLive } from '../persistence/lease.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import { type ReadSession, readSession } from '../persistence/read-session-by-key.ts';
import { type ExecutionRow, isWithChild } from '../persistence/row-changes.ts';
import type { Store } from '../persistence/session-transaction.ts';
import { hasNews } from '../persistence/sleeping-parent.ts';
import { type Asking, awaitedCalls } from './awaited.ts';
import { reportChild } from './child-end.ts';
import { recoverOne } from './recover.ts';
import type { AwaitedExecution } from './run-event.ts';
import { inBackground, type Services } from './services.ts';
import { waitingCalls } from './waiting-calls.ts';

/** The children of calls as they stand. */
interface ChildrenLook {
  /** Calls whose child is at rest, and does not wait for a person: it ended, or has not begun. */
  resting: string[];
  /** Children that nobody is at work on. */
  owed: SessionKey[];
  /** Whether any of them goes on without a person. */
  moves: boolean;
  /** What persons are asked by them and those below them. */
  awaiting: AwaitedExecution[];
}

/** What a session that sleeps waits for. */
export type Sleep =
  /** It has something to go on with. */
  | { type: 'woken' }
  /** Some child is at work, or will be. */
  | { type: 'waits' }
  /** Nothing goes on before a person decided. */
  | { type: 'asks'; awaiting: AwaitedExecution[] };

/**
 * What became of a session that may sleep; `null` for one that does not. Its children are looked at: one that ended and did not say so wakes it,
 * and one that nobody is at work on is gone on with here, where this process drives.
 */
export async function lookAtSleeper(services: Services, read: Asking): Promise<Sleep | null> {
  const { store } = services;
  const { session, executions } = read;
  const calls = session.leaseHolder === null ? waitingCalls(session, executions, store.limits) : null;
  if (calls === null) return null;
  const { tenantId, sessionId } = session;
  const { resting, owed, moves, awaiting } = await lookAtChildren(store, tenantId, calls);
  for (const executionId of resting) {
    if (await reportChild(store, tenantId, { sessionId, executionId })) return { type: 'woken' };
    owed.push({ tenantId, sessionId: childSessionId(executionId) });
  }
  if (await hasNews(store, session)) return { type: 'woken' };
  const isDrivenHere = services.drives && !services.isClaiming && !services.closing.aborted;
  if (isDrivenHere) for (const key of owed) inBackground(services, () => recoverOne(services, key));
  return moves ? { type: 'waits' } : { type: 'asks', awaiting: [...awaitedCalls(read), ...awaiting] };
}

/** What persons are asked by the children of a session, and by those below them. */
export async function awaitedOfChildren(
  store: Store,
  { tenantId }: SessionKey,
  executions: readonly ExecutionRow[],
): Promise<AwaitedExecution[]> {
  return (await lookAtChildren(store, tenantId, executions.filter(isWithChild))).awaiting;
}

async function lookAtChildren(store: Store, tenantId: string, calls: readonly ExecutionRow[]): Promise<ChildrenLook> {
  const look: ChildrenLook = { resting: [], owed: [], moves: false, awaiting: [] };
  for (const { executionId } of calls) await lookAtChild(store, tenantId, executionId, look);
  return look;
}

async function lookAtChild(store: Store, tenantId: string, executionId: string, look: ChildrenLook): Promise<void> {
  const child = await readIfThere(store, { tenantId, sessionId: childSessionId(executionId) });
  if (child === null || (isResting(child.session.state) && child.session.state !== 'AWAITING_INPUT')) {
    look.resting.push(executionId);
    look.moves = true;
    return;
  }
  const { session, executions, now } = child;
  if (session.state === 'AWAITING_INPUT') {
    look.awaiting.push(...awaitedCalls(child));
    return;
  }
  const below = session.leaseHolder === null ? waitingCalls(session, executions, store.limits) : null;
  if (below === null) {
    look.moves = true;
    if (!isLeaseLive(session, now)) look.owed.push(session);
    return;
  }
  const deeper = await lookAtChildren(store, tenantId, below);
  look.awaiting.push(...awaitedCalls(child), ...deeper.awaiting);
  if (!deeper.moves) return;
  look.moves = true;
  if (deeper.resting.length > 0 || deeper.owed.length > 0) look.owed.push(session);
}

async function readIfThere(store: Store, key: SessionKey): Promise<ReadSession | null> {
  try {
    return await readSession(store, key);
  } catch (error) {
    if (isTurnlockError(error, 'SESSION_NOT_FOUND')) return null;
    throw error;
  }
}
