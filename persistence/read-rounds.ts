import type { Approvers } from '../machines/event-content.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { RoundKind } from './project-rounds.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** A round of asking people about a call, and how it ended. */
export interface StoredRound {
  approvalId: string;
  round: number;
  kind: RoundKind;
  question: string | null;
  /** Who may decide; `null`: whoever the host lets in. */
  approvers: Approvers | null;
  requestedAt: Date;
  expiresAt: Date | null;
  /** How it ended; `null`: it is open. */
  decision: 'granted' | 'denied' | 'answered' | 'settled' | 'expired' | 'superseded' | 'cancelled' | null;
  decidedBy: string | null;
  decidedAt: Date | null;
  reason: string | null;
}

/** The rounds of one execution, oldest first. */
export async function readRounds(
  store: Store,
  { tenantId, sessionId }: SessionKey,
  executionId: string,
): Promise<StoredRound[]> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const rows = (await em.execute(
      `select a.approval_id, a.round, a.kind, a.question, a.approvers::text as approvers, a.decision, a.decided_by, a.reason,
              (extract(epoch from a.requested_at) * 1000)::float8 as requested_ms,
              (extract(epoch from a.expires_at) * 1000)::float8 as expires_ms,
              (extract(epoch from a.decided_at) * 1000)::float8 as decided_ms
         from turnlock.agent_approvals a
        where a.tenant_id = ? and a.session_id = ? and a.execution_id = ? order by a.round`,
      [tenantId, sessionId, executionId],
    )) as Record<string, unknown>[];
    return rows.map((row) => ({
      approvalId: row.approval_id as string,
      round: row.round as number,
      kind: row.kind as RoundKind,
      question: row.question as string | null,
      approvers: row.approvers === null ? null : (JSON.parse(row.approvers as string) as Approvers),
      requestedAt: new Date(row.requested_ms as number),
      expiresAt: dateOf(row.expires_ms),
      decision: row.decision as StoredRound['decision'],
      decidedBy: row.decided_by as string | null,
      decidedAt: dateOf(row.decided_ms),
      reason: row.reason as string | null,
    }));
  });
}

function dateOf(ms: unknown): Date | null {
  return ms === null ? null : new Date(ms as number);
}
