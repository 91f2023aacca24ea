import type { SessionCriteria } from './list-sessions.ts';
import { asOperator } from './operator-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** By what sessions are found whoever they belong to: one of these. */
export type CrossingCriterion = Omit<SessionCriteria, 'userId' | 'agent' | 'forkOf'> & { sessionId?: string };

/** The function's argument of each criterion, and its type. */
const ARGUMENTS: Record<keyof CrossingCriterion, string> = {
  sessionId: 'by_session_id => ?::uuid',
  externalId: 'external_id => ?',
  metadata: 'metadata => ?::jsonb',
  executionId: 'execution_id => ?::uuid',
  idempotencyKey: 'idempotency_key => ?',
  runId: 'run_id => ?::uuid',
  messageId: 'message_id => ?',
};

/**
 * Sessions of any tenant that fit, last changed first, at most `limit`. Which role looked for what, and when, stands in
 * `agent_operator_reads` once this resolves.
 *
 * @throws OPTIONS_INVALID unless there is one criterion. PRIVILEGE_MISSING when the role may not look across tenants.
 */
export async function findAcrossTenants(
  store: Store,
  criterion: CrossingCriterion,
  limit: number,
): Promise<SessionKey[]> {
  const given = Object.entries(criterion).filter(([, value]) => value !== undefined);
  const argument = given.map(([name]) => ARGUMENTS[name as keyof CrossingCriterion]);
  const values = given.map(([name, value]) => (name === 'metadata' ? JSON.stringify(value) : value));
  const rows = await asOperator(
    store,
    async (em) =>
      (await em.execute(
        `select tenant_id, session_id from turnlock.find_sessions(${[...argument, 'max_sessions => ?'].join(', ')})`,
        [...values, limit],
      )) as { tenant_id: string; session_id: string }[],
    { to: 'look' },
  );
  return rows.map((row) => ({ tenantId: row.tenant_id, sessionId: row.session_id }));
}
