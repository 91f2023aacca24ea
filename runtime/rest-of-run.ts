import { ERROR_CODES, type ErrorCode, isTurnlockError, TurnlockError } from '../errors.ts';
import { isResting } from '../machines/session-state.ts';
import type { CommitResult } from '../persistence/commit-request.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import { childSessionId } from '../persistence/keys/child-ids.ts';
import { isLeaseLive } from '../persistence/lease.ts';
import { readMessageOfRun } from '../persistence/read-message-of-run.ts';
import { readRun, type StoredRunEnd } from '../persistence/read-run.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import { readSession } from '../persistence/read-session-by-key.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { runEndOf } from '../persistence/run-end-of.ts';
import { type Asking, awaitedOf } from './awaited.ts';
import { takeOver } from './continue-session.ts';
import { lookAtSleeper } from './look-at-children.ts';
import type { RunResult } from './run-event.ts';
import { checkOpen, type Services } from './services.ts';

/** How often a run that another process drives is looked at, in milliseconds. */
export const POLL_MS = 200;

/**
 * Waits until `runId` rests, whoever drives it: this process, another one, or nobody, in which case it is taken over here.
 *
 * @throws RUNTIME_CLOSED when the runtime closes first.
 */
export async function restOfRun(
  services: Services,
  key: { tenantId: string; sessionId: string },
  runId: string,
): Promise<RunResult> {
  try {
    for (;;) {
      const drive = services.live.driveOf(key.sessionId);
      const last = drive?.runId === runId ? await drive.ended : null;
      const result =
        (last && resultOfCommit(last, runId)) ?? (await services.operations.run(() => lookAtRun(services, key, runId)));
      if (result !== null) return result;
      checkOpen(services);
      const other = services.live.driveOf(key.sessionId);
      if (other?.runId === runId) continue;
      // What waits for a run that is driven here need not be looked at before that has ended.
      if (other !== null && drive !== other) await other.ended.catch(() => null);
      else await pause(services, key.sessionId);
    }
  } catch (error) {
    throw isTurnlockError(error, 'RUNTIME_CLOSED') ? handedOver(runId) : error;
  }
}

/** Waits for the time of the next look, or until this process drives the session. */
async function pause({ store, closing, live }: Services, sessionId: string): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([closing, over.signal]);
  const look = store.environment.sleep(POLL_MS, signal).catch(() => undefined);
  await Promise.race([look, live.whenDriven(sessionId, signal)]);
  over.abort();
}

/** The result of a run that rests. `null`: it goes on, by now in this process where nobody else was at work on it. */
async function lookAtRun(
  services: Services,
  key: { tenantId: string; sessionId: string },
  runId: string,
): Promise<RunResult | null> {
  const read = await readSession(services.store, key);
  const { session, executions, now } = read;
  const ofRun = session.snapshot.context.runId === runId;
  if (!ofRun || isResting(session.state)) {
    const end = await readRun(services.store, key, runId);
    // A run that began since the session was read has not ended yet.
    if (end !== null && isResting(end.state)) return toResult(ofRun ? read : { ...read, executions: [] }, runId, end);
    if (end === null) {
      const waiting = await waitingRun(services, read, runId);
      if (waiting !== null || isResting(session.state)) return waiting;
    }
  }
  const sleep = await lookAtSleeper(services, read);
  if (sleep?.type === 'waits') return await pauseWithChildren(services, executions);
  if (sleep?.type === 'asks') return asks(session, runId, sleep.awaiting);
  if (services.drives && !isLeaseLive(session, now) && !services.closing.aborted)
    await takeOverIfFree(services, session);
  return null;
}

/** Nothing goes on before a person decided about a call of a child: the run does not rest, and is not waited for. */
function asks(session: CommittedSession, runId: string, awaiting: RunResult['awaiting']): RunResult {
  const { sessionId, state, snapshot } = session;
  const queued = snapshot.context.runId !== runId;
  return { sessionId, runId, state, queued, reply: null, output: null, awaiting, error: null };
}

