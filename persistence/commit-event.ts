import type { EntityManager } from '@mikro-orm/postgresql';
import { isTurnlockError, TurnlockError } from '../errors.ts';
import { nextSnapshot } from '../machines/next-snapshot.ts';
import { type RecordedEvent, recordedEvent, type SessionEvent } from '../machines/session-event.ts';
import { isResting, type SessionState } from '../machines/session-state.ts';
import { encodeSnapshot } from '../machines/snapshot-codec.ts';
import { agentVersionUnder } from './build.ts';
import { checkDecidedParams } from './check-decided-params.ts';
import { claimMoves, moveClaims } from './claims.ts';
import type { CommitRequest, CommitResult } from './commit-request.ts';
import { type Decision, decideEvent, type Known } from './decide-event.ts';
import type { AgentSessionRow } from './entities/agent-session.entity.ts';
import { firstRetryAt } from './failed-attempts.ts';
import { changeInbox, type InboxChange, MESSAGE_REPEATED } from './inbox.ts';
import { grantLease, type LeaseClaim, type LeaseColumns } from './lease.ts';
import { questionsAfter } from './open-questions.ts';
import { CALLER_PATIENCE_MS, pauseBeforeRetry } from './pause-before-retry.ts';
import { projectRows } from './project-rows.ts';
import { readOpenExecutions, toExecutionRow } from './read-open-executions.ts';
import { toCommittedSession } from './read-session.ts';
import { type FoundUnderLock, type InboxCount, readUnderLock } from './read-under-lock.ts';
import { findCommittedEvent } from './resolve-commit.ts';
import { inTransaction, type Store } from './session-transaction.ts';
import { isOfEarlierMachine, isUpgrade, upgradeOf } from './upgrade-machine.ts';
import { writeChildren } from './write-children.ts';
import { writeCommit } from './write-commit.ts';
import { changeRounds } from './write-rounds.ts';

/**
 * Takes one event: one transaction, one new version, or nothing at all.
 *
 * Once this resolves the transition is durable and visible to everybody. A commit whose answer was lost is resolved by its event id
 * under the same lock, so the caller learns what is true.
 *
 * An intent is turned into an event under the lock: `transition.event` says which.
 *
 * @throws EVENT_ILLEGAL when the present state does not take the event.
 * @throws SESSION_NOT_FOUND, SESSION_BUSY, LEASE_HELD, TOKEN_STALE when the session or its lease is not as wanted.
 * @throws MESSAGE_CONFLICT when the event id was used for other content.
 * @throws COMMIT_UNKNOWN when neither the commit nor its resolution got an answer.
 */
export async function commitEvent(store: Store, request: CommitRequest): Promise<CommitResult> {
  const { environment, observer } = store;
  if (observer === undefined) return tryCommit(store, request, null);
  const watched: Watched = { began: environment.monotonic(), lockWaitMs: 0, tries: 0 };
  const timing = () => ({ ...watched, durationMs: environment.monotonic() - watched.began });
  try {
    const result = await tryCommit(store, request, watched);
    observer.committed(result, timing());
    return result;
  } catch (error) {
    if (isTurnlockError(error)) observer.refused(request, error, timing());
    throw error;
  }
}

/** What is measured of a commit that somebody observes. */
interface Watched {
  began: number;
  lockWaitMs: number;
  tries: number;
}

/** What tells when the lock of the next try is held. */
function lockWatch({ environment }: Store, watched: Watched | null): { onLocked?: () => void } {
  if (watched === null) return {};
  watched.tries += 1;
  const began = environment.monotonic();
  return {
    onLocked: () => {
      watched.lockWaitMs = environment.monotonic() - began;
    },
  };
}

