import { raise, triggerFunction } from './raise.sql.ts';

/*
 * The hash covers, in this order: format version, tenant, session, sequence, run, from, to, event, event id, cause, token, time in
 * milliseconds since 1970, payload digest, turns digest, outcomes digest, previous hash. Its text is that of `jsonb_build_array(…)`:
 * elements separated by ", ", ids and states as JSON strings, numbers plain, an absent run as null; SHA-256 of its UTF-8, in hex.
 *
 * Two transitions in one INSERT chain correctly: the second row's trigger sees the first row.
 */
const insertBody = `
  IF NEW.sequence = 1 THEN
    SELECT genesis_hash, 'IDLE' INTO previous, reached FROM agent_sessions
      WHERE session_id = NEW.session_id AND tenant_id = NEW.tenant_id;
  ELSE
    SELECT hash, to_state INTO previous, reached FROM agent_transitions
      WHERE session_id = NEW.session_id AND sequence = NEW.sequence - 1 AND tenant_id = NEW.tenant_id;
  END IF;
  IF NOT FOUND THEN
    ${raise({ code: 'TL010', name: 'transition_sequence' }, 'transition % of session % has no predecessor', 'NEW.sequence', 'NEW.session_id')}
  END IF;
  IF NEW.from_state <> reached OR NOT is_legal_transition(NEW.from_state, NEW.to_state) THEN
    ${raise({ code: 'TL011', name: 'transition_pair' }, 'transition % of session % may not go from % to % (the one before it reached %)', 'NEW.sequence', 'NEW.session_id', 'NEW.from_state', 'NEW.to_state', 'reached')}
  END IF;
  NEW.created_at := turnlock_now();
  NEW.previous_hash := previous;
  NEW.hash := encode(sha256(convert_to(jsonb_build_array(
    NEW.format_version, NEW.tenant_id, NEW.session_id, NEW.sequence, NEW.run_id, NEW.from_state, NEW.to_state, NEW.event,
    NEW.event_id, NEW.cause, NEW.token, (extract(epoch FROM NEW.created_at) * 1000)::bigint,
    NEW.payload_digest, NEW.turns_digest, NEW.outcomes_digest, NEW.previous_hash)::text, 'UTF8')), 'hex');
  RETURN NEW;`;

/** Deferred: a writer may insert the transition before it updates the session. */
const aheadBody = `
  IF EXISTS (SELECT FROM agent_sessions WHERE session_id = NEW.session_id AND version < NEW.sequence) THEN
    ${raise({ code: 'TL012', name: 'transition_ahead' }, 'transition % of session % is beyond the version of that session', 'NEW.sequence', 'NEW.session_id')}
  END IF;
  RETURN NULL;`;

/**
 * A deletion passes once the session's row is gone: then it is the cascade, which runs as the table's owner. Evidence goes also with the
 * erasure of its session.
 */
const appendOnlyBody = `
  IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM agent_sessions WHERE session_id = OLD.session_id
       AND (TG_TABLE_NAME <> 'agent_tool_evidence' OR erased_at IS NULL)) THEN
    RETURN OLD;
  END IF;
  ${raise({ code: 'TL013', name: 'audit_append_only' }, '% of % is refused: it is only appended to while its session lives', 'TG_OP', 'TG_TABLE_NAME')}`;

const erasureBody = `
  IF TG_OP = 'DELETE' THEN
    IF NOT EXISTS (SELECT FROM agent_sessions WHERE session_id = OLD.session_id) THEN RETURN OLD; END IF;
    ${raise({ code: 'TL013', name: 'audit_append_only' }, '% of % is refused: it is only appended to while its session lives', 'TG_OP', 'TG_TABLE_NAME')}
  END IF;
  IF OLD.erased_at IS NOT NULL OR NEW.erased_at IS NULL OR NEW.salt IS NOT NULL OR NEW.payload IS NOT NULL
     OR (NEW.session_id, NEW.sequence, NEW.tenant_id) IS DISTINCT FROM (OLD.session_id, OLD.sequence, OLD.tenant_id) THEN
    ${raise({ code: 'TL014', name: 'payload_erasure' }, 'payload % of session % may only be erased, once and whole', 'OLD.sequence', 'OLD.session_id')}
  END IF;
  RETURN NEW;`;

