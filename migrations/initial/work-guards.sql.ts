import { raise, triggerFunction } from './raise.sql.ts';

/** Deferred: the two forms of the commit write turns in different order. */
const gapBody = `
  IF NEW.turn_index > 0
     AND NOT EXISTS (SELECT FROM agent_turns WHERE session_id = NEW.session_id AND turn_index = NEW.turn_index - 1)
     AND EXISTS (SELECT FROM agent_sessions WHERE session_id = NEW.session_id) THEN
    ${raise({ code: 'TL020', name: 'turn_gap' }, 'turn % of session % has no predecessor', 'NEW.turn_index', 'NEW.session_id')}
  END IF;
  RETURN NULL;`;

/** Whether the session of a row is erased: then its contents may go, and nothing else. */
const OF_ERASED = 'EXISTS (SELECT FROM agent_sessions WHERE session_id = OLD.session_id AND erased_at IS NOT NULL)';

const turnBody = `
  kept := NEW;
  IF NEW.content IS NULL AND NEW.parts = '[]'::jsonb AND NEW.metadata = '{}'::jsonb AND NEW.normalised IS NULL AND ${OF_ERASED} THEN
    kept.content := OLD.content;
    kept.parts := OLD.parts;
    kept.metadata := OLD.metadata;
    kept.normalised := OLD.normalised;
  END IF;
  IF NEW.execution_id IS NULL AND OLD.execution_id IS NOT NULL
     AND NOT EXISTS (SELECT FROM agent_tool_executions WHERE execution_id = OLD.execution_id) THEN
    kept.execution_id := OLD.execution_id;
  END IF;
  IF kept IS DISTINCT FROM OLD THEN
    ${raise({ code: 'TL021', name: 'turn_immutable' }, 'turn % of session % never changes', 'OLD.turn_index', 'OLD.session_id')}
  END IF;
  RETURN NEW;`;

const deleteBody = `
  IF EXISTS (SELECT FROM agent_sessions WHERE session_id = OLD.session_id) THEN
    ${raise({ code: 'TL022', name: 'history_delete' }, 'DELETE of % is refused while session % lives', 'TG_TABLE_NAME', 'OLD.session_id')}
  END IF;
  RETURN OLD;`;

/** A fork copies how executions of its prefix ended, TIMED_OUT among them, before its first transition. */
const executionInsertBody = `
  IF (NEW.status = 'PENDING' AND NEW.attempt = 0 AND NEW.fencing_token IS NULL)
     OR (NEW.status = 'RUNNING' AND NEW.attempt = 1 AND NEW.fencing_token IS NOT NULL)
     OR (NEW.status IN ('SUCCESS', 'FAILED') AND NEW.attempt = 0) THEN
    RETURN NEW;
  END IF;
  IF NEW.status IN ('SUCCESS', 'FAILED', 'TIMED_OUT') AND EXISTS (SELECT FROM agent_sessions s
       WHERE s.session_id = NEW.session_id AND s.tenant_id = NEW.tenant_id AND s.fork_origin_turn_index IS NOT NULL AND s.version <= 1) THEN
    RETURN NEW;
  END IF;
  ${raise({ code: 'TL030', name: 'execution_insert' }, 'an execution begins PENDING (attempt 0), RUNNING (attempt 1, with a token) or settled (attempt 0): found % with attempt %', 'NEW.status', 'NEW.attempt')}`;

/** Whether a person is asked about an execution, or has just agreed: then, and only then, that person may put other params in place. */
const IS_ASKED = `EXISTS (SELECT FROM agent_approvals a WHERE a.execution_id = OLD.execution_id AND a.session_id = OLD.session_id
         AND a.kind = 'approval' AND a.consumed_at IS NULL AND COALESCE(a.decision, 'granted') = 'granted')`;

/** Whether a person is asked how an execution ended, or whether it shall run once more: an upgrade shows them with which params it would. */
const IS_ASKED_AGAIN = `EXISTS (SELECT FROM agent_approvals a WHERE a.execution_id = OLD.execution_id AND a.session_id = OLD.session_id
         AND a.kind = 'unknown' AND a.decision IS NULL)`;

