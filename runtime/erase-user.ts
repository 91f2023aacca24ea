import { isTurnlockError } from '../errors.ts';
import { MAX_CHARACTERS } from '../limits.ts';
import type { SessionState } from '../machines/session-state.ts';
import { commitEvent } from '../persistence/commit-event.ts';
import type { CommitRequest } from '../persistence/commit-request.ts';
import {
  type ErasableSession,
  type ErasedUser,
  eraseLeft,
  eraseSessions,
  listErasable,
} from '../persistence/erase-sessions.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import type { Store } from '../persistence/session-transaction.ts';
import { checkIdentifier } from '../persistence/values/check-identifier.ts';
import { checkWho } from './check-message.ts';
import { checkOptions } from './check-options.ts';
import { checkFlag, checkTenant } from './check-query.ts';
import { reasonContent } from './check-settlement.ts';

/** What `eraseUser` takes. */
export interface EraseUserOptions {
  tenantId: string;
  userId: string;
  /** Who asks for it, as the audit will say it: 1 to 255 characters. It stays, so it is not the user's name. */
  by: string;
  /** Whether runs that are under way, or wait for a person, are cancelled. Default false: their sessions are left, and named. */
  cancelRuns?: boolean;
  /** Counts what would be erased, and erases nothing. Default false. */
  dryRun?: boolean;
}

/** What `eraseUser` did, or would do. */
export interface Erasure {
  dryRun: boolean;
  /** How many sessions were erased, or would be: the user's, and those that came of them as children and forks. */
  sessions: number;
  /** Sessions that are not erased: a run is under way or waits for a person, or somebody held them. To be asked for again. */
  left: { sessionId: string; state: SessionState }[];
  /** How many memories were erased, those of the sessions and all others of the user; 0 in a dry run. */
  memories: number;
  /** How many business keys without a session were erased; 0 in a dry run. */
  claims: number;
}

const OPTIONS = ['tenantId', 'userId', 'by', 'cancelRuns', 'dryRun'];
const BUSY: readonly SessionState[] = ['PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT'];
/** Sessions that one transaction erases. */
const BATCH = 20;
/** Rows that one transaction erases which are in no session. */
const ROWS = 1_000;
/** How often the end of a session is tried whose next message is quicker. */
const MAX_TRIES = 20;

/** Errors of one session that leave it for the next time. */
const LEAVES = ['EVENT_ILLEGAL', 'SESSION_NOT_FOUND', 'SNAPSHOT_INVALID', 'MACHINE_VERSION_UNSUPPORTED'] as const;

interface Erasing extends ErasedUser {
  by: string;
  cancelRuns: boolean;
}

/** `checkGoesOn` is called between two transactions, and throws where nothing new shall begin. */
export async function eraseUser(store: Store, options: EraseUserOptions, checkGoesOn: () => void): Promise<Erasure> {
  const { tenantId, userId, by, cancelRuns, dryRun } = checkOptions(options, 'eraseUser', OPTIONS);
  const erasing: Erasing = {
    tenantId: checkTenant(tenantId),
    userId: checkIdentifier(userId, { name: 'userId', maxCharacters: MAX_CHARACTERS.userId }),
    by: checkWho(by),
    cancelRuns: checkFlag(cancelRuns, 'cancelRuns'),
  };
  if (checkFlag(dryRun, 'dryRun')) return foresee(store, erasing);
  const sum = { sessions: 0, memories: 0 };
  // Again as long as it helps: messages and sessions may come meanwhile, and children end when their parents do.
  for (let left = await listErasable(store, erasing); ; ) {
    const erased = await erasePass(store, erasing, left, checkGoesOn);
    sum.sessions += erased.sessions;
    sum.memories += erased.memories;
    left = erased.sessions === 0 ? left : await listErasable(store, erasing);
    if (erased.sessions > 0 && left.length > 0) continue;
    const rest = await eraseRest(store, erasing, checkGoesOn);
    const shown = left.map(({ sessionId, state }) => ({ sessionId, state }));
    const memories = sum.memories + rest.memories;
    return { dryRun: false, sessions: sum.sessions, left: shown, memories, claims: rest.claims };
  }
}

