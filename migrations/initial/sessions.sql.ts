import { SESSION_STATES_SQL } from './legal-pairs.sql.ts';

/** `agent_sessions`: the given columns first, in their order, then ours. */
export function sessionsSql(schema: string): string[] {
  return [
    `CREATE TABLE ${schema}.agent_sessions (
  session_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  tenant_id varchar(64) NOT NULL,
  user_id varchar(64) NOT NULL,
  current_state varchar(32) NOT NULL DEFAULT 'IDLE',
  active_model_id varchar(64) NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  agent_name varchar(64) NOT NULL,
  agent_version int NOT NULL,
  external_id varchar(255),
  machine_id varchar(64) NOT NULL,
  machine_version int NOT NULL,
  snapshot jsonb NOT NULL,
  version int NOT NULL DEFAULT 0,
  lease_holder varchar(64),
  lease_token int NOT NULL DEFAULT 0,
  lease_expires_at timestamptz,
  recoveries int NOT NULL DEFAULT 0,
  wake_at timestamptz,
  parent_session_id uuid,
  parent_execution_id uuid,
  -- How many parents are above it.
  depth int NOT NULL DEFAULT 0,
  fork_origin_session_id uuid,
  fork_origin_turn_index int,
  metadata jsonb NOT NULL DEFAULT '{}'::jsonb,
  normalised jsonb,
  -- Set by the insert trigger, never changed: what the session began with, and the hash of it that the first transition chains to.
  first_agent_version int NOT NULL DEFAULT 0,
  first_machine_version int NOT NULL DEFAULT 0,
  genesis_hash varchar(64) NOT NULL DEFAULT '',
  -- When what was said in it was erased; what is left are ids, states, times, counts and digests.
  erased_at timestamptz,
  CONSTRAINT check_session_state CHECK (current_state IN (${SESSION_STATES_SQL})),
  CONSTRAINT check_session_lease CHECK ((lease_holder IS NULL) = (lease_expires_at IS NULL)),
  CONSTRAINT check_session_counters CHECK (version >= 0 AND lease_token >= 0 AND recoveries >= 0 AND depth >= 0),
  CONSTRAINT uq_session_tenant UNIQUE (tenant_id, session_id),
  CONSTRAINT uq_session_external_id UNIQUE (tenant_id, external_id),
  CONSTRAINT fk_session_parent FOREIGN KEY (tenant_id, parent_session_id)
    REFERENCES ${schema}.agent_sessions (tenant_id, session_id) ON DELETE SET NULL (parent_session_id),
  CONSTRAINT fk_session_fork_origin FOREIGN KEY (tenant_id, fork_origin_session_id)
    REFERENCES ${schema}.agent_sessions (tenant_id, session_id) ON DELETE SET NULL (fork_origin_session_id)
)`,
    `CREATE INDEX idx_sessions_tenant ON ${schema}.agent_sessions (tenant_id, updated_at DESC)`,
    // Whoever lists or erases what is one user's.
    `CREATE INDEX idx_sessions_user ON ${schema}.agent_sessions (tenant_id, user_id)`,
    // What a list by state, and the overview of a tenant, would else look for among all sessions of the tenant. Few are in these states.
    `CREATE INDEX idx_sessions_unwell ON ${schema}.agent_sessions (tenant_id, current_state, updated_at DESC)
  WHERE current_state IN ('AWAITING_INPUT', 'FAILED')`,
    // What the sweep reads: sessions at work by the moment when nobody acts for them any more, and sleepers by their wake.
    `CREATE INDEX idx_sessions_owed ON ${schema}.agent_sessions ((COALESCE(lease_expires_at, wake_at, updated_at)))
  WHERE current_state IN ('PLANNING', 'EXECUTING_TOOL')`,
    `CREATE INDEX idx_sessions_wake ON ${schema}.agent_sessions (wake_at) WHERE wake_at IS NOT NULL`,
    // For the SET NULL of a parent's, an execution's or an origin's deletion.
    `CREATE INDEX idx_sessions_parent ON ${schema}.agent_sessions (parent_session_id) WHERE parent_session_id IS NOT NULL`,
    `CREATE INDEX idx_sessions_parent_execution ON ${schema}.agent_sessions (parent_execution_id) WHERE parent_execution_id IS NOT NULL`,
    `CREATE INDEX idx_sessions_fork_origin ON ${schema}.agent_sessions (fork_origin_session_id) WHERE fork_origin_session_id IS NOT NULL`,
    `CREATE INDEX idx_sessions_metadata ON ${schema}.agent_sessions USING gin (metadata jsonb_path_ops)`,
  ];
}
