import { insertEvidence, type LateResult } from '../persistence/evidence.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import { recoverOne } from './recover.ts';
import type { Services } from './services.ts';

/**
 * Keeps a result that nobody may commit any more, and lets the session go on from it. Never rejects: what cannot be kept is a result that is
 * lost, as it would be with the process.
 */
export function keepEvidence(
  services: Services,
  { tenantId, sessionId }: SessionKey,
  late: Omit<LateResult, 'evidenceId'>,
): void {
  const key = { tenantId, sessionId };
  services.operations
    .run(async () => {
      await insertEvidence(services.store, key, { ...late, evidenceId: services.store.environment.uuid() });
      if (!services.closing.aborted) await recoverOne(services, key);
    })
    .catch(() => undefined);
}
