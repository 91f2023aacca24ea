import type { DoctorCode } from '../../../index.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';

/** A way to break a session of {@link playedAgent}, past every guard, and what doctor must say of it. */
export interface Corruption {
  title: string;
  /** How the session was left: `done` after a run of two calls, `asking` while a person is asked about two, `busy` while a tool is out. */
  scene: 'done' | 'asking' | 'busy';
  /** Statements, with the session's id as `$1`. */
  statements: string[];
  code: DoctorCode;
  place?: RegExp;
  found?: RegExp;
}

/** Statements past every guard, as a broken restore or a person with psql and too many rights would run them. */
export async function corrupt(database: RuntimeDatabase, statements: string[], values: unknown[]): Promise<void> {
  await database.query(`SET session_replication_role = 'replica'`);
  for (const statement of statements) await database.query(statement, values);
  await database.query(`SET session_replication_role = 'origin'`);
}

const of = (table: string) => `turnlock.agent_${table}`;
const EXECUTION = (ordinal: number) => `session_id = $1 AND ordinal = ${ordinal}`;
const SET_SESSION = `UPDATE ${of('sessions')} SET`;

/** One for each thing that is checked. */
export const CORRUPTIONS: Corruption[] = [
  {
    title: 'the last transition is gone',
    scene: 'done',
    statements: [
      `DELETE FROM ${of('transitions')} WHERE session_id = $1 AND sequence = (SELECT version FROM ${of('sessions')} WHERE session_id = $1)`,
    ],
    code: 'AUDIT_INCOMPLETE',
    found: /^3 transitions/,
  },
  {
    title: 'a transition in the middle is gone',
    scene: 'done',
    statements: [`DELETE FROM ${of('transitions')} WHERE session_id = $1 AND sequence = 2`],
    code: 'AUDIT_INCOMPLETE',
    found: /^3 transitions, the last of sequence 4/,
  },
  {
    title: 'the state was changed without a transition',
    scene: 'done',
    statements: [
      `${SET_SESSION} current_state = 'COMPLETED', snapshot = jsonb_set(snapshot, '{value}', '"COMPLETED"') WHERE session_id = $1`,
    ],
    code: 'AUDIT_INCOMPLETE',
    found: /COMPLETED/,
  },
  {
    title: 'the token fell',
    scene: 'done',
    statements: [`${SET_SESSION} lease_token = 0 WHERE session_id = $1`],
    code: 'AUDIT_INCOMPLETE',
    found: /token 0/,
  },
  {
    title: 'a transition has another time than was hashed',
    scene: 'done',
    statements: [
      `UPDATE ${of('transitions')} SET created_at = created_at - interval '1 day' WHERE session_id = $1 AND sequence = 2`,
    ],
    code: 'CHAIN_BROKEN',
    place: /^transition 2, HASH_DIFFERS$/,
  },
  {
    title: 'what a user said was changed',
    scene: 'done',
    statements: [`UPDATE ${of('turns')} SET content = 'something else' WHERE session_id = $1 AND turn_index = 0`],
    code: 'CHAIN_BROKEN',
    place: /^transition 1, TURNS_DIFFER$/,
  },
  {
    title: 'the snapshot counts what no event says',
    scene: 'done',
    statements: [`${SET_SESSION} snapshot = jsonb_set(snapshot, '{context,modelCalls}', '7') WHERE session_id = $1`],
    code: 'FOLD_DIFFERS',
    place: /^SNAPSHOT_DIFFERS$/,
  },
  {
    title: 'a turn in the middle is gone',
    scene: 'done',
    statements: [`DELETE FROM ${of('turns')} WHERE session_id = $1 AND turn_index = 1`],
    code: 'TURN_ORDER',
    place: /turn 2/,
  },
  {
    title: 'the last turn is gone',
    scene: 'done',
    statements: [`DELETE FROM ${of('turns')} WHERE session_id = $1 AND turn_index = 4`],
    code: 'TURN_ORDER',
    found: /^4 turns, the last of index 3/,
  },
  {
    title: 'a tool turn became a system turn',
    scene: 'done',
    statements: [
      `UPDATE ${of('turns')} SET role = 'system', call_turn_id = NULL, call_ordinal = NULL WHERE session_id = $1 AND turn_index = 2`,
    ],
    code: 'HISTORY_INVALID',
    place: /turn 1/,
    found: /^1 tool turns/,
  },
  {
    title: 'a tool turn lost its call',
    scene: 'done',
    statements: [
      `UPDATE ${of('turns')} SET call_turn_id = NULL, call_ordinal = NULL WHERE session_id = $1 AND turn_index = 3`,
    ],
    code: 'HISTORY_INVALID',
    place: /turn 3/,
    found: /without a call/,
  },
  {
    title: 'a tool turn answers a call that its turn has not',
    scene: 'done',
    statements: [`UPDATE ${of('turns')} SET call_ordinal = 7 WHERE session_id = $1 AND turn_index = 3`],
    code: 'HISTORY_INVALID',
    place: /turn 3/,
    found: /away from its call/,
  },
  {
    title: 'a settled execution is open again',
    scene: 'done',
    statements: [`UPDATE ${of('tool_executions')} SET status = 'RUNNING' WHERE ${EXECUTION(0)}`],
    code: 'EXECUTION_ORPHANED',
    place: /^execution /,
  },
  {
    title: 'an open execution is gone',
    scene: 'asking',
    statements: [`DELETE FROM ${of('tool_executions')} WHERE ${EXECUTION(1)}`],
    code: 'EXECUTION_MISMATCH',
    found: /no row/,
  },
  {
    title: 'an open execution counts another attempt than its session',
    scene: 'busy',
    statements: [`UPDATE ${of('tool_executions')} SET attempt = 3 WHERE ${EXECUTION(0)}`],
    code: 'EXECUTION_MISMATCH',
    found: /RUNNING at attempt 3/,
  },
  {
    title: 'a session at rest is held',
    scene: 'done',
    statements: [
      `${SET_SESSION} lease_holder = 'ghost', lease_expires_at = turnlock.turnlock_now() + interval '10 s' WHERE session_id = $1`,
    ],
    code: 'LEASE_AT_REST',
    place: /ghost/,
  },
  {
    title: 'a lease lasts for days',
    scene: 'busy',
    statements: [`${SET_SESSION} lease_expires_at = lease_expires_at + interval '3 days' WHERE session_id = $1`],
    code: 'LEASE_TOO_LONG',
  },
  {
    title: 'C27 work is owed since an hour',
    scene: 'busy',
    statements: [`${SET_SESSION} lease_expires_at = lease_expires_at - interval '1 hour' WHERE session_id = $1`],
    code: 'STUCK',
    found: /^EXECUTING_TOOL/,
  },
  {
    title: 'C27 a worker holds its session an hour past the deadline of its tool',
    scene: 'busy',
    statements: [
      `UPDATE ${of('tool_executions')} SET deadline_at = deadline_at - interval '1 hour' WHERE session_id = $1 AND status = 'RUNNING'`,
    ],
    code: 'STUCK_AT_WORK',
    found: /past its deadline/,
  },
  {
    title: 'C27 a message waits that nobody takes',
    scene: 'done',
    statements: [
      `INSERT INTO ${of('inbox')} (tenant_id, session_id, content, created_at)
        SELECT tenant_id, session_id, 'hello', turnlock.turnlock_now() - interval '1 hour' FROM ${of('sessions')} WHERE session_id = $1`,
    ],
    code: 'STUCK',
    found: /^IDLE/,
  },
  {
    title: 'a call waits and nobody is asked',
    scene: 'asking',
    statements: [
      `DELETE FROM ${of('approvals')} WHERE session_id = $1 AND execution_id =
        (SELECT execution_id FROM ${of('tool_executions')} WHERE ${EXECUTION(0)})`,
    ],
    code: 'ROUND_MISSING',
  },
  {
    title: 'a person is asked about a call that is over',
    scene: 'done',
    statements: [
      `INSERT INTO ${of('approvals')} (tenant_id, session_id, execution_id, args_digest, requested_at)
        SELECT tenant_id, session_id, execution_id, 'd', turnlock.turnlock_now() FROM ${of('tool_executions')} WHERE ${EXECUTION(0)}`,
    ],
    code: 'ROUND_ORPHANED',
  },
  {
    title: 'people were not told of a question',
    scene: 'asking',
    statements: [
      `UPDATE ${of('approvals')} SET announced_at = NULL, requested_at = requested_at - interval '1 hour' WHERE session_id = $1`,
    ],
    code: 'UNANNOUNCED',
  },
  {
    title: 'a late result came past its trigger',
    scene: 'done',
    statements: [
      `INSERT INTO ${of('tool_evidence')} (tenant_id, session_id, execution_id, attempt, token, outcome, created_at)
        SELECT tenant_id, session_id, execution_id, 1, 1, 'succeeded', turnlock.turnlock_now() - interval '1 hour'
          FROM ${of('tool_executions')} WHERE ${EXECUTION(0)}`,
      `UPDATE ${of('tool_executions')} SET status = 'TIMED_OUT' WHERE ${EXECUTION(0)}`,
    ],
    code: 'EVIDENCE_FORGOTTEN',
  },
  {
    title: 'a child session is gone',
    scene: 'busy',
    statements: [
      `UPDATE ${of('tool_executions')} SET effect = 'reconcilable', deadline_at = NULL WHERE session_id = $1 AND status = 'RUNNING'`,
    ],
    code: 'CHILD_MISSING',
  },
  {
    title: 'a key is held by an execution that failed',
    scene: 'done',
    statements: [
      `UPDATE ${of('tool_executions')} SET status = 'FAILED' WHERE ${EXECUTION(0)}`,
      `UPDATE ${of('idempotency_claims')} SET state = 'held' WHERE execution_id =
        (SELECT execution_id FROM ${of('tool_executions')} WHERE ${EXECUTION(0)})`,
    ],
    code: 'CLAIM_STUCK',
    found: /FAILED/,
  },
  {
    title: 'a key has succeeded by an execution of another key',
    scene: 'done',
    statements: [`UPDATE ${of('tool_executions')} SET claim_digest = 'other' WHERE ${EXECUTION(0)}`],
    code: 'CLAIM_MISMATCH',
  },
  {
    title: 'the snapshot is garbage',
    scene: 'done',
    statements: [`${SET_SESSION} snapshot = '{"value": 7}' WHERE session_id = $1`],
    code: 'QUARANTINED',
  },
  {
    title: 'a newer build has gone on with it',
    scene: 'done',
    statements: [`${SET_SESSION} agent_version = 99 WHERE session_id = $1`],
    code: 'STRANDED',
    found: /agent/,
  },
];
