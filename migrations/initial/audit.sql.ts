/** The audit: transitions, their payloads, and the facts that came too late. */
export function auditSql(schema: string): string[] {
  return [
    `CREATE TABLE ${schema}.agent_transitions (
  session_id uuid NOT NULL,
  sequence int NOT NULL,
  tenant_id varchar(64) NOT NULL,
  run_id uuid,
  from_state varchar(32) NOT NULL,
  to_state varchar(32) NOT NULL,
  event varchar(64) NOT NULL,
  event_id varchar(80) NOT NULL,
  cause varchar(16) NOT NULL,
  token int NOT NULL,
  format_version smallint NOT NULL DEFAULT 1,
  payload_digest varchar(64) NOT NULL,
  turns_digest varchar(64) NOT NULL,
  outcomes_digest varchar(64) NOT NULL,
  -- The last three are set by the insert trigger, whatever the writer says; the defaults only let a writer leave them out.
  created_at timestamptz NOT NULL DEFAULT '1970-01-01 00:00:00+00'::timestamptz,
  previous_hash varchar(64) NOT NULL DEFAULT '',
  hash varchar(64) NOT NULL DEFAULT '',
  CONSTRAINT agent_transitions_pkey PRIMARY KEY (session_id, sequence),
  CONSTRAINT uq_transition_event UNIQUE (session_id, event_id),
  CONSTRAINT check_transition_cause CHECK (cause IN ('user', 'worker', 'operator')),
  CONSTRAINT check_transition_sequence CHECK (sequence >= 1),
  CONSTRAINT fk_transition_session FOREIGN KEY (tenant_id, session_id)
    REFERENCES ${schema}.agent_sessions (tenant_id, session_id) ON DELETE CASCADE
)`,
    `CREATE TABLE ${schema}.agent_transition_payloads (
  session_id uuid NOT NULL,
  sequence int NOT NULL,
  tenant_id varchar(64) NOT NULL,
  salt varchar(64),
  payload jsonb,
  erased_at timestamptz,
  CONSTRAINT agent_transition_payloads_pkey PRIMARY KEY (session_id, sequence),
  CONSTRAINT check_payload_erased CHECK (erased_at IS NULL OR (salt IS NULL AND payload IS NULL)),
  CONSTRAINT fk_payload_session FOREIGN KEY (tenant_id, session_id)
    REFERENCES ${schema}.agent_sessions (tenant_id, session_id) ON DELETE CASCADE,
  CONSTRAINT fk_payload_transition FOREIGN KEY (session_id, sequence)
    REFERENCES ${schema}.agent_transitions (session_id, sequence) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
)`,
    `CREATE TABLE ${schema}.agent_tool_evidence (
  evidence_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  tenant_id varchar(64) NOT NULL,
  session_id uuid NOT NULL,
  execution_id uuid NOT NULL,
  attempt int NOT NULL,
  token int NOT NULL,
  outcome varchar(16) NOT NULL,
  output jsonb,
  error_code varchar(64),
  error_message text,
  normalised jsonb,
  created_at timestamptz NOT NULL DEFAULT ${schema}.turnlock_now(),
  CONSTRAINT check_evidence_outcome CHECK (outcome IN ('succeeded', 'failed', 'timedOut')),
  CONSTRAINT fk_evidence_session FOREIGN KEY (tenant_id, session_id)
    REFERENCES ${schema}.agent_sessions (tenant_id, session_id) ON DELETE CASCADE,
  CONSTRAINT fk_evidence_execution FOREIGN KEY (session_id, execution_id)
    REFERENCES ${schema}.agent_tool_executions (session_id, execution_id) ON DELETE CASCADE
)`,
    // For whoever looks for a run or a message: one row for each run, and for each message.
    `CREATE INDEX idx_transitions_run ON ${schema}.agent_transitions (run_id) WHERE event IN ('user.messaged', 'session.retried')`,
    `CREATE INDEX idx_transitions_message ON ${schema}.agent_transitions (event_id) WHERE event IN ('user.messaged', 'message.enqueued')`,
    `CREATE INDEX idx_evidence_execution ON ${schema}.agent_tool_evidence (session_id, execution_id)`,
  ];
}
