import type { Approvers, Json } from '../machines/event-content.ts';
import type { UnknownReason } from '../machines/execution-status.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import { type ParamsProblem, paramsProblem } from './present-params.ts';
import type { RoundKind } from './project-rounds.ts';
import type { Store } from './session-transaction.ts';

/** A fact about an attempt that came too late for its commit, as a person sees it who settles the call. */
export interface LateFact {
  attempt: number;
  outcome: 'succeeded' | 'failed';
  output: Json;
  error: { code: string | null; message: string } | null;
  createdAt: Date;
}

/** What a person is asked about one call: an open round of asking. */
export interface Awaiting {
  approvalId: string;
  tenantId: string;
  sessionId: string;
  externalId: string | null;
  userId: string;
  agent: string;
  executionId: string;
  toolName: string;
  params: Json;
  /** Digest of the params: names them in a decision. */
  digest: string;
  /** PARAMS_CHANGED: the params are not those of the digest, and no approval is taken; `null` where they are. */
  problem: ParamsProblem | null;
  idempotencyKey: string;
  /** `approval`: may it run; `answer`: the agent asks its user; `unknown`: it was started, and nothing says how it ended. */
  reason: RoundKind;
  /** 1 for the first time that somebody is asked about this call. */
  round: number;
  /**
   * Why, in the policy's words, the agent's question, or what the tool or its `reconcile` said of an unknown outcome; `null` when nothing was
   * said.
   */
  question: string | null;
  approvers: Approvers | null;
  requestedAt: Date;
  /** When nobody may decide any more; `null`: never. */
  expiresAt: Date | null;
  /** Attempts that were started. */
  attempt: number;
  /** Of an unknown outcome: what made it unknown; `null` elsewhere. */
  unknownReason: UnknownReason | null;
  /** Of an unknown outcome: what earlier attempts still returned; empty elsewhere. */
  evidence: LateFact[];
}

/** Which open rounds. */
export interface AwaitingQuery {
  tenantId: string;
  userId?: string;
  sessionId?: string;
  approvalIds?: readonly string[];
  reason?: RoundKind;
  /** Only those of which the host's hook was not told yet. */
  isUnannounced?: boolean;
  /** The last one of the page before. */
  after?: string;
  limit: number;
}

type Row = Record<string, unknown>;

/** The open rounds of a tenant, those that were asked first first; those of one commit in the order of their calls. */
export async function listAwaiting(store: Store, query: AwaitingQuery): Promise<Awaiting[]> {
  const { tenantId, userId = null, sessionId = null, approvalIds = null, reason = null, after = null } = query;
  const { isUnannounced = false, limit } = query;
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const rows = (await em.execute(
      `select a.approval_id, a.session_id, s.external_id, s.user_id, s.agent_name, a.execution_id, e.tool_name,
              case when e.upgraded_version is null then e.input_parameters else coalesce(e.upgraded_parameters, 'null') end::text as params,
              coalesce(e.upgraded_digest, e.params_digest) as params_digest, e.idempotency_key, a.kind, a.round, a.question,
              a.approvers::text as approvers, e.attempt, e.unknown_reason,
              (extract(epoch from a.requested_at) * 1000)::float8 as requested_ms,
              (extract(epoch from a.expires_at) * 1000)::float8 as expires_ms,
              (select json_agg(json_build_object('attempt', v.attempt, 'outcome', v.outcome, 'output', v.output,
                  'code', v.error_code, 'message', v.error_message, 'ms', extract(epoch from v.created_at) * 1000)
                  order by v.created_at, v.evidence_id)::text
                 from turnlock.agent_tool_evidence v where a.kind = 'unknown' and v.execution_id = a.execution_id) as evidence
         from turnlock.agent_approvals a
         join turnlock.agent_sessions s on s.session_id = a.session_id
         join turnlock.agent_tool_executions e on e.execution_id = a.execution_id
        where a.tenant_id = ? and a.decision is null
          and (?::text is null or s.user_id = ?) and (?::uuid is null or a.session_id = ?)
          and (?::uuid[] is null or a.approval_id = any (?)) and (?::text is null or a.kind = ?)
          and (not ?::boolean or a.announced_at is null)
          and (?::uuid is null or (a.requested_at, e.ordinal, a.approval_id) >
                (select b.requested_at, f.ordinal, b.approval_id
                   from turnlock.agent_approvals b join turnlock.agent_tool_executions f on f.execution_id = b.execution_id
                  where b.approval_id = ? and b.tenant_id = a.tenant_id))
        order by a.requested_at, e.ordinal, a.approval_id limit ?`,
      [
        ...[tenantId, userId, userId, sessionId, sessionId],
        ...[arrayOf(approvalIds), arrayOf(approvalIds), reason, reason, isUnannounced, after, after, limit],
      ],
    )) as Row[];
    return rows.map((row) => toAwaiting(tenantId, row));
  });
}

function arrayOf(ids: readonly string[] | null): string | null {
  return ids === null ? null : `{${ids.join(',')}}`;
}

function toAwaiting(tenantId: string, row: Row): Awaiting {
  const call = { params: JSON.parse(row.params as string) as Json, digest: row.params_digest as string };
  return {
    approvalId: row.approval_id as string,
    tenantId,
    sessionId: row.session_id as string,
    externalId: row.external_id as string | null,
    userId: row.user_id as string,
    agent: row.agent_name as string,
    executionId: row.execution_id as string,
    toolName: row.tool_name as string,
    ...call,
    problem: paramsProblem(call),
    idempotencyKey: row.idempotency_key as string,
    reason: row.kind as RoundKind,
    round: row.round as number,
    question: row.question as string | null,
    approvers: row.approvers === null ? null : (JSON.parse(row.approvers as string) as Approvers),
    requestedAt: new Date(row.requested_ms as number),
    expiresAt: row.expires_ms === null ? null : new Date(row.expires_ms as number),
    attempt: row.attempt as number,
    unknownReason: row.unknown_reason as UnknownReason | null,
    evidence: row.evidence === null ? [] : (JSON.parse(row.evidence as string) as Row[]).map(toFact),
  };
}

function toFact({ attempt, outcome, output, code, message, ms }: Row): LateFact {
  const error = outcome === 'failed' ? { code: code as string | null, message: (message ?? '') as string } : null;
  const facts = { attempt: attempt as number, outcome: outcome as LateFact['outcome'], output: output as Json };
  return { ...facts, error, createdAt: new Date(ms as number) };
}

/** The session of an execution of the tenant; `null` where it has none of that id. */
export async function findSessionOfExecution(
  store: Store,
  tenantId: string,
  executionId: string,
): Promise<string | null> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const rows = await em.execute(
      'select session_id from turnlock.agent_tool_executions where execution_id = ? and tenant_id = ?',
      [executionId, tenantId],
    );
    return (rows as { session_id: string }[])[0]?.session_id ?? null;
  });
}
