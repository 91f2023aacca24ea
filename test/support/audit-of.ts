import { expect } from 'vitest';
import { systemEnvironment } from '../../environment.ts';
import { resolveLimits } from '../../limits.ts';
import { type Verification, verifySession } from '../../persistence/audit/verify-session.ts';
import type { RuntimeDatabase } from './runtime-database.ts';

/** Verifies the audit of a session past every runtime, by a connection that is gone afterwards. */
export async function auditOf(database: RuntimeDatabase, sessionId: string): Promise<Verification> {
  const [{ tenant_id: tenantId }] = (await database.query(
    'SELECT tenant_id FROM turnlock.agent_sessions WHERE session_id = $1',
    [sessionId],
  )) as [{ tenant_id: string }];
  const [environment, limits] = [systemEnvironment, resolveLimits()];
  const opened = await database.adapter().connect({ environment, limits });
  try {
    return await verifySession({ database: opened, environment, limits }, { tenantId, sessionId });
  } finally {
    await opened.close();
  }
}

/**
 * Asserts that the audit of a session is whole: the chain holds from its begin to its version, each payload, turn and outcome is the one that
 * was vouched for when it was written, and a fold of the recorded events reproduces every state and the snapshot.
 */
export async function expectWholeAudit(database: RuntimeDatabase, sessionId: string): Promise<void> {
  const audit = await auditOf(database, sessionId);
  expect(audit).toMatchObject({ findings: [], folded: audit.transitions, skipped: 0, loss: null, erased: 0 });
  expect(audit.head.sequence).toBe(audit.transitions);
}
