import type { AgentApprovalRow } from './entities/agent-approval.entity.ts';

/** The open question about each call of a session that waits for a person: approval ids by the ids of executions. */
export type OpenQuestions = Readonly<Record<string, string>>;

/** They, as a part of a statement in which the session is `s`; NULL where there are none. */
export const OPEN_QUESTIONS = `(select jsonb_object_agg(a.execution_id, a.approval_id) from turnlock.agent_approvals a
              where a.session_id = s.session_id and a.decision is null)`;

/** They once a commit has opened and decided `rounds`. */
export function questionsAfter(
  before: OpenQuestions,
  rounds: readonly Pick<AgentApprovalRow, 'executionId' | 'approvalId' | 'decision'>[],
): OpenQuestions {
  const open = new Map(Object.entries(before));
  for (const { executionId, decision } of rounds) if (decision != null) open.delete(executionId);
  for (const { executionId, approvalId, decision } of rounds) if (decision == null) open.set(executionId, approvalId);
  return Object.fromEntries(open);
}
