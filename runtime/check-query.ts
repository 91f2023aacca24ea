import { TurnlockError } from '../errors.ts';
import { type Limits, MAX_CHARACTERS } from '../limits.ts';
import { SESSION_STATES, type SessionState } from '../machines/session-state.ts';
import { ROUND_KINDS } from '../persistence/entities/agent-approval.entity.ts';
import type { Awaiting, AwaitingQuery } from '../persistence/list-awaiting.ts';
import type { SessionCriteria, SessionsQuery } from '../persistence/list-sessions.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import type { TransitionsQuery } from '../persistence/read-transitions.ts';
import type { TurnsQuery } from '../persistence/read-turns.ts';
import { checkIdentifier } from '../persistence/values/check-identifier.ts';
import { checkUuid } from '../persistence/values/check-uuid.ts';
import { checkMetadata } from './check-message.ts';
import { checkOptions } from './check-options.ts';
import type { FollowOptions } from './followed.ts';

/** What `awaiting` takes. */
export interface AwaitingOptions {
  tenantId: string;
  /** Only what concerns sessions of this user. */
  userId?: string;
  sessionId?: string;
  reason?: Awaiting['reason'];
  after?: string;
  limit?: number;
}

const AWAITING_OPTIONS = ['tenantId', 'userId', 'sessionId', 'reason', 'after', 'limit'];

/** The refusal of an option of the runtime. */
export function optionRefused(option: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', { message: `option not accepted: ${option} (wanted ${wanted})` });
}

/** @throws OPTIONS_INVALID for what is no state. */
function checkState(state: SessionState): SessionState {
  if (SESSION_STATES.includes(state)) return state;
  throw optionRefused('state', SESSION_STATES.join(', '));
}

/** @throws OPTIONS_INVALID for another number than 1 to 1000. */
export function checkLimit(limit: number, name = 'limit'): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw optionRefused(name, 'a whole number from 1 to 1000');
}

/** @throws OPTIONS_INVALID for anything but true, false and absent, which is false. */
export function checkFlag(flag: boolean | undefined, name: string): boolean {
  if (flag === undefined || typeof flag === 'boolean') return flag ?? false;
  throw optionRefused(name, 'true or false');
}

/** @throws OPTIONS_INVALID for another `after` than a whole number, or another limit than 1 to 1000. */
export function checkTransitions(page: TransitionsQuery): TransitionsQuery {
  const { after = 0, limit } = checkOptions(page, 'transitions', ['after', 'limit']);
  checkPlace(after, 'after');
  return limit === undefined ? { after } : { after, limit: checkLimit(limit) };
}

/** @throws OPTIONS_INVALID for another `from` than a whole number, or another limit than 1 to 1000. */
export function checkHistory(page: TurnsQuery): TurnsQuery {
  const { from = 0, limit } = checkOptions(page, 'history', ['from', 'limit']);
  checkPlace(from, 'from');
  return limit === undefined ? { from } : { from, limit: checkLimit(limit) };
}

/** @throws OPTIONS_INVALID. */
export function checkFollow(
  options: FollowOptions,
): Required<Pick<FollowOptions, 'after' | 'deltas'>> & Pick<FollowOptions, 'signal'> {
  const { after = 0, signal, deltas } = checkOptions(options, 'follow', ['after', 'signal', 'deltas']);
  checkPlace(after, 'after');
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw optionRefused('signal', 'an AbortSignal');
  return { after, deltas: checkFlag(deltas, 'deltas'), ...(signal === undefined ? {} : { signal }) };
}

function checkPlace(place: number, name: string): void {
  if (!Number.isInteger(place) || place < 0 || place > 2 ** 31 - 1) throw optionRefused(name, 'a whole number from 0');
}