async function tryCommit(store: Store, request: CommitRequest, watched: Watched | null): Promise<CommitResult> {
  const { environment, limits } = store;
  const patienceMs = request.claim.type === 'hold' ? limits.leaseMs : CALLER_PATIENCE_MS;
  const giveUpAt = environment.monotonic() + patienceMs;
  for (let attempt = 1; ; attempt += 1) {
    let written: CommitResult | undefined;
    try {
      const result = await inTransaction(
        store,
        {
          tenantId: request.tenantId,
          lockedSessionId: request.sessionId,
          refuseHeldLock: request.claim.type === 'takeOver',
          ...lockWatch(store, watched),
        },
        async (em) => {
          written = await takeEvent(store, em, request);
          return written;
        },
      );
      if (!isUpgrade(result)) return result;
    } catch (error) {
      if (!isTurnlockError(error)) throw error;
      const unknown = error.code === 'COMMIT_UNKNOWN';
      if (unknown && written !== undefined && (await findCommittedEvent(store, committedAs(request, written)))) {
        if (!isUpgrade(written)) return written;
      } else if (
        !(unknown || error.category === 'transient' || error.code === 'VERSION_CONFLICT') ||
        environment.monotonic() >= giveUpAt
      ) {
        throw error;
      }
      await pauseBeforeRetry(environment, attempt);
    }
  }
}

/** The event under which a commit stands: an intent became one under the lock. */
function committedAs({ tenantId, sessionId }: CommitRequest, { transition }: CommitResult) {
  return { tenantId, sessionId, eventId: transition.eventId };
}

/** Whoever acts on an older look at the session takes nothing over: somebody else has brought it to rest meanwhile. */
function owesNothing({ sessionId }: CommitRequest, state: string): TurnlockError {
  return new TurnlockError('LEASE_HELD', {
    message: `session owes nothing: ${sessionId} (found ${state}, wanted one that is at work)`,
    hint: 'Nothing is left to take over: it came to rest meanwhile.',
    details: { sessionId, state },
  });
}

async function takeEvent(store: Store, em: EntityManager, asked: CommitRequest): Promise<CommitResult> {
  const found = await readUnderLock(em, asked);
  const { row, now, seen, inbox, evidence, hasControls, questions } = found;
  if (seen !== null) return repeat(em, found, asked, { seen, contentDigest: asked.contentDigest ?? null });
  const session = toCommittedSession(row);
  const before = session.snapshot;
  const isEarlier = isOfEarlierMachine(row);
  if (isEarlier && asked.claim.type === 'takeOver') grantLease(leaseOf(row), asked.claim, now, false);
  const request = isEarlier ? upgradeOf(asked, row, before, now) : asked;
  const { limits, environment } = store;
  const newId = () => environment.uuid();
  const { calls, runId } = before.context;
  const checkLease = () => void grantLease(leaseOf(row), request.claim, now, false);
  const { userId, version } = row;
  const known = { request, state: before.value, version, runId, userId, calls, inbox, now, limits, store };
  const undecided = { ...known, hasControls, newId, checkLease };
  const decided = await decideEvent(em, undecided);
  if ('seen' in decided) return repeat(em, found, request, decided);
  const { event, claim, late = null } = decided;
  const open = await readOpenExecutions(em, session);
  // The lease is asked before the machine: a stale holder must learn that it is stale, not that its event no longer fits.
  grantLease(leaseOf(row), claim, now, false);
  checkDecidedParams(event, open.executions);
  const agentVersion = agentVersionUnder(claim, session, open.executions);
  if (claim.type === 'takeOver' && isResting(before.value)) throw owesNothing(request, before.value);
  const after = nextSnapshot(before, event);
  const lease = grantLease(leaseOf(row), claim, now, isResting(after.value));
  const changes = projectRows({
    sessionId: request.sessionId,
    before,
    after,
    event,
    executions: open.executions,
    late: late === null ? null : toExecutionRow(late),
    callTurnId: open.callTurnId,
    now,
    token: lease.leaseToken,
    newId,
  });
  const touchedRows = [...open.executions, ...(late === null ? [] : [toExecutionRow(late)])];
  await moveClaims(em, request.tenantId, claimMoves(event, touchedRows, changes.updatedExecutions), now);
  const retryAt = firstRetryAt(after.context.calls, open.executions, changes);
  const untaken = evidence - (event.type === 'tool.evidenced' ? 1 : 0);
  checkTurnCount(before.context.nextTurnIndex, changes.turns.length, after.context.nextTurnIndex);
  const written = [...open.executions, ...changes.insertedExecutions].map((execution) => ({
    ...execution,
    ...changes.updatedExecutions.get(execution.executionId),
  }));
  const { expiresAt, rounds } = await changeRounds(em, request, { calls, event, executions: written, now, newId });
  Object.assign(row, {
    currentState: after.value,
    snapshot: encodeSnapshot(after),
    version: row.version + 1,
    ...lease,
    agentVersion,
    machineVersion: event.type === 'machine.upgraded' ? event.toVersion : row.machineVersion,
    recoveries: resetsRecoveries(event) ? 0 : lease.recoveries,
    wakeAt: wakeAfter(
      { event, claim, from: before.value, to: after.value, expiresAt, retryAt, untaken },
      row.wakeAt ?? null,
      now,
    ),
    updatedAt: now,
  });
  const transition = {
    sequence: row.version,
    from: before.value,
    to: after.value,
    event: recordedEvent(event),
    eventId: decided.eventId,
    runId: after.context.runId,
  };
  if (decided.inbox !== null) changeInbox(em, request, decided.inbox, now);
  const { contentDigest } = decided;
  const touched = late === null ? open.rows : [...open.rows, late];
  const cause = { contentDigest, holder: holderOf(claim), messageId: messageIdOf(request, decided) };
  const memories = [...(request.memories ?? []), ...(decided.memories ?? [])];
  const writing = { request: { ...request, memories }, row, open: touched, changes, rounds, transition, ...cause, now };
  const executions = await writeCommit(store, em, writing);
  const givenUp = await writeChildren(em, row, changes, now);
  const left = countAfter(inbox, decided.inbox);
  if (lease.leaseHolder === null && owesWork(after.value, left.waiting)) await notify(store, em, request);
  const committed = { session: toCommittedSession(row), now, transition, turns: changes.turns, executions };
  const remembered = event.type === 'machine.upgraded' ? [] : memories.map(({ memoryId }) => memoryId);
  return {
    repeated: false,
    ...committed,
    questions: questionsAfter(questions, rounds),
    ...left,
    evidence: untaken,
    givenUp,
    remembered,
  };
}

