import { TurnlockError } from '../../errors.ts';
import type { Visit } from './visit.ts';

/** Some pages are about a whole tenant. @throws PRIVILEGE_MISSING for a viewer who sees the sessions of one user alone. */
export function refuseUsers({ viewer, path }: Visit): void {
  if (viewer.userId == null) return;
  throw new TurnlockError('PRIVILEGE_MISSING', {
    message: `page not allowed: ${path} (found a viewer of one user's sessions, wanted one of the tenant's)`,
    hint: 'This page is about a whole tenant.',
  });
}
