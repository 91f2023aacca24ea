import { TurnlockError } from '../errors.ts';
import { MAX_CHARACTERS } from '../limits.ts';
import { SESSION_STATES, type SessionState } from '../machines/session-state.ts';
import { ROUND_KINDS } from '../persistence/entities/agent-approval.entity.ts';
import type { Awaiting, AwaitingQuery } from '../persistence/list-awaiting.ts';
import type { SessionsQuery } from '../persistence/list-sessions.ts';
import type { TransitionsQuery } from '../persistence/read-transitions.ts';
import { checkIdentifier } from '../persistence/values/check-identifier.ts';
import { checkUuid } from '../persistence/values/check-uuid.ts';
import { checkOptions } from './check-options.ts';

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

/** What `sessions` takes. */
export interface SessionsOptions {
  tenantId: string;
  state?: SessionState;
  /** Only those that the runtime leaves alone, since a newer build has gone on with them. */
  stranded?: boolean;
  /** Only forks of this session. */
  forkOf?: string;
  /** How many at the most, from 1 to 1000. Default 50. */
  limit?: number;
}

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

/** @throws OPTIONS_INVALID, VALUE_INVALID. */
export function checkSessions(asked: SessionsOptions): SessionsQuery {
  const names = ['tenantId', 'state', 'stranded', 'forkOf', 'limit'];
  const { tenantId, state, stranded = false, forkOf, limit = 50 } = checkOptions(asked, 'sessions', names);
  if (typeof stranded !== 'boolean') throw optionRefused('stranded', 'true or false');
  return {
    tenantId: checkTenant(tenantId),
    limit: checkLimit(limit),
    stranded,
    ...(state === undefined ? {} : { state: checkState(state) }),
    ...(forkOf === undefined ? {} : { forkOf: checkUuid(forkOf, 'forkOf') }),
  };
}

/** @throws OPTIONS_INVALID for another `after` than a whole number, or another limit than 1 to 1000. */
export function checkTransitions(page: TransitionsQuery): TransitionsQuery {
  const { after = 0, limit } = checkOptions(page, 'transitions', ['after', 'limit']);
  if (!Number.isInteger(after) || after < 0 || after > 2 ** 31 - 1)
    throw optionRefused('after', 'a whole number from 0');
  return limit === undefined ? { after } : { after, limit: checkLimit(limit) };
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