async function foresee(store: Store, erasing: Erasing): Promise<Erasure> {
  const found = await listErasable(store, erasing);
  const left = found.filter(({ state }) => !erasing.cancelRuns && BUSY.includes(state));
  const shown = left.map(({ sessionId, state }) => ({ sessionId, state }));
  return { dryRun: true, sessions: found.length - left.length, left: shown, memories: 0, claims: 0 };
}

async function erasePass(
  store: Store,
  erasing: Erasing,
  sessions: readonly ErasableSession[],
  checkGoesOn: () => void,
): Promise<Pick<Erasure, 'sessions' | 'memories'>> {
  const sum = { sessions: 0, memories: 0 };
  for (let from = 0; from < sessions.length; from += BATCH) {
    const over: string[] = [];
    for (const session of sessions.slice(from, from + BATCH)) {
      checkGoesOn();
      if (await isOver(store, erasing, session)) over.push(session.sessionId);
    }
    if (over.length === 0) continue;
    const { tenantId, by } = erasing;
    const erased = await eraseSessions(store, { tenantId, sessionIds: over, by });
    sum.sessions += erased.sessions;
    sum.memories += erased.memories;
  }
  return sum;
}

/** Whether the session has come to its end, here if not before. */
async function isOver(store: Store, erasing: Erasing, session: ErasableSession): Promise<boolean> {
  if (session.state === 'COMPLETED') return true;
  if (BUSY.includes(session.state) && !erasing.cancelRuns) return false;
  for (let left = MAX_TRIES; left > 0; left -= 1) {
    try {
      if (erasing.cancelRuns) await cancelRun(store, session, erasing.by);
      await complete(store, session, erasing.by);
      return true;
    } catch (error) {
      if (!isTurnlockError(error) || !(LEAVES as readonly string[]).includes(error.code)) throw error;
      // A message that waited has begun the next run.
      if (error.code !== 'EVENT_ILLEGAL' || !erasing.cancelRuns) return false;
    }
  }
  return false;
}

async function cancelRun(store: Store, key: SessionKey, by: string): Promise<void> {
  const content = reasonContent('RUN_CANCELLED', 'The run was cancelled.', store.limits);
  const event = { type: 'run.cancelled', by, content } as const;
  await commit(store, key, { event, claim: { type: 'raise' } }).catch((error: unknown) => {
    if (!isTurnlockError(error, 'EVENT_ILLEGAL')) throw error;
  });
}

/** What the audit says of it, and the end. Messages that wait are refused one by one. */
async function complete(store: Store, key: SessionKey, by: string): Promise<void> {
  await commit(store, key, { event: { type: 'content.erased', by }, claim: { type: 'none' } });
  const request = { event: { type: 'completeSession', by }, claim: { type: 'none' } } as const;
  for (let last = ''; last !== 'session.completed'; ) last = await commit(store, key, request);
}

async function commit(
  store: Store,
  { tenantId, sessionId }: SessionKey,
  request: Pick<CommitRequest, 'event' | 'claim'>,
): Promise<string> {
  const eventId = store.environment.uuid();
  const { transition } = await commitEvent(store, { tenantId, sessionId, eventId, cause: 'operator', ...request });
  return transition.event.type;
}

async function eraseRest(
  store: Store,
  user: ErasedUser,
  checkGoesOn: () => void,
): Promise<Pick<Erasure, 'memories' | 'claims'>> {
  for (const sum = { memories: 0, claims: 0 }; ; ) {
    checkGoesOn();
    const { memories, claims } = await eraseLeft(store, user, ROWS);
    sum.memories += memories;
    sum.claims += claims;
    if (memories < ROWS && claims < ROWS) return sum;
  }
}
