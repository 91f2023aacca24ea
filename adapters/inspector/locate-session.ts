import { TurnlockError } from '../../errors.ts';
import { findSessionTenant } from '../../persistence/find-session-tenant.ts';
import type { SessionKey } from '../../persistence/read-session.ts';
import { readSessionOverview, type SessionOverview } from '../../persistence/read-session-overview.ts';
import { checkUuid } from '../../persistence/values/check-uuid.ts';
import { checkTenant } from '../../runtime/check-query.ts';
import type { Visit } from './visit.ts';

/**
 * The session that a page is about, if the viewer may see it. Its tenant is the viewer's; where the viewer sees all, `?tenant=` names it, else
 * it is looked up, which the database records.
 *
 * @throws VALUE_INVALID for what is no id. SESSION_NOT_FOUND, also for a session that the viewer may not see. PRIVILEGE_MISSING.
 */
export async function locateSession(visit: Visit, id: string): Promise<SessionOverview> {
  const sessionId = checkUuid(id, 'sessionId');
  const key = { tenantId: await tenantOf(visit, sessionId), sessionId };
  const overview = await readSessionOverview(visit.store, key);
  if (visit.viewer.userId != null && overview.userId !== visit.viewer.userId) throw notFound(key);
  return overview;
}

async function tenantOf({ viewer, query, store }: Visit, sessionId: string): Promise<string> {
  if (viewer.tenantId !== null) return viewer.tenantId;
  const named = query.get('tenant');
  return named === null || named === '' ? findSessionTenant(store, sessionId) : checkTenant(named);
}

function notFound({ tenantId, sessionId }: SessionKey): TurnlockError {
  return new TurnlockError('SESSION_NOT_FOUND', {
    message: `session not found: ${sessionId} (wanted one of tenant ${JSON.stringify(tenantId)})`,
    details: { tenantId, sessionId },
  });
}