/** The comparison is made only where the row looks like an erased one: this runs with every change of an execution. */
const executionUpdateBody = `
  IF NEW.input_parameters = '{}'::jsonb AND NEW.output_payload IS NULL AND NEW.error_code IS NULL AND NEW.error_message IS NULL
     AND NEW.raw_input IS NULL THEN
    kept := NEW;
    kept.input_parameters := OLD.input_parameters;
    kept.upgraded_parameters := OLD.upgraded_parameters;
    kept.output_payload := OLD.output_payload;
    kept.error_code := OLD.error_code;
    kept.error_message := OLD.error_message;
    kept.raw_input := OLD.raw_input;
    kept.provider_call_id := OLD.provider_call_id;
    kept.settled_by := OLD.settled_by;
    kept.normalised := OLD.normalised;
    kept.metadata := OLD.metadata;
    IF kept IS NOT DISTINCT FROM OLD AND NEW.upgraded_parameters IS NULL AND NEW.provider_call_id IS NULL AND NEW.settled_by IS NULL
       AND NEW.normalised IS NULL AND NEW.metadata = '{}'::jsonb AND ${OF_ERASED} THEN
      RETURN NEW;
    END IF;
  END IF;
  IF NEW.answered_by IS NULL AND OLD.answered_by IS NOT NULL
     AND NOT EXISTS (SELECT FROM agent_tool_executions WHERE execution_id = OLD.answered_by) THEN
    kept := NEW;
    kept.answered_by := OLD.answered_by;
    IF kept IS NOT DISTINCT FROM OLD THEN RETURN NEW; END IF;
  END IF;
  IF NOT is_legal_status_change(OLD.status, NEW.status) THEN
    ${raise({ code: 'TL031', name: 'execution_transition' }, 'execution % may not go from % to %', 'OLD.execution_id', 'OLD.status', 'NEW.status')}
  END IF;
  IF (NEW.execution_id, NEW.tenant_id, NEW.session_id, NEW.turn_id, NEW.run_id, NEW.ordinal, NEW.tool_name, NEW.tool_version, NEW.effect, NEW.provider_call_id, NEW.raw_input, NEW.answered_by)
     IS DISTINCT FROM
     (OLD.execution_id, OLD.tenant_id, OLD.session_id, OLD.turn_id, OLD.run_id, OLD.ordinal, OLD.tool_name, OLD.tool_version, OLD.effect, OLD.provider_call_id, OLD.raw_input, OLD.answered_by) THEN
    ${raise({ code: 'TL032', name: 'execution_identity' }, 'which call execution % handles never changes', 'OLD.execution_id')}
  END IF;
  is_amended := (NEW.input_parameters, NEW.params_digest, NEW.idempotency_key)
    IS DISTINCT FROM (OLD.input_parameters, OLD.params_digest, OLD.idempotency_key);
  is_upgraded := (NEW.upgraded_parameters, NEW.upgraded_digest, NEW.upgraded_version)
    IS DISTINCT FROM (OLD.upgraded_parameters, OLD.upgraded_digest, OLD.upgraded_version);
  IF OLD.attempt > 0 AND (NEW.idempotency_key, NEW.input_parameters, NEW.params_digest, NEW.claim_digest)
     IS DISTINCT FROM (OLD.idempotency_key, OLD.input_parameters, OLD.params_digest, OLD.claim_digest) THEN
    ${raise({ code: 'TL033', name: 'execution_params' }, 'key and params of execution % never change once it was started', 'OLD.execution_id')}
  END IF;
  IF is_amended AND (NEW.attempt > 0 OR NEW.input_parameters = OLD.input_parameters OR NEW.params_digest = OLD.params_digest
       OR NEW.idempotency_key = OLD.idempotency_key OR NOT ${IS_ASKED})
     OR is_upgraded AND (NEW.upgraded_digest IS NULL OR NEW.upgraded_version IS NULL OR NEW.upgraded_version <= OLD.tool_version
       OR NEW.upgraded_version < OLD.upgraded_version OR NEW.attempt = OLD.attempt AND NOT (${IS_ASKED} OR ${IS_ASKED_AGAIN})
       OR NEW.upgraded_version = OLD.upgraded_version AND (NEW.attempt > 0 OR NEW.upgraded_digest = OLD.upgraded_digest
         OR NEW.upgraded_parameters IS NOT DISTINCT FROM OLD.upgraded_parameters))
     OR NOT is_amended AND NOT (is_upgraded AND NEW.attempt = 0) AND NOT (OLD.attempt = 0 AND NEW.attempt = 1 AND NEW.upgraded_version IS NOT NULL)
       AND (NEW.claim_digest, NEW.claim_generation, NEW.cost_micro_money)
       IS DISTINCT FROM (OLD.claim_digest, OLD.claim_generation, OLD.cost_micro_money) THEN
    ${raise({ code: 'TL033', name: 'execution_params' }, 'params, digest and key of execution % only change together, before it starts, for the person who is asked about it, and upgraded ones with their version', 'OLD.execution_id')}
  END IF;
  IF OLD.attempt = 0 AND NEW.attempt > 0 THEN
    SELECT a.decision IS DISTINCT FROM 'granted'
        OR (a.args_digest <> NEW.params_digest AND a.args_digest IS DISTINCT FROM NEW.upgraded_digest) INTO unapproved
      FROM agent_approvals a WHERE a.execution_id = NEW.execution_id AND a.session_id = NEW.session_id
      ORDER BY a.round DESC LIMIT 1;
    IF unapproved THEN
      ${raise({ code: 'TL036', name: 'execution_unapproved' }, 'execution % was asked for and not granted with these params', 'OLD.execution_id')}
    END IF;
  END IF;
  IF NEW.attempt <> OLD.attempt AND (NEW.attempt <> OLD.attempt + 1 OR NEW.status <> 'RUNNING')
     OR NEW.attempt = OLD.attempt AND NEW.status = 'RUNNING' AND OLD.status <> 'RUNNING'
     OR NEW.status = 'RUNNING' AND NEW.fencing_token IS NULL THEN
    ${raise({ code: 'TL034', name: 'execution_attempt' }, 'a start of execution % counts one attempt and names its token (found attempt % after %, status %)', 'OLD.execution_id', 'NEW.attempt', 'OLD.attempt', 'NEW.status')}
  END IF;
  RETURN NEW;`;

