import { randomUUID } from 'node:crypto';
import {
  type Columns,
  insertCall,
  insertExecution,
  insertSession,
  insertTransition,
  insertTurn,
  move,
  type Sql,
} from '../../migrations/scene.ts';
import type { Scene, SchemaGuard } from '../guard.ts';
import { type Attempt, type Case, check, ELSEWHERE, ofAnother, row, twice } from './attempts.ts';
import { MEMORY_CHECKS, MEMORY_FOREIGN_KEYS, MEMORY_UNIQUES } from './memory-constraints.ts';
import { type Call, insert } from './rows.ts';

const execution =
  (over: Columns): Attempt =>
  (sql, { sessionId, turnId }) =>
    insertExecution(sql, { sessionId, turnId }, over);
const turn = (over: Columns | ((call: Call) => Columns), index = 1): Attempt => {
  return (sql, call) => insertTurn(sql, call.sessionId, index, typeof over === 'function' ? over(call) : over);
};
const session = (over: Columns | ((call: Call) => Columns)): Attempt => {
  return (sql, call) => insertSession(sql, typeof over === 'function' ? over(call) : over);
};
const moved =
  (set: string): Attempt =>
  (sql, { sessionId }) =>
    move(sql, sessionId, 'PLANNING', set);

/** A second transition, beside what `move` wrote, in a commit that is legal otherwise. */
const transition =
  (over: Columns): Attempt =>
  async (sql, { sessionId }) => {
    await sql.query('UPDATE turnlock.agent_sessions SET version = 2 WHERE session_id = $1', [sessionId]);
    const legal = { sequence: 2, from_state: 'PLANNING', to_state: 'PLANNING' };
    await insertTransition(sql, sessionId, { ...legal, ...over });
  };

/** Stands in front of what a round may be. */
const DECIDED = 'DROP TRIGGER guard_approval_insert ON turnlock.agent_approvals';

/** SQLSTATE 23514. */
const CHECKS: Case[] = [
  check(
    'check_session_state on agent_sessions',
    'a session in a state that is none',
    session({ current_state: 'DREAMING' }),
    'DROP TRIGGER guard_session_insert ON turnlock.agent_sessions',
  ),
  check('check_session_lease on agent_sessions', 'a lease without an end', moved(`lease_holder = 'a'`)),
  check('check_session_counters on agent_sessions', 'a count below zero', moved('recoveries = -1')),
  check('check_turn_index on agent_turns', 'a turn before the first', turn({}, -1)),
  check('check_turn_call on agent_turns', 'an answer to no call', turn({ role: 'tool', call_ordinal: 0 })),
  check('agent_turns_role_check on agent_turns', 'a turn of nobody', turn({ role: 'narrator' })),
  check(
    'check_tool_status on agent_tool_executions',
    'an execution in a status that is none',
    execution({ status: 'MAYBE' }),
    'DROP TRIGGER guard_execution_insert ON turnlock.agent_tool_executions',
  ),
  check('check_tool_effect on agent_tool_executions', 'an effect class that is none', execution({ effect: 'mostly' })),
  check('check_tool_cost on agent_tool_executions', 'a cost below zero', execution({ cost_micro_money: -1 })),
  check('check_tool_counters on agent_tool_executions', 'an ordinal below zero', execution({ ordinal: -1 })),
  check(
    'check_tool_unknown on agent_tool_executions',
    'an unknown outcome without a reason',
    execution({ unknown_at: new Date(0) }),
  ),
  check(
    'check_tool_unknown_reason on agent_tool_executions',
    'a reason that is none',
    execution({ unknown_at: new Date(0), unknown_reason: 'mood' }),
  ),
  check('check_transition_cause on agent_transitions', 'a transition caused by nobody', transition({ cause: 'ghost' })),
  check(
    'check_transition_sequence on agent_transitions',
    'a transition before the first',
    transition({ sequence: 0 }),
    'DROP TRIGGER chain_transition ON turnlock.agent_transitions',
    'DROP TRIGGER check_session_history ON turnlock.agent_sessions',
  ),
  check(
    'check_payload_erased on agent_transition_payloads',
    'an erased payload that is still there',
    row('agent_transition_payloads', { erased_at: new Date(0), salt: 's', payload: '{}' }),
  ),
  check(
    'check_evidence_outcome on agent_tool_evidence',
    'evidence of an outcome that is none',
    row('agent_tool_evidence', { outcome: 'maybe' }),
  ),
  check('check_inbox_kind on agent_inbox', 'a row of the inbox of no kind', row('agent_inbox', { kind: 'wish' })),
  check(
    'check_inbox_when_busy on agent_inbox',
    'a message that wants what nobody knows',
    row('agent_inbox', { when_busy: 'sometimes' }),
  ),
  check(
    'check_inbox_rejected on agent_inbox',
    'a message refused without a reason',
    row('agent_inbox', { rejected_at: new Date(0) }),
  ),
  check('check_approval_kind on agent_approvals', 'a question of no kind', row('agent_approvals', { kind: 'mood' })),
  check(
    'check_approval_on_expiry on agent_approvals',
    'an expiry after which nobody knows what to do',
    row('agent_approvals', { on_expiry: 'shrug' }),
  ),
  check(
    'check_approval_round on agent_approvals',
    'a round before the first',
    row('agent_approvals', { round: 0 }),
    DECIDED,
  ),
  check(
    'check_approval_decision on agent_approvals',
    'a decision that is none',
    row('agent_approvals', { decision: 'maybe', decided_at: new Date(0) }),
    DECIDED,
  ),
  check(
    'check_approval_decided on agent_approvals',
    'a decision of no moment',
    row('agent_approvals', { decision: 'denied' }),
    DECIDED,
  ),
  check(
    'check_approval_consumed on agent_approvals',
    'a denied approval that is used',
    row('agent_approvals', { decision: 'denied', decided_at: new Date(0), consumed_at: new Date(0) }),
    DECIDED,
  ),
  check('check_control_kind on agent_controls', 'a control that is none', row('agent_controls', { kind: 'wish' })),
  check(
    'check_control_unit on agent_controls',
    'a budget in a unit that is none',
    row('agent_controls', { kind: 'budget', unit: 'hopes', daily_limit: 1 }),
  ),
  check(
    'check_control_budget on agent_controls',
    'a budget without a limit',
    row('agent_controls', { kind: 'budget' }),
  ),
  check(
    'check_claim_state on agent_idempotency_claims',
    'a claim in a state that is none',
    row('agent_idempotency_claims', { state: 'lost' }),
  ),
  check(
    'check_claim_generation on agent_idempotency_claims',
    'a claim before its first generation',
    row('agent_idempotency_claims', { generation: 0 }),
  ),
  check('check_clock_single on turnlock_clock', 'two clocks', (sql) => insert(sql, 'turnlock_clock', { clock_id: 2 })),
];

