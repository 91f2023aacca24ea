import type { SchemaGuard } from './guard.ts';
import { constraintGuards } from './schema/constraint-guards.ts';
import { rightGuards } from './schema/right-guards.ts';
import { triggerGuards } from './schema/trigger-guards.ts';

/** What the live schema guards. */
export const schemaGuards: readonly SchemaGuard[] = [...triggerGuards, ...constraintGuards, ...rightGuards];

/**
 * Triggers and constraints that keep no promise by themselves, with the reason. Whatever else stands in the catalogs must be in the table
 * above.
 */
export const NO_GUARDS: Readonly<Record<string, string>> = {
  'trigger notify_inbox on agent_inbox': 'a hint: polling is the truth',
  'constraint agent_approvals_pkey on agent_approvals': 'a random id',
  'constraint agent_controls_pkey on agent_controls': 'a random id',
  'constraint agent_inbox_pkey on agent_inbox': 'a random id',
  'constraint agent_memories_pkey on agent_memories': 'a random id, or what a repeat is told by',
  'constraint agent_memory_tasks_pkey on agent_memory_tasks': 'a random id',
  'constraint agent_model_calls_pkey on agent_model_calls': 'a random id',
  'constraint agent_operator_reads_pkey on agent_operator_reads': 'a number that the database gives',
  'constraint agent_sessions_pkey on agent_sessions': 'a random id, and what foreign keys point at',
  'constraint agent_tool_evidence_pkey on agent_tool_evidence':
    'a random id; what is inserted again is looked for first',
  'constraint agent_tool_executions_pkey on agent_tool_executions': 'a random id, and what foreign keys point at',
  'constraint agent_turns_pkey on agent_turns': 'a random id, and what foreign keys point at',
  'constraint turnlock_clock_pkey on turnlock_clock': 'check_clock_single lets no other key in',
  'constraint uq_session_tenant on agent_sessions': 'what foreign keys point at: wider than the primary key',
  'constraint uq_turn_session on agent_turns': 'what foreign keys point at: wider than the primary key',
  'constraint uq_tool_session on agent_tool_executions': 'what foreign keys point at: wider than the primary key',
  'constraint uq_tool_tenant on agent_tool_executions': 'what foreign keys point at: wider than the primary key',
  'constraint agent_turns_session_id_fkey on agent_turns': 'fk_turn_session says more',
  'constraint agent_tool_executions_turn_id_fkey on agent_tool_executions': 'fk_tool_turn says more',
};