/**
 * What is asked is asked openly: nobody has decided yet, and nothing else is asked about the call at the same time. Only rows of its tenant are
 * looked at: the answer must not tell of another's.
 */
const approvalInsertBody = `
  IF NEW.decision IS NOT NULL OR NEW.decided_by IS NOT NULL OR NEW.decided_roles IS NOT NULL OR NEW.reason IS NOT NULL OR NEW.consumed_at IS NOT NULL
     OR NEW.announced_at IS NOT NULL
     OR EXISTS (SELECT FROM agent_approvals a WHERE a.execution_id = NEW.execution_id AND a.tenant_id = NEW.tenant_id AND a.decision IS NULL)
     OR NEW.round <> (SELECT COALESCE(max(a.round), 0) + 1 FROM agent_approvals a
       WHERE a.execution_id = NEW.execution_id AND a.tenant_id = NEW.tenant_id) THEN
    ${raise({ code: 'TL041', name: 'approval_insert' }, 'round % of the approval of execution % begins undecided, after the one before it was decided', 'NEW.round', 'NEW.execution_id')}
  END IF;
  RETURN NEW;`;

/** What was asked never changes. Decided once, used once. Only a grant that nobody used may still be withdrawn. What people said goes with the erasure of the session. */
const approvalBody = `
  IF NEW.question IS NULL AND NEW.reason IS NULL AND NEW.decided_by IS NULL AND NEW.decided_roles IS NULL AND NEW.approvers IS NULL THEN
    kept := NEW;
    kept.question := OLD.question;
    kept.reason := OLD.reason;
    kept.decided_by := OLD.decided_by;
    kept.decided_roles := OLD.decided_roles;
    kept.approvers := OLD.approvers;
    IF kept IS NOT DISTINCT FROM OLD AND ${OF_ERASED} THEN RETURN NEW; END IF;
  END IF;
  IF (NEW.approval_id, NEW.tenant_id, NEW.session_id, NEW.execution_id, NEW.round, NEW.kind, NEW.requested_at,
       NEW.question, NEW.approvers, NEW.expires_at, NEW.on_expiry, NEW.controls)
       IS DISTINCT FROM
       (OLD.approval_id, OLD.tenant_id, OLD.session_id, OLD.execution_id, OLD.round, OLD.kind, OLD.requested_at,
       OLD.question, OLD.approvers, OLD.expires_at, OLD.on_expiry, OLD.controls)
     OR (NEW.args_digest <> OLD.args_digest AND (OLD.decision IS NOT NULL OR NEW.decision IS DISTINCT FROM 'granted'))
     OR (NEW.decision IS NULL AND (NEW.decided_by IS NOT NULL OR NEW.decided_roles IS NOT NULL OR NEW.reason IS NOT NULL))
     OR OLD.consumed_at IS NOT NULL
     OR (OLD.decision IS NOT NULL AND (NEW.decided_by, NEW.decided_roles, NEW.decided_at, NEW.reason)
         IS DISTINCT FROM (OLD.decided_by, OLD.decided_roles, OLD.decided_at, OLD.reason))
     OR (OLD.decision IS NOT NULL AND NEW.decision IS DISTINCT FROM OLD.decision
         AND NOT (OLD.decision = 'granted' AND COALESCE(NEW.decision, '') IN ('expired', 'superseded', 'cancelled')))
     OR (OLD.decision IS NOT NULL AND OLD.decision <> 'granted' AND NEW IS DISTINCT FROM OLD) THEN
    ${raise({ code: 'TL040', name: 'approval_sealed' }, 'what round % of the approval of execution % asks never changes, and it is decided once', 'OLD.round', 'OLD.execution_id')}
  END IF;
  RETURN NEW;`;

