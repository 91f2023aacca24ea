import type { EntityManager } from '@mikro-orm/postgresql';
import type { OutcomeContent } from '../machines/event-content.ts';
import type { EffectClass } from '../machines/execution-status.ts';
import { type OpenCall, reduceCalls } from '../machines/open-calls.ts';
import type { EventOf, EvidencedResult } from '../machines/session-event.ts';
import { AgentToolEvidence, type AgentToolEvidenceRow } from './entities/agent-tool-evidence.entity.ts';
import { AgentToolExecution, type AgentToolExecutionRow } from './entities/agent-tool-execution.entity.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** A fact about an attempt that came too late for its commit. */
export interface LateResult {
  /** Chosen by the caller: inserting it again writes nothing. */
  evidenceId: string;
  executionId: string;
  attempt: number;
  /** The fencing token under which the attempt ran: stale by now, as a rule. */
  token: number;
  outcome: EvidencedResult['outcome'];
  content: OutcomeContent;
}

/**
 * Keeps what a tool returned although nobody may commit it any more: tokens fence decisions, not facts. The session is woken by the
 * insert's trigger. Takes the session's lock, so that no commit of the session misses it.
 */
export async function insertEvidence(store: Store, key: SessionKey, late: LateResult): Promise<void> {
  const { tenantId, sessionId } = key;
  await store.environment.faultPoint('beforeEvidence', { sessionId, executionId: late.executionId });
  await inPatientTransaction(store, { tenantId, lockedSessionId: sessionId }, (em) => insertEvidenceRow(em, key, late));
}

/** The insert itself, under the session's lock; `false` where the row is there already. */
export async function insertEvidenceRow(em: EntityManager, key: SessionKey, late: LateResult): Promise<boolean> {
  const { tenantId, sessionId } = key;
  const { evidenceId, executionId, attempt, token, outcome, content } = late;
  const { output = null, error, normalised = null } = content;
  if ((await em.findOne(AgentToolEvidence, { evidenceId })) !== null) return false;
  const row = { evidenceId, tenantId, sessionId, executionId, attempt, token, outcome, output, normalised };
  const failure = { errorCode: error?.code ?? null, errorMessage: error?.message ?? null };
  em.persist(em.create(AgentToolEvidence, { ...row, ...failure } as never));
  await em.flush();
  return true;
}

/** The event id of a piece of evidence: it is taken once. */
export function eventIdOfEvidence(evidenceId: string): string {
  return `evidence:${evidenceId}`;
}

/** Which evidence is news: of an execution that is not known to have succeeded, and not taken before. `s` is the session. Commits count it by the same conditions, in `turnlock.read_under_lock`. */
export const UNTAKEN_EVIDENCE = `turnlock.agent_tool_evidence v
  join turnlock.agent_tool_executions x on x.session_id = v.session_id and x.execution_id = v.execution_id
 where v.session_id = s.session_id and x.status <> 'SUCCESS'
   and not exists (select from turnlock.agent_transitions t where t.session_id = v.session_id and t.event_id = 'evidence:' || v.evidence_id)`;

/** Evidence that can be taken now, with its execution. */
export interface TakenEvidence {
  event: EventOf<'tool.evidenced'>;
  evidenceId: string;
  /** The execution, where its call is over: then the evidence becomes a system turn. `null` where it settles an open call. */
  late: AgentToolExecutionRow | null;
}

/**
 * The first evidence that the session can take now; `null` where there is none.
 *
 * What fits an open call settles it. What comes after the tool turn becomes a system turn, and that only while no call is open: between
 * a call and its tool turn nothing else may stand.
 */
export async function findEvidence(
  em: EntityManager,
  { sessionId }: SessionKey,
  calls: readonly OpenCall[],
): Promise<TakenEvidence | null> {
  const rows = (await em.execute(
    `select v.* from turnlock.agent_sessions s
       cross join lateral (select v.*, x.effect from ${UNTAKEN_EVIDENCE} order by v.created_at, v.evidence_id) v
      where s.session_id = ?`,
    [sessionId],
  )) as { effect: EffectClass }[];
  for (const { effect, ...columns } of rows) {
    const row = em.map(AgentToolEvidence, columns as never) as AgentToolEvidenceRow;
    const event = { type: 'tool.evidenced', results: [resultOf(row)], systemTurns: 0 } as const;
    const after = reduceCalls(calls, { ...event, results: [resultOf(row)] });
    if (after !== null && !asksInVain(after, row.executionId, effect)) {
      return { event: { ...event, results: [resultOf(row)] }, evidenceId: row.evidenceId, late: null };
    }
    if (calls.length > 0) continue;
    const late = await em.findOneOrFail(AgentToolExecution, { executionId: row.executionId, sessionId });
    return { event: { ...event, results: [resultOf(row)], systemTurns: 1 }, evidenceId: row.evidenceId, late };
  }
  return null;
}

/** A person would be asked about a call that runs again by itself, with the same key: its next attempt says more. */
function asksInVain(calls: readonly OpenCall[], executionId: string, effect: EffectClass): boolean {
  if (effect !== 'idempotent') return false;
  return calls.some((call) => call.executionId === executionId && call.unknownReason !== null);
}

function resultOf(row: AgentToolEvidenceRow): EvidencedResult {
  const { executionId, attempt, outcome, output, errorCode, errorMessage, normalised } = row;
  const content: OutcomeContent =
    outcome === 'succeeded'
      ? { output: output ?? null, normalised: normalised ?? null }
      : { error: { code: errorCode ?? 'TOOL_FAILED', message: errorMessage ?? '' }, normalised: normalised ?? null };
  return { executionId, attempt, outcome: outcome as EvidencedResult['outcome'], content };
}
