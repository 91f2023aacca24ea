import { EXECUTION_PAIRS_SQL, SESSION_PAIRS_SQL } from './legal-pairs.sql.ts';
import { raise, triggerFunction } from './raise.sql.ts';

/** The legal graph as functions. Not SECURITY DEFINER: they read no table, and so are inlined. */
function legalGraphSql(schema: string): string[] {
  return [
    `CREATE FUNCTION ${schema}.is_legal_transition(from_state text, to_state text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT ${SESSION_PAIRS_SQL}
$$`,
    `CREATE FUNCTION ${schema}.is_legal_status_change(from_status text, to_status text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT ${EXECUTION_PAIRS_SQL}
$$`,
  ];
}

const insertBody = `
  IF NEW.current_state <> 'IDLE' OR NEW.version <> 0 OR NEW.lease_token <> 0 OR NEW.lease_holder IS NOT NULL
     OR NEW.lease_expires_at IS NOT NULL OR NEW.recoveries <> 0 THEN
    ${raise({ code: 'TL001', name: 'session_insert' }, 'a session begins IDLE with version 0, token 0 and no lease (found %, version %, token %)', 'NEW.current_state', 'NEW.version', 'NEW.lease_token')}
  END IF;
  NEW.first_agent_version := NEW.agent_version;
  NEW.first_machine_version := NEW.machine_version;
  NEW.genesis_hash := encode(sha256(convert_to(jsonb_build_array(1, NEW.session_id, NEW.tenant_id, NEW.agent_name,
    NEW.agent_version, NEW.machine_id, NEW.machine_version, NEW.snapshot)::text, 'UTF8')), 'hex');
  RETURN NEW;`;

/*
 * One comparison guards every column, those of later migrations too: the excepted ones are set back to what they were, and nothing
 * else may differ unless the version moves. A link may be set to NULL once what it points to is gone (ON DELETE SET NULL). A session that
 * is over may be erased, which moves nothing.
 */
const updateBody = `
  kept := NEW;
  kept.lease_holder := OLD.lease_holder;
  kept.lease_expires_at := OLD.lease_expires_at;
  kept.wake_at := OLD.wake_at;
  IF NEW.parent_session_id IS NULL AND OLD.parent_session_id IS NOT NULL
     AND NOT EXISTS (SELECT FROM agent_sessions WHERE session_id = OLD.parent_session_id) THEN
    kept.parent_session_id := OLD.parent_session_id;
  END IF;
  IF NEW.parent_execution_id IS NULL AND OLD.parent_execution_id IS NOT NULL
     AND NOT EXISTS (SELECT FROM agent_tool_executions WHERE execution_id = OLD.parent_execution_id) THEN
    kept.parent_execution_id := OLD.parent_execution_id;
  END IF;
  IF NEW.fork_origin_session_id IS NULL AND OLD.fork_origin_session_id IS NOT NULL
     AND NOT EXISTS (SELECT FROM agent_sessions WHERE session_id = OLD.fork_origin_session_id) THEN
    kept.fork_origin_session_id := OLD.fork_origin_session_id;
  END IF;
  IF NEW.erased_at IS NOT NULL AND OLD.erased_at IS NULL THEN
    IF OLD.current_state <> 'COMPLETED' OR NEW.user_id <> 'erased ' || OLD.session_id OR NEW.external_id IS NOT NULL
       OR NEW.metadata <> '{}'::jsonb OR NEW.normalised IS NOT NULL
       OR EXISTS (SELECT FROM agent_transition_payloads p JOIN agent_transitions t USING (session_id, sequence)
            WHERE p.session_id = OLD.session_id AND p.erased_at IS NULL AND t.event <> 'content.erased') THEN
      ${raise({ code: 'TL007', name: 'session_erasure' }, 'session % is only erased whole, once it is COMPLETED and its payloads are erased', 'OLD.session_id')}
    END IF;
    kept.user_id := OLD.user_id;
    kept.external_id := OLD.external_id;
    kept.metadata := OLD.metadata;
    kept.normalised := OLD.normalised;
    kept.erased_at := OLD.erased_at;
  END IF;
  IF kept.lease_token < OLD.lease_token THEN
    ${raise({ code: 'TL005', name: 'session_token' }, 'the fencing token of session % never falls (found %, wanted at least %)', 'OLD.session_id', 'NEW.lease_token', 'OLD.lease_token')}
  END IF;
  IF kept.version = OLD.version THEN
    IF kept IS DISTINCT FROM OLD THEN
      ${raise({ code: 'TL003', name: 'session_version' }, 'session % changes only with version % (found %)', 'OLD.session_id', 'OLD.version + 1', 'NEW.version')}
    END IF;
    RETURN NEW;
  END IF;
  IF kept.version <> OLD.version + 1 THEN
    ${raise({ code: 'TL003', name: 'session_version' }, 'session % changes only with version % (found %)', 'OLD.session_id', 'OLD.version + 1', 'NEW.version')}
  END IF;
  IF NOT is_legal_transition(OLD.current_state, NEW.current_state) THEN
    ${raise({ code: 'TL002', name: 'session_transition' }, 'session % may not go from % to %', 'OLD.session_id', 'OLD.current_state', 'NEW.current_state')}
  END IF;
  IF (kept.session_id, kept.tenant_id, kept.user_id, kept.agent_name, kept.machine_id, kept.created_at, kept.genesis_hash,
      kept.first_agent_version, kept.first_machine_version,
      kept.parent_session_id, kept.parent_execution_id, kept.depth, kept.fork_origin_session_id, kept.fork_origin_turn_index)
     IS DISTINCT FROM
     (OLD.session_id, OLD.tenant_id, OLD.user_id, OLD.agent_name, OLD.machine_id, OLD.created_at, OLD.genesis_hash,
      OLD.first_agent_version, OLD.first_machine_version,
      OLD.parent_session_id, OLD.parent_execution_id, OLD.depth, OLD.fork_origin_session_id, OLD.fork_origin_turn_index) THEN
    ${raise({ code: 'TL006', name: 'session_identity' }, 'whose session % is and where it comes from never changes', 'OLD.session_id')}
  END IF;
  RETURN NEW;`;