/** @throws OPTIONS_INVALID, VALUE_INVALID. */
export function checkAwaiting(asked: AwaitingOptions): AwaitingQuery {
  const { tenantId, userId, sessionId, reason, after, limit = 50 } = checkOptions(asked, 'awaiting', AWAITING_OPTIONS);
  if (reason !== undefined && !ROUND_KINDS.includes(reason)) throw optionRefused('reason', ROUND_KINDS.join(', '));
  return {
    tenantId: checkTenant(tenantId),
    limit: checkLimit(limit),
    ...(userId === undefined
      ? {}
      : { userId: checkIdentifier(userId, { name: 'userId', maxCharacters: MAX_CHARACTERS.userId }) }),
    ...(sessionId === undefined ? {} : { sessionId: checkUuid(sessionId, 'sessionId') }),
    ...(reason === undefined ? {} : { reason }),
    ...(after === undefined ? {} : { after: checkUuid(after, 'after') }),
  };
}

/** @throws VALUE_INVALID, VALUE_TOO_LARGE for an id that no tenant can have. */
export function checkTenant(tenantId: string): string {
  return checkIdentifier(tenantId, { name: 'tenantId', maxCharacters: MAX_CHARACTERS.tenantId });
}

/** @throws OPTIONS_INVALID, VALUE_INVALID for what names no session. */
export function checkSessionKey(key: SessionKey, call: string): SessionKey {
  const { tenantId, sessionId } = checkOptions(key, call);
  return { tenantId: checkTenant(tenantId), sessionId: checkUuid(sessionId, 'sessionId') };
}

/** What `sessions` takes. */
export interface SessionsOptions extends Omit<SessionCriteria, 'metadata'> {
  tenantId: string;
  state?: SessionState;
  /** `true`: only those that this runtime leaves alone because a newer build has gone on with them. */
  stranded?: boolean;
  /** What their metadata must hold, as JSON of any depth: `{ order: 42 }` finds `{ order: 42, lines: [ … ] }`. */
  metadata?: { [name: string]: unknown };
  /** How many at the most, a whole number from 1 to 1000. Default 50. */
  limit?: number;
}

const SESSIONS_OPTIONS = [
  ...['tenantId', 'state', 'stranded', 'limit', 'userId', 'agent', 'externalId', 'metadata'],
  ...['executionId', 'idempotencyKey', 'runId', 'messageId', 'forkOf'],
];

/** @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE. */
export function checkSessions(asked: SessionsOptions, limits: Limits): Omit<SessionsQuery, 'build'> {
  const {
    tenantId,
    state,
    stranded = false,
    limit = 50,
    ...criteria
  } = checkOptions(asked, 'sessions', SESSIONS_OPTIONS);
  if (typeof stranded !== 'boolean') throw optionRefused('stranded', 'true or false');
  return {
    tenantId: checkTenant(tenantId),
    limit: checkLimit(limit),
    stranded,
    ...checkCriteria(criteria, limits),
    ...(state === undefined ? {} : { state: checkState(state) }),
  };
}

type Criteria = Omit<SessionsOptions, 'tenantId' | 'state' | 'stranded' | 'limit'>;

/** Characters of a column that is no identifier of a caller's. */
const KEY_CHARACTERS = 128;

/** By what sessions are found, each as it can be stored. @throws VALUE_INVALID, VALUE_TOO_LARGE for what no session can have. */
export function checkCriteria(criteria: Criteria, limits: Limits): SessionCriteria {
  const { userId, agent, externalId, metadata, executionId, idempotencyKey, runId, messageId, forkOf } = criteria;
  const name = (value: string | undefined, named: string, maxCharacters: number) =>
    value === undefined ? {} : { [named]: checkIdentifier(value, { name: named, maxCharacters }) };
  const uuid = (value: string | undefined, named: string) =>
    value === undefined ? {} : { [named]: checkUuid(value, named) };
  return {
    ...name(userId, 'userId', MAX_CHARACTERS.userId),
    ...name(agent, 'agent', MAX_CHARACTERS.agentName),
    ...name(externalId, 'externalId', MAX_CHARACTERS.externalId),
    ...name(idempotencyKey, 'idempotencyKey', KEY_CHARACTERS),
    ...name(messageId, 'messageId', MAX_CHARACTERS.messageId),
    ...uuid(executionId, 'executionId'),
    ...uuid(runId, 'runId'),
    ...uuid(forkOf, 'forkOf'),
    ...(metadata === undefined ? {} : { metadata: checkMetadata(metadata, limits).value }),
  };
}
