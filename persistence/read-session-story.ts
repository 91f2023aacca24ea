import type { Json, TokenUsage } from '../machines/event-content.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { RoundDecision, RoundKind } from './project-rounds.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** One attempt of a model call, as it was recorded. */
export interface StoredModelCall {
  runId: string;
  attempt: number;
  modelId: string;
  /** The last turn that it was shown. */
  windowTo: number;
  latencyMs: number | null;
  usage: TokenUsage;
  finishReason: string | null;
  errorCode: string | null;
  errorMessage: string | null;
}

/** One round of asking people about a call. */
export interface StoredRound {
  executionId: string;
  round: number;
  kind: RoundKind;
  question: string | null;
  requestedAt: Date;
  /** `null` while it is open. */
  decision: RoundDecision | null;
  decidedBy: string | null;
  decidedAt: Date | null;
}

/** A result that came too late for its own commit. */
export interface StoredEvidence {
  evidenceId: string;
  executionId: string;
  attempt: number;
  outcome: string;
  output: Json;
  errorMessage: string | null;
  createdAt: Date;
}

/** What of a session's story stands neither in turns, executions nor transitions. */
export interface SessionStory {
  modelCalls: StoredModelCall[];
  rounds: StoredRound[];
  evidence: StoredEvidence[];
}

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

type Timed<Row, Names extends keyof Row> = Omit<Row, Names> & { [Name in Names]: number | null };

/** Reads it, each in the order in which it happened. */
export async function readSessionStory(store: Store, { tenantId, sessionId }: SessionKey): Promise<SessionStory> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const select = async <Row>(text: string) => (await em.execute(text, [tenantId, sessionId])) as Row[];
    const modelCalls = await select<StoredModelCall>(
      `select run_id as "runId", attempt, model_id as "modelId", window_to as "windowTo", latency_ms as "latencyMs",
              token_usage_json as usage, finish_reason as "finishReason", error_code as "errorCode", error_message as "errorMessage"
         from turnlock.agent_model_calls where tenant_id = ? and session_id = ? order by started_at, model_call_id`,
    );
    const rounds = await select<Timed<StoredRound, 'requestedAt' | 'decidedAt'>>(
      `select execution_id as "executionId", round, kind, question, ${ms('requested_at')} as "requestedAt", decision,
              decided_by as "decidedBy", ${ms('decided_at')} as "decidedAt"
         from turnlock.agent_approvals where tenant_id = ? and session_id = ? order by requested_at, approval_id`,
    );
    const evidence = await select<Timed<StoredEvidence, 'createdAt'>>(
      `select evidence_id as "evidenceId", execution_id as "executionId", attempt, outcome, output, error_message as "errorMessage",
              ${ms('created_at')} as "createdAt"
         from turnlock.agent_tool_evidence where tenant_id = ? and session_id = ? order by created_at, evidence_id`,
    );
    return {
      modelCalls,
      rounds: rounds.map((row) => ({
        ...row,
        requestedAt: new Date(row.requestedAt ?? 0),
        decidedAt: row.decidedAt === null ? null : new Date(row.decidedAt),
      })),
      evidence: evidence.map((row) => ({ ...row, createdAt: new Date(row.createdAt ?? 0) })),
    };
  });
}
