import { isTurnlockError, TurnlockError } from '../../errors.ts';
import { MAX_CHARACTERS } from '../../limits.ts';
import { findSessionTenant } from '../../persistence/find-session-tenant.ts';
import type { SessionKey } from '../../persistence/read-session.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { checkIdentifier } from '../../persistence/values/check-identifier.ts';
import { checkUuid } from '../../persistence/values/check-uuid.ts';

/**
 * The session that the command line names. Where no tenant is given, it is looked up across tenants, which the database records.
 *
 * @throws OPTIONS_INVALID when it is no id, SESSION_NOT_FOUND when nobody has it, PRIVILEGE_MISSING when the role may not look.
 */
export async function chooseSession(store: Store, session: string, tenant: string | undefined): Promise<SessionKey> {
  const sessionId = readId(session, 'session');
  const tenantId = tenant === undefined ? await findSessionTenant(store, sessionId) : checkTenant(tenant);
  return { tenantId, sessionId };
}

/** @throws VALUE_INVALID, OPTIONS_INVALID for what no tenant can be called. */
export function checkTenant(tenant: string): string {
  try {
    return checkIdentifier(tenant, { name: '--tenant', maxCharacters: MAX_CHARACTERS.tenantId });
  } catch (error) {
    if (!isTurnlockError(error, 'VALUE_TOO_LARGE')) throw error;
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `--tenant is too long (found ${[...tenant].length} characters, wanted 1 to ${MAX_CHARACTERS.tenantId})`,
      hint: 'No tenant is called that: see how the sessions were created.',
    });
  }
}

const LISTED_BY = {
  session: 'turnlock sessions',
  execution: 'turnlock show SESSION',
  approval: 'turnlock awaiting --json',
};

/** An id as it was typed. @throws OPTIONS_INVALID when it is none. */
export function readId(text: string, name: 'session' | 'execution' | 'approval'): string {
  try {
    return checkUuid(text, name);
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `${name} id not accepted: ${JSON.stringify(text)} (wanted a UUID)`,
      hint: `\`${LISTED_BY[name]}\` lists them.`,
    });
  }
}
