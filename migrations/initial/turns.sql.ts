/** `agent_turns`. Its link to an execution is added once that table exists: the two point at each other. */
export function turnsSql(schema: string): string[] {
  return [
    `CREATE TABLE ${schema}.agent_turns (
  turn_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  session_id uuid NOT NULL,
  turn_index int NOT NULL,
  role varchar(16) NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
  content text,
  token_usage_json jsonb NOT NULL DEFAULT '{}'::jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  tenant_id varchar(64) NOT NULL,
  run_id uuid,
  parts jsonb NOT NULL DEFAULT '[]'::jsonb,
  execution_id uuid,
  call_turn_id uuid,
  call_ordinal int,
  normalised jsonb,
  metadata jsonb NOT NULL DEFAULT '{}'::jsonb,
  CONSTRAINT uq_session_turn_index UNIQUE (session_id, turn_index),
  CONSTRAINT uq_turn_session UNIQUE (session_id, turn_id),
  CONSTRAINT uq_turn_call UNIQUE (call_turn_id, call_ordinal),
  CONSTRAINT check_turn_index CHECK (turn_index >= 0),
  CONSTRAINT check_turn_call CHECK ((call_turn_id IS NULL) = (call_ordinal IS NULL)),
  CONSTRAINT fk_turn_session FOREIGN KEY (tenant_id, session_id)
    REFERENCES ${schema}.agent_sessions (tenant_id, session_id) ON DELETE CASCADE,
  CONSTRAINT fk_turn_call FOREIGN KEY (session_id, call_turn_id)
    REFERENCES ${schema}.agent_turns (session_id, turn_id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
)`,
    // After the one that has the tenant: whichever is first is named in the error, and must not tell another tenant's session from none.
    `ALTER TABLE ${schema}.agent_turns ADD CONSTRAINT agent_turns_session_id_fkey FOREIGN KEY (session_id)
  REFERENCES ${schema}.agent_sessions (session_id) ON DELETE CASCADE`,
  ];
}
