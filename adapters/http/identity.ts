import { TurnlockError } from '../../errors.ts';
import { MAX_CHARACTERS } from '../../limits.ts';
import { checkIdentifier } from '../../persistence/values/check-identifier.ts';
import { checkRoles, checkWho } from '../../runtime/check-message.ts';

/** Who asks, as the host's own authentication says. */
export interface Identity {
  /** Nothing of another tenant is ever seen or touched. 1 to 255 characters. */
  tenantId: string;
  /** The user whose sessions these are: no other's are seen. `null`: somebody who sees all sessions of the tenant. */
  userId: string | null;
  /** Who it is in decisions and in the audit, 1 to 255 characters. */
  by: string;
  /** Roles, which the approvers of a policy may ask for. Default none. */
  roles?: readonly string[];
}

/**
 * Says who asks, from whatever the request carries: a cookie, a token. `null`: nobody is let in (401). What it throws is answered with 500, and
 * told to `onError` alone.
 */
export type Authenticate = (request: Request) => Identity | null | Promise<Identity | null>;

/** A web-standard handler of requests that says whether it asks who calls. */
export interface FetchHandler {
  (request: Request): Promise<Response>;
  /** Whether every request must be authenticated. `serve` lets no other handler be reached beyond loopback. */
  readonly authenticates: boolean;
}

/** What the host's `authenticate` answered, as a decision will take it. @throws VALUE_INVALID, VALUE_TOO_LARGE, OPTIONS_INVALID. */
export function checkIdentity(identity: Identity): Identity & { roles: readonly string[] } {
  if (typeof identity !== 'object') {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `authenticate answered with what is no identity (found ${typeof identity}, wanted an object or null)`,
    });
  }
  const { tenantId, userId, by, roles } = identity;
  return {
    tenantId: checkIdentifier(tenantId, { name: 'tenantId', maxCharacters: MAX_CHARACTERS.tenantId }),
    userId: userId === null ? null : checkIdentifier(userId, { name: 'userId', maxCharacters: MAX_CHARACTERS.userId }),
    by: checkWho(by),
    roles: checkRoles(roles),
  };
}