/** The worker that commits. */
function holderOf(claim: LeaseClaim): string | null {
  return 'holder' in claim ? claim.holder : null;
}

/** The caller's id of the message that an event is about. */
function messageIdOf({ event }: CommitRequest, { inbox }: Decision): string | null {
  if (inbox !== null) return (inbox.type === 'add' ? inbox.message : inbox.row).messageId ?? null;
  return event.type === 'sendMessage' ? event.message.messageId : null;
}

/** Whether somebody has to go on with the session, now that nobody holds it. */
function owesWork(state: SessionState, waiting: number): boolean {
  return !isResting(state) || (state === 'IDLE' && waiting > 0);
}

/** A hint for workers, which leaves with the commit; who misses it polls. */
async function notify({ database }: Store, em: EntityManager, { sessionId }: CommitRequest): Promise<void> {
  await em.execute('select pg_notify(?, ?)', [database.schema, sessionId]);
}

/** The inbox after `change`. */
function countAfter({ waiting, news }: InboxCount, change: InboxChange | null): Pick<CommitResult, 'waiting' | 'news'> {
  if (change === null) return { waiting, news };
  if (change.type === 'add') return { waiting: waiting + 1, news: news + (change.isNoted ? 0 : 1) };
  const isNews = change.row.notedAt == null || change.type === 'note';
  return { waiting: waiting - (change.type === 'note' ? 0 : 1), news: news - (isNews ? 1 : 0) };
}

function leaseOf({ leaseHolder, leaseToken, leaseExpiresAt, recoveries }: AgentSessionRow): LeaseColumns {
  return { leaseHolder: leaseHolder ?? null, leaseToken, leaseExpiresAt: leaseExpiresAt ?? null, recoveries };
}

