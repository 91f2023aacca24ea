import { EXECUTION_STATUSES_SQL } from './legal-pairs.sql.ts';

/** `agent_tool_executions`, and the links of turns and sessions to it. */
export function toolExecutionsSql(schema: string): string[] {
  return [
    `CREATE TABLE ${schema}.agent_tool_executions (
  execution_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  turn_id uuid NOT NULL,
  tool_name varchar(128) NOT NULL,
  idempotency_key varchar(128) NOT NULL,
  input_parameters jsonb NOT NULL,
  output_payload jsonb,
  status varchar(32) NOT NULL DEFAULT 'PENDING',
  error_message text,
  started_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  tenant_id varchar(64) NOT NULL,
  session_id uuid NOT NULL,
  run_id uuid NOT NULL,
  ordinal int NOT NULL,
  tool_version int NOT NULL,
  params_digest varchar(64) NOT NULL,
  provider_call_id text,
  effect varchar(16) NOT NULL,
  attempt int NOT NULL DEFAULT 0,
  deadline_at timestamptz,
  -- When the next attempt of a call begins whose last one failed.
  retry_at timestamptz,
  fencing_token int,
  unknown_at timestamptz,
  unknown_reason varchar(16),
  answered_by uuid,
  settled_by varchar(255),
  raw_input text,
  error_code varchar(64),
  upgraded_parameters jsonb,
  upgraded_digest varchar(64),
  upgraded_version int,
  claim_digest varchar(64),
  claim_generation int,
  -- What the tool says the call costs, in millionths of money; NULL where it says nothing.
  cost_micro_money bigint,
  normalised jsonb,
  metadata jsonb NOT NULL DEFAULT '{}'::jsonb,
  CONSTRAINT idx_tool_idempotency UNIQUE (idempotency_key),
  CONSTRAINT check_tool_status CHECK (status IN (${EXECUTION_STATUSES_SQL})),
  CONSTRAINT check_tool_effect CHECK (effect IN ('readOnly', 'idempotent', 'transactional', 'reconcilable', 'nonRepeatable')),
  CONSTRAINT check_tool_counters CHECK (ordinal >= 0 AND attempt >= 0),
  CONSTRAINT check_tool_cost CHECK (cost_micro_money >= 0),
  CONSTRAINT check_tool_unknown CHECK ((unknown_at IS NULL) = (unknown_reason IS NULL)),
  CONSTRAINT check_tool_unknown_reason CHECK (unknown_reason IN ('crash', 'lease', 'timeout', 'reported')),
  CONSTRAINT uq_tool_session UNIQUE (session_id, execution_id),
  CONSTRAINT uq_tool_tenant UNIQUE (tenant_id, execution_id),
  CONSTRAINT fk_tool_session FOREIGN KEY (tenant_id, session_id)
    REFERENCES ${schema}.agent_sessions (tenant_id, session_id) ON DELETE CASCADE,
  CONSTRAINT fk_tool_turn FOREIGN KEY (session_id, turn_id)
    REFERENCES ${schema}.agent_turns (session_id, turn_id) ON DELETE CASCADE,
  CONSTRAINT fk_tool_answered_by FOREIGN KEY (tenant_id, answered_by)
    REFERENCES ${schema}.agent_tool_executions (tenant_id, execution_id) ON DELETE SET NULL (answered_by)
    DEFERRABLE INITIALLY DEFERRED
)`,
    // After those that have tenant or session, as with turns.
    `ALTER TABLE ${schema}.agent_tool_executions ADD CONSTRAINT agent_tool_executions_turn_id_fkey FOREIGN KEY (turn_id)
  REFERENCES ${schema}.agent_turns (turn_id) ON DELETE CASCADE`,
    // Also finds the executions of one assistant turn, and serves the cascade of both of its foreign keys.
    `CREATE INDEX idx_tool_turn ON ${schema}.agent_tool_executions (turn_id)`,
    `CREATE INDEX idx_tool_open ON ${schema}.agent_tool_executions (session_id) WHERE status IN ('PENDING', 'RUNNING')`,
    `CREATE INDEX idx_tool_run ON ${schema}.agent_tool_executions (run_id, tool_name, params_digest)`,
    // What a tenant has begun today: read by budgets.
    `CREATE INDEX idx_tool_started ON ${schema}.agent_tool_executions (tenant_id, started_at) WHERE attempt > 0`,
    `CREATE INDEX idx_tool_unknown ON ${schema}.agent_tool_executions (session_id, tool_name, params_digest) WHERE status = 'TIMED_OUT'`,
    `CREATE INDEX idx_tool_answered_by ON ${schema}.agent_tool_executions (answered_by) WHERE answered_by IS NOT NULL`,
    `ALTER TABLE ${schema}.agent_turns ADD CONSTRAINT fk_turn_execution FOREIGN KEY (session_id, execution_id)
  REFERENCES ${schema}.agent_tool_executions (session_id, execution_id) ON DELETE SET NULL (execution_id)
  DEFERRABLE INITIALLY DEFERRED`,
    `ALTER TABLE ${schema}.agent_sessions ADD CONSTRAINT fk_session_parent_execution FOREIGN KEY (tenant_id, parent_execution_id)
  REFERENCES ${schema}.agent_tool_executions (tenant_id, execution_id) ON DELETE SET NULL (parent_execution_id)
  DEFERRABLE INITIALLY DEFERRED`,
  ];
}