const truncateBody = `
  ${raise({ code: 'TL070', name: 'truncate_refused' }, 'TRUNCATE of % is refused: it would take the audit with it', 'TG_TABLE_NAME')}`;

/**
 * A late result is news for whoever acts for the session next. Moves `wake_at` only forward in urgency, and never wakes COMPLETED. The
 * NOTIFY is a hint, which leaves with the commit.
 */
const evidenceBody = `
  UPDATE agent_sessions SET wake_at = turnlock_now()
    WHERE session_id = NEW.session_id AND current_state <> 'COMPLETED' AND (wake_at IS NULL OR wake_at > turnlock_now());
  PERFORM pg_notify(TG_TABLE_SCHEMA, NEW.session_id::text);
  RETURN NULL;`;

/** What a tool says of a session that was erased meanwhile is kept as a fact, without what it says. */
const erasedEvidenceBody = `
  IF EXISTS (SELECT FROM agent_sessions WHERE session_id = NEW.session_id AND tenant_id = NEW.tenant_id AND erased_at IS NOT NULL) THEN
    NEW.output := NULL;
    NEW.error_code := NULL;
    NEW.error_message := NULL;
    NEW.normalised := NULL;
  END IF;
  RETURN NEW;`;

const GUARDED_FROM_TRUNCATE = [
  'agent_sessions',
  'agent_turns',
  'agent_tool_executions',
  'agent_transitions',
  'agent_transition_payloads',
  'agent_tool_evidence',
  'agent_approvals',
  'agent_inbox',
  'agent_model_calls',
  'agent_idempotency_claims',
  'agent_operator_reads',
];

/** What keeps the audit complete and as it was written. */
export function auditGuardsSql(schema: string): string[] {
  const row = (name: string, when: string, table: string, call = name) =>
    `CREATE TRIGGER ${name} ${when} ON ${schema}.${table} FOR EACH ROW EXECUTE FUNCTION ${schema}.${call}()`;
  return [
    triggerFunction(schema, 'chain_transition', insertBody, '  previous varchar(64);\n  reached varchar(32);'),
    row('chain_transition', 'BEFORE INSERT', 'agent_transitions'),
    triggerFunction(schema, 'check_transition_ahead', aheadBody),
    `CREATE CONSTRAINT TRIGGER check_transition_ahead AFTER INSERT ON ${schema}.agent_transitions DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION ${schema}.check_transition_ahead()`,
    triggerFunction(schema, 'guard_append_only', appendOnlyBody),
    row('guard_append_only', 'BEFORE UPDATE OR DELETE', 'agent_transitions'),
    row('guard_append_only', 'BEFORE UPDATE OR DELETE', 'agent_tool_evidence'),
    triggerFunction(schema, 'guard_payload', erasureBody),
    row('guard_payload', 'BEFORE UPDATE OR DELETE', 'agent_transition_payloads'),
    triggerFunction(schema, 'empty_erased_evidence', erasedEvidenceBody),
    row('empty_erased_evidence', 'BEFORE INSERT', 'agent_tool_evidence'),
    triggerFunction(schema, 'wake_for_evidence', evidenceBody),
    row('wake_for_evidence', 'AFTER INSERT', 'agent_tool_evidence'),
    triggerFunction(schema, 'guard_truncate', truncateBody),
    ...GUARDED_FROM_TRUNCATE.map(
      (table) =>
        `CREATE TRIGGER guard_truncate BEFORE TRUNCATE ON ${schema}.${table} EXECUTE FUNCTION ${schema}.guard_truncate()`,
    ),
  ];
}