/** SQLSTATE 23505. */
const UNIQUES: Case[] = [
  check(
    'uq_session_external_id on agent_sessions',
    'two sessions of one external id',
    twice(session({ external_id: 'e' })),
  ),
  check('uq_session_turn_index on agent_turns', 'two turns in one place', twice(turn({}))),
  check('uq_turn_call on agent_turns', 'two answers to one call', async (sql, call) => {
    const answer = ({ turnId }: Call) => ({ role: 'tool', call_turn_id: turnId, call_ordinal: 0 });
    await turn(answer, 1)(sql, call);
    await turn(answer, 2)(sql, call);
  }),
  check(
    'idx_tool_idempotency on agent_tool_executions',
    'two executions of one key',
    twice(execution({ idempotency_key: 'k' })),
  ),
  check('uq_transition_event on agent_transitions', 'one event taken twice', async (sql, call) => {
    const { rows } = await sql.query('SELECT event_id FROM turnlock.agent_transitions WHERE session_id = $1', [
      call.sessionId,
    ]);
    await transition({ event_id: rows[0].event_id })(sql, call);
  }),
  check('agent_transitions_pkey on agent_transitions', 'two transitions of one sequence', (sql, { sessionId }) =>
    insertTransition(sql, sessionId, { sequence: 1, from_state: 'IDLE', to_state: 'PLANNING' }),
  ),
  check(
    'agent_transition_payloads_pkey on agent_transition_payloads',
    'two payloads of one transition',
    twice(row('agent_transition_payloads')),
  ),
  check(
    'agent_idempotency_claims_pkey on agent_idempotency_claims',
    'a business key claimed twice',
    twice(row('agent_idempotency_claims')),
  ),
  check(
    'agent_tool_versions_pkey on agent_tool_versions',
    'two schemas under one version of a tool',
    twice((sql) =>
      insert(sql, 'agent_tool_versions', {
        agent_name: 'a',
        tool_name: 't',
        tool_version: 1,
        schema_digest: randomUUID(),
      }),
    ),
  ),
  check(
    'uq_inbox_message on agent_inbox',
    'a message that waits twice',
    twice(row('agent_inbox', { message_id: 'm' })),
  ),
  check('uq_approval_round on agent_approvals', 'two approvals in one round', twice(row('agent_approvals')), DECIDED),
];