/** A cancel that comes too late is dropped by whoever finds it: it must not end the commit of the parent that writes it. */
const inboxBody = `
  IF NEW.kind = 'message' AND EXISTS (SELECT FROM agent_sessions WHERE session_id = NEW.session_id AND tenant_id = NEW.tenant_id
       AND current_state = 'COMPLETED') THEN
    ${raise({ code: 'TL050', name: 'inbox_completed' }, 'session % is COMPLETED and takes no message', 'NEW.session_id')}
  END IF;
  RETURN NEW;`;

/** A hint only, sent when the writer commits; who misses it polls. */
const notifyBody = `
  PERFORM pg_notify(TG_TABLE_SCHEMA, NEW.session_id::text);
  RETURN NULL;`;

/** What guards turns, executions, approvals and the inbox. */
export function workGuardsSql(schema: string): string[] {
  const row = (name: string, when: string, table: string) =>
    `CREATE TRIGGER ${name} ${when} ON ${schema}.${table} FOR EACH ROW EXECUTE FUNCTION ${schema}.${name}()`;
  return [
    triggerFunction(schema, 'check_turn_gap', gapBody),
    `CREATE CONSTRAINT TRIGGER check_turn_gap AFTER INSERT ON ${schema}.agent_turns DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION ${schema}.check_turn_gap()`,
    triggerFunction(schema, 'guard_turn_update', turnBody, `  kept ${schema}.agent_turns;`),
    row('guard_turn_update', 'BEFORE UPDATE', 'agent_turns'),
    triggerFunction(schema, 'guard_history_delete', deleteBody),
    ...['agent_turns', 'agent_tool_executions', 'agent_approvals'].map((table) =>
      row('guard_history_delete', 'BEFORE DELETE', table),
    ),
    triggerFunction(schema, 'guard_execution_insert', executionInsertBody),
    row('guard_execution_insert', 'BEFORE INSERT', 'agent_tool_executions'),
    triggerFunction(
      schema,
      'guard_execution_update',
      executionUpdateBody,
      `  kept ${schema}.agent_tool_executions;
  unapproved boolean;
  is_amended boolean;
  is_upgraded boolean;`,
    ),
    row('guard_execution_update', 'BEFORE UPDATE', 'agent_tool_executions'),
    triggerFunction(schema, 'guard_approval_insert', approvalInsertBody),
    row('guard_approval_insert', 'BEFORE INSERT', 'agent_approvals'),
    triggerFunction(schema, 'guard_approval_update', approvalBody, `  kept ${schema}.agent_approvals;`),
    row('guard_approval_update', 'BEFORE UPDATE', 'agent_approvals'),
    triggerFunction(schema, 'guard_inbox_insert', inboxBody),
    row('guard_inbox_insert', 'BEFORE INSERT', 'agent_inbox'),
    triggerFunction(schema, 'notify_inbox', notifyBody),
    row('notify_inbox', 'AFTER INSERT', 'agent_inbox'),
  ];
}
