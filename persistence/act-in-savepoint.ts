import type { EntityManager } from '@mikro-orm/postgresql';
import { TurnlockError } from '../errors.ts';
import type { SessionEvent } from '../machines/session-event.ts';
import type { Act, ActEnd } from './commit-request.ts';
import type { ToolTransaction } from './database.contract.ts';
import { readDatabaseError } from './database-error-facts.ts';
import type { NewMemory } from './memory/new-memory.ts';
import { applySettings, restorePathSql, type Store } from './session-transaction.ts';
import { normaliseError } from './values/normalise-error.ts';

/** What PostgreSQL checks at the end of a transaction of ours; a test compares it with the catalogs. */
export const DEFERRED_CONSTRAINTS: readonly string[] = [
  'check_execution_running',
  'check_session_history',
  'check_session_running',
  'check_transition_ahead',
  'check_turn_gap',
  'fk_approval_execution',
  'fk_claim_execution',
  'fk_payload_transition',
  'fk_session_parent_execution',
  'fk_tool_answered_by',
  'fk_turn_call',
  'fk_turn_execution',
];

/** serialization_failure, deadlock_detected: the whole commit is done again. */
const AGAIN = /^(?:40001|40P01)$/;

/** no_active_sql_transaction, invalid savepoint: the transaction is not ours any more. */
const ENDED = /^(?:25P01|3B001)$/;

/** A tool may take on another role by SET LOCAL ROLE; what is written after it is written by the one that was there. */
const KEEP_ROLE = `select pg_catalog.set_config('turnlock.role_of_tool', pg_catalog.current_setting('role'), true)`;
const BACK_TO_ROLE = `select pg_catalog.set_config('role', pg_catalog.current_setting('turnlock.role_of_tool'), true)`;

/** One attempt that acts inside the commit that settles it. */
export interface Acting {
  tenantId: string;
  executionId: string;
  attempt: number;
  act: Act;
}

/** How an attempt ended, and what its tool remembered: to be stored with it. */
export interface Acted {
  event: SessionEvent;
  memories: readonly NewMemory[];
}

/**
 * Runs a transactional tool inside the commit, in a savepoint before any write of ours. Either everything that it wrote is part of the
 * commit, or nothing is and the attempt has failed: the returned event says which.
 *
 * @throws what rolls the whole commit back: a lost connection, a serialization failure or a deadlock, which are tried again;
 * TRANSACTION_CONTROL when the transaction is not the one that it was.
 */
export async function actInSavepoint(store: Store, em: EntityManager, acting: Acting): Promise<Acted> {
  const { act, tenantId } = acting;
  const tool = await store.database.toolTransaction(em);
  const idleMs = act.timeoutMs + store.limits.statementTimeoutMs;
  const settings = [
    ...(store.database.runtimeRole === null ? [] : ['set local role none']),
    ...(store.database.kind === 'postgres' ? [`set local idle_in_transaction_session_timeout = ${idleMs}`] : []),
  ];
  const savepoint = newSavepoint(store);
  await em.execute([`savepoint ${savepoint}`, KEEP_ROLE, ...settings, restorePathSql()].join('; '));
  let end = await act.run(tool);
  await tool.close();
  refuseUnusable(tool);
  if (end.outcome === 'succeeded') {
    const refused = await keep(store, em, savepoint).catch((error: unknown) => ({ error }));
    if (refused !== null) end = whyRolledBack(store, refused.error, tool);
  }
  if (end.outcome === 'failed') await em.execute(`rollback to savepoint ${savepoint}; release savepoint ${savepoint}`);
  await applySettings(store, { tenantId }, em);
  return { event: toEvent(acting, end), memories: end.outcome === 'succeeded' ? (end.memories ?? []) : [] };
}

/** No tool can guess it, so none can end it or set one of the same name over it. */
function newSavepoint({ environment }: Store): string {
  return `turnlock_${environment.uuid().replaceAll('-', '')}`;
}

/**
 * Deferred constraints of the application are checked now, while its writes can still be undone; ours wait for what we write, which the
 * role that began the transaction does. The savepoint goes last: until then everything can be undone.
 */
async function keep({ database }: Store, em: EntityManager, savepoint: string): Promise<null> {
  const ours = DEFERRED_CONSTRAINTS.map((name) => `${database.schema}.${name}`).join(', ');
  await em.execute(
    `set constraints all immediate; ${BACK_TO_ROLE}; set constraints ${ours} deferred; release savepoint ${savepoint}`,
  );
  return null;
}

function refuseUnusable(tool: ToolTransaction): void {
  const { firstError: error } = tool;
  if (tool.isBroken || AGAIN.test(stateOf(error))) throw error;
}

function whyRolledBack({ limits }: Store, error: unknown, tool: ToolTransaction): ActEnd {
  const state = stateOf(error);
  if (state === '' || AGAIN.test(state)) throw error;
  if (ENDED.test(state)) {
    throw new TurnlockError('TRANSACTION_CONTROL', {
      message: `transaction was ended by its tool (found SQLSTATE ${state}, wanted the savepoint of the runtime)`,
    });
  }
  // Of a tool that went on after a statement had failed, that statement's error says more than the state it left behind.
  const { message, notes } = normaliseError(tool.firstError ?? error, limits);
  return {
    outcome: 'failed',
    retryInMs: null,
    content: { error: { code: 'TOOL_FAILED', message }, normalised: notes },
  };
}

function stateOf(error: unknown): string {
  return error === undefined ? '' : (readDatabaseError(error)?.sqlState ?? '');
}

function toEvent({ executionId, attempt }: Acting, { outcome, content, retryInMs }: ActEnd): SessionEvent {
  if (outcome === 'failed' && retryInMs !== null) {
    return { type: 'tool.attemptFailed', results: [{ executionId, attempt, retryInMs, content }] };
  }
  return { type: 'tool.settled', results: [{ executionId, attempt, outcome, content }] };
}