/** SQLSTATE 23503: a row that belongs to another tenant, or to another session, than what it points at. */
const FOREIGN_KEYS: Case[] = [
  check(
    'fk_session_parent on agent_sessions',
    'a child of another tenant’s session',
    session(({ sessionId }) => ({ ...ELSEWHERE, parent_session_id: sessionId })),
  ),
  check(
    'fk_session_parent_execution on agent_sessions',
    'a child of another tenant’s call',
    session(({ executionId }) => ({ ...ELSEWHERE, parent_execution_id: executionId })),
  ),
  check(
    'fk_session_fork_origin on agent_sessions',
    'a fork of another tenant’s session',
    session(({ sessionId }) => ({ ...ELSEWHERE, fork_origin_session_id: sessionId, fork_origin_turn_index: 0 })),
  ),
  check('fk_turn_session on agent_turns', 'a turn in another tenant’s session', turn(ELSEWHERE)),
  check(
    'fk_turn_call on agent_turns',
    'an answer to another session’s call',
    ofAnother(({ turnId }) => turn({ role: 'tool', call_turn_id: turnId, call_ordinal: 0 })),
  ),
  check(
    'fk_turn_execution on agent_turns',
    'an answer from another session’s execution',
    ofAnother(({ executionId }) => turn({ role: 'tool', execution_id: executionId })),
  ),
  check('fk_tool_session on agent_tool_executions', 'an execution of another tenant', execution(ELSEWHERE)),
  check(
    'fk_tool_turn on agent_tool_executions',
    'an execution of another session’s turn',
    ofAnother(({ turnId }) => execution({ turn_id: turnId })),
  ),
  check(
    'fk_tool_answered_by on agent_tool_executions',
    'an answer from another tenant’s execution',
    async (sql, { executionId }) => {
      const sessionId = await insertSession(sql, ELSEWHERE);
      const turnId = await insertTurn(sql, sessionId, 0, ELSEWHERE);
      await insertExecution(sql, { sessionId, turnId }, { ...ELSEWHERE, answered_by: executionId });
    },
  ),
  check(
    'fk_transition_session on agent_transitions',
    'a transition of another tenant',
    transition(ELSEWHERE),
    'DROP TRIGGER chain_transition ON turnlock.agent_transitions',
  ),
  check(
    'fk_payload_session on agent_transition_payloads',
    'a payload of another tenant',
    row('agent_transition_payloads', ELSEWHERE),
  ),
  check(
    'fk_payload_transition on agent_transition_payloads',
    'a payload of no transition',
    row('agent_transition_payloads', { sequence: 7 }),
  ),
  check(
    'fk_evidence_session on agent_tool_evidence',
    'evidence of another tenant',
    row('agent_tool_evidence', ELSEWHERE),
  ),
  check(
    'fk_evidence_execution on agent_tool_evidence',
    'evidence of another session’s execution',
    ofAnother(({ executionId }) => row('agent_tool_evidence', { execution_id: executionId })),
  ),
  check('fk_inbox_session on agent_inbox', 'a message of another tenant', row('agent_inbox', ELSEWHERE)),
  check('fk_approval_session on agent_approvals', 'an approval of another tenant', row('agent_approvals', ELSEWHERE)),
  check(
    'fk_approval_execution on agent_approvals',
    'an approval of another session’s execution',
    ofAnother(({ executionId }) => row('agent_approvals', { execution_id: executionId })),
  ),
  check(
    'fk_model_call_session on agent_model_calls',
    'a model call of another tenant',
    row('agent_model_calls', ELSEWHERE),
  ),
  check(
    'fk_claim_execution on agent_idempotency_claims',
    'a claim of another tenant’s execution',
    row('agent_idempotency_claims', ({ executionId }) => ({ ...ELSEWHERE, execution_id: executionId })),
  ),
];

function toGuard({ constraint, prevents, attempt, inFront = [] }: Case, refusal: string): SchemaGuard {
  const [name, table] = constraint.split(' on ');
  const arrange = async (sql: Sql) => {
    const call = await insertCall(sql);
    await move(sql, call.sessionId, 'PLANNING');
    return call;
  };
  const scene: Scene = { title: prevents, refusal, arrange, attempt };
  return {
    name: constraint,
    prevents,
    covers: [`constraint ${constraint}`],
    // A primary key is what foreign keys point at.
    takeOut: `ALTER TABLE turnlock.${table} DROP CONSTRAINT ${name} CASCADE`,
    inFront,
    scenes: [scene],
  };
}

/** Every CHECK, unique constraint and foreign key that keeps a promise, alone. */
export const constraintGuards: readonly SchemaGuard[] = [
  ...[...CHECKS, ...MEMORY_CHECKS].map((each) => toGuard(each, '23514')),
  ...[...UNIQUES, ...MEMORY_UNIQUES].map((each) => toGuard(each, '23505')),
  ...[...FOREIGN_KEYS, ...MEMORY_FOREIGN_KEYS].map((each) => toGuard(each, '23503')),
];
