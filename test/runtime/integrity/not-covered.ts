/**
 * Columns of the audit's tables of which neither verify nor doctor says that they were changed past every guard, each with its reason. The page
 * `docs/audit.md` lists them too.
 */
export const NOT_COVERED: Readonly<Record<string, string>> = {
  'agent_approvals.announced_at': 'whether a hook told people of a question; it changes without a transition',
  'agent_idempotency_claims.created_at': 'a key is the tenant’s, and outlives sessions',
  'agent_idempotency_claims.execution_id':
    'a key that is not held may have forgotten it; one that is held by nothing is found',
  'agent_idempotency_claims.generation':
    'as `created_at`; the key of each call is in the row of the call, which is covered',
  'agent_idempotency_claims.output_payload': 'as `created_at`; the output of the call that has the key is covered',
  'agent_idempotency_claims.params_digest': 'as `created_at`; that of the call is covered',
  'agent_idempotency_claims.updated_at': 'as `created_at`',
  'agent_idempotency_claims.user_id': 'as `created_at`',
  'agent_sessions.lease_expires_at': 'whose turn it is; it changes without a transition',
  'agent_sessions.lease_holder':
    'whose turn it is; it changes without a transition, and each transition names its holder',
  'agent_sessions.parent_execution_id':
    'a link that is forgotten with what it points to; the id of a child follows from its parent’s call',
  'agent_sessions.parent_session_id': 'the same',
  'agent_tool_executions.answered_by': 'a link that is forgotten with what it points to',
};