/** Deferred: the two forms of the commit write session and transition in different order. */
const historyBody = `
  IF NOT EXISTS (SELECT FROM agent_transitions t WHERE t.session_id = NEW.session_id AND t.sequence = NEW.version
       AND t.from_state = OLD.current_state AND t.to_state = NEW.current_state AND t.token = NEW.lease_token
       AND (t.event = 'machine.upgraded' OR NEW.machine_version = OLD.machine_version))
     AND EXISTS (SELECT FROM agent_sessions WHERE session_id = NEW.session_id) THEN
    ${raise({ code: 'TL004', name: 'session_history' }, 'version % of session % has no transition row % to % with token %', 'NEW.version', 'NEW.session_id', 'OLD.current_state', 'NEW.current_state', 'NEW.lease_token')}
  END IF;
  RETURN NULL;`;

/** Deferred, from both sides: of executions that run, and of a session that leaves EXECUTING_TOOL. */
const runningBody = `
  IF EXISTS (SELECT FROM agent_tool_executions e JOIN agent_sessions s USING (session_id)
       WHERE s.session_id = NEW.session_id AND s.current_state <> 'EXECUTING_TOOL'
       AND e.status = 'RUNNING' AND e.unknown_at IS NULL) THEN
    ${raise({ code: 'TL035', name: 'execution_running' }, 'session % has a running execution but is not EXECUTING_TOOL', 'NEW.session_id')}
  END IF;
  RETURN NULL;`;

/** What guards `agent_sessions`, whoever writes. */
export function sessionGuardsSql(schema: string): string[] {
  const sessions = `${schema}.agent_sessions`;
  return [
    ...legalGraphSql(schema),
    triggerFunction(schema, 'guard_session_insert', insertBody),
    `CREATE TRIGGER guard_session_insert BEFORE INSERT ON ${sessions}
  FOR EACH ROW EXECUTE FUNCTION ${schema}.guard_session_insert()`,
    triggerFunction(schema, 'guard_session_update', updateBody, `  kept ${sessions};`),
    `CREATE TRIGGER guard_session_update BEFORE UPDATE ON ${sessions}
  FOR EACH ROW EXECUTE FUNCTION ${schema}.guard_session_update()`,
    triggerFunction(schema, 'check_session_history', historyBody),
    // Heartbeats leave the version alone, and so queue nothing.
    `CREATE CONSTRAINT TRIGGER check_session_history AFTER UPDATE ON ${sessions} DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (OLD.version IS DISTINCT FROM NEW.version) EXECUTE FUNCTION ${schema}.check_session_history()`,
    triggerFunction(schema, 'check_execution_running', runningBody),
    `CREATE CONSTRAINT TRIGGER check_session_running AFTER UPDATE ON ${sessions} DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (OLD.current_state = 'EXECUTING_TOOL' AND NEW.current_state <> 'EXECUTING_TOOL')
  EXECUTE FUNCTION ${schema}.check_execution_running()`,
    `CREATE CONSTRAINT TRIGGER check_execution_running AFTER INSERT OR UPDATE ON ${schema}.agent_tool_executions
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status = 'RUNNING' AND NEW.unknown_at IS NULL)
  EXECUTE FUNCTION ${schema}.check_execution_running()`,
  ];
}