function resetsRecoveries(event: SessionEvent): boolean {
  return event.type === 'user.messaged' || event.type === 'session.retried';
}

/** What persons decide, without a lease. */
const DECISIONS: readonly SessionEvent['type'][] = [
  'approval.granted',
  'approval.denied',
  'approval.amended',
  'execution.settledByPerson',
];

/** What leaves the rest of a back-off to whoever goes on. */
const KEEPING_BACK_OFF: readonly SessionEvent['type'][] = ['worker.tookOver', 'lease.released', 'tool.evidenced'];

interface Woken extends Pick<Decision, 'event' | 'claim'> {
  from: SessionState;
  to: SessionState;
  /** When the first open question expires; `null` when none does. */
  expiresAt: Date | null;
  /** When the first failed call may be tried again; `null` when none is to be. */
  retryAt: Date | null;
  /** Pieces of evidence that are news after this. */
  untaken: number;
}

/**
 * A holder's commit consumes the wake; a back-off sets the next one; what others commit leaves it alone. Who takes over waits for the
 * rest of a back-off. While a person is asked, the session wakes when the first question expires; once it goes on, at once. Where it rests
 * and a late result is not taken yet it wakes at once: whoever commits may die before it looks.
 */
function wakeAfter(
  { event, claim, from, to, expiresAt, retryAt, untaken }: Woken,
  stored: Date | null,
  now: Date,
): Date | null {
  if (event.type === 'machine.upgraded') return stored;
  if (untaken > 0 && isResting(to) && to !== 'COMPLETED') return now;
  if (retryAt !== null && claim.type !== 'none') return retryAt;
  if (event.type === 'model.attemptFailed') return new Date(now.getTime() + event.retryInMs);
  if (to === 'AWAITING_INPUT') {
    const kept = claim.type === 'none' ? stored : null;
    return kept !== null && (expiresAt === null || kept < expiresAt) ? kept : expiresAt;
  }
  if (from === 'AWAITING_INPUT') return null;
  if (KEEPING_BACK_OFF.includes(event.type)) {
    return stored !== null && stored > now ? stored : null;
  }
  if (claim.type !== 'none') return null;
  // A parent that sleeps while its children work is to go on from what a person decided.
  return DECISIONS.includes(event.type) && stored !== null && stored > now ? now : stored;
}

/** The machine counts turns, the projection writes them: they must tell the same story. */
function checkTurnCount(first: number, written: number, next: number): void {
  if (first + written === next) return;
  throw new TurnlockError('INVARIANT_BROKEN', {
    message: `turns of a commit do not add up: ${written} from index ${first} (found next index ${next}, wanted ${first + written})`,
  });
}

/** What a repeat does not do again. */
const NOTHING: Pick<CommitResult, 'givenUp' | 'remembered'> = { givenUp: [], remembered: [] };

async function repeat(
  em: EntityManager,
  { row, now, inbox, evidence, questions }: FoundUnderLock,
  request: CommitRequest,
  { seen, contentDigest, drops }: Known,
): Promise<CommitResult> {
  if (seen.contentDigest !== null && contentDigest !== null && seen.contentDigest !== contentDigest) {
    throw new TurnlockError('MESSAGE_CONFLICT', {
      message: `message id was used for other content: session ${request.sessionId} (found another message, wanted the same one)`,
      details: { sessionId: request.sessionId, sequence: seen.sequence },
    });
  }
  if (drops !== undefined) {
    em.assign(drops, { rejectedAt: now, rejectedCode: MESSAGE_REPEATED });
    await em.flush();
  }
  const session = toCommittedSession(row);
  const { executions } = await readOpenExecutions(em, session);
  const event = (seen.event ?? { type: seen.type }) as RecordedEvent;
  const { sequence, from, to, runId } = seen;
  const { waiting, news } = inbox;
  const transition = { sequence, from, to, event, eventId: request.eventId, runId };
  const found = { session, now, executions, questions, waiting, news, evidence };
  return { repeated: true, transition, turns: [], ...found, ...NOTHING };
}