/** What waits for children that this process drives need not be looked at before one of them has come to its end here. */
async function pauseWithChildren(
  { live, store, closing }: Services,
  executions: readonly ExecutionRow[],
): Promise<null> {
  const drives = executions.flatMap(({ executionId }) => live.driveOf(childSessionId(executionId)) ?? []);
  if (drives.length === 0) return null;
  const over = new AbortController();
  const signal = AbortSignal.any([closing, over.signal]);
  const look = store.environment.sleep(store.limits.sweepMs, signal).catch(() => undefined);
  await Promise.race([...drives.map(({ ended }) => ended), look]).catch(() => undefined);
  over.abort();
  return null;
}

/** The result of a run that has not begun and will not by itself; `null` where it waits for its turn, which may come here. */
async function waitingRun(services: Services, asking: Asking, runId: string): Promise<RunResult | null> {
  const { session } = asking;
  const message = await readMessageOfRun(services.store, session, runId);
  const result = { sessionId: session.sessionId, runId, state: session.state, reply: null, output: null };
  if (message === null) return begunMeanwhile(services, session, runId);
  if (message.type === 'repeated') return lookAtRun(services, session, message.runId);
  if (message.type === 'rejected') {
    const { code } = message;
    const hint = ERROR_CODES[code as ErrorCode]?.hint ?? code;
    return { ...result, queued: false, awaiting: [], error: { code, message: hint } };
  }
  if (session.state === 'IDLE' || session.state === 'COMPLETED') services.live.next(services, session);
  if (session.state !== 'AWAITING_INPUT' && session.state !== 'FAILED') return null;
  return { ...result, queued: true, awaiting: awaitedOf(asking), error: null };
}

/** A run that is in neither table: it has begun between the two looks, or there is none. @throws RUN_NOT_FOUND. */
async function begunMeanwhile(services: Services, key: SessionKey, runId: string): Promise<null> {
  if ((await readRun(services.store, key, runId)) !== null) return null;
  throw new TurnlockError('RUN_NOT_FOUND', {
    message: `run not found: ${runId} of session ${key.sessionId} (found no message that begins it)`,
    details: { runId, sessionId: key.sessionId },
  });
}

/** The result of `runId` from `last`, the commit that brought it to rest here; `null` where only the database knows it. */
export function resultOfCommit(last: CommitResult, runId: string): RunResult | null {
  const { transition } = last;
  const end = transition.runId === runId && isResting(transition.to) ? runEndOf(last) : null;
  return end === null ? null : toResult(last, runId, end);
}

async function takeOverIfFree(services: Services, session: CommittedSession): Promise<void> {
  try {
    const taken = await takeOver(services, session);
    if (!isResting(taken.session.state)) services.live.start(services, taken);
  } catch (error) {
    if (!isTurnlockError(error, 'LEASE_HELD') && !isTurnlockError(error, 'EVENT_ILLEGAL')) throw error;
  }
}

function toResult(asking: Asking, runId: string, end: StoredRunEnd): RunResult {
  const { sessionId } = asking.session;
  const { state } = end;
  return {
    sessionId,
    runId,
    state,
    queued: false,
    reply: end.reply,
    output: end.output,
    awaiting: awaitedOf(asking),
    error: errorOf(end),
  };
}

function errorOf({ event, state, code, modelError }: StoredRunEnd): RunResult['error'] {
  if (event === 'run.cancelled') return { code: 'RUN_CANCELLED', message: 'The run was cancelled.' };
  if (state !== 'FAILED') return null;
  const failure = code ?? 'MODEL_FAILED';
  const said = event === 'model.failed' ? modelError : null;
  return { code: failure, message: said ?? ERROR_CODES[failure as ErrorCode]?.hint ?? failure };
}

/** The error of a run whose process stopped driving it. */
export function handedOver(runId: string): TurnlockError {
  return new TurnlockError('RUNTIME_CLOSED', {
    message: `runtime was closed before the run came to rest: ${runId}`,
    hint: 'Nothing is lost: recover() of another runtime continues it.',
  });
}
