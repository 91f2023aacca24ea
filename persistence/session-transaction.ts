import { IsolationLevel } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../environment.ts';
import { TurnlockError } from '../errors.ts';
import type { Limits } from '../limits.ts';
import type { CommitObserver } from './commit-observer.ts';
import type { Database } from './database.contract.ts';
import { explainPrivilege } from './explain-privilege.ts';
import { lockKey } from './keys/lock-key.ts';
import { refuseReentrance } from './reentrance.ts';
import { toTurnlockError } from './sqlstate.ts';

/** What every statement of ours needs. */
export interface Store {
  database: Database;
  environment: Environment;
  limits: Limits;
  /** Told of commits; absent: nobody is. */
  observer?: CommitObserver;
}

/** Which rows a transaction may see, and whether it takes the session's advisory lock. */
export interface TransactionScope {
  tenantId: string;
  /** The session whose lock is taken before anything is read; absent: no lock. */
  lockedSessionId?: string;
  /** Whether a held lock is a refusal (LEASE_HELD) instead of a wait: whoever holds it is alive. Default false. */
  refuseHeldLock?: boolean;
  /** Called once the lock is held. */
  onLocked?: () => void;
}

/**
 * Runs `work` in one transaction of a fresh identity map and commits it.
 *
 * The isolation level is named, whatever server, role or pool default to: under repeatable read a waiter for the lock would read
 * what was true before it waited. The lock stands in a statement that reads nothing, for the same reason (shown by the C62 tests).
 * Settings are local to the transaction, so a transaction-mode pooler is fine. A write's answer waits for the disk.
 *
 * @throws COMMIT_UNKNOWN when the answer to COMMIT was lost; every other failure means that nothing was written.
 */
export async function inTransaction<Result>(
  store: Store,
  scope: TransactionScope,
  work: (em: EntityManager) => Promise<Result>,
): Promise<Result> {
  refuseReentrance();
  const em = store.database.orm.em.fork({ clear: true }) as EntityManager;
  try {
    await em.begin({ isolationLevel: IsolationLevel.READ_COMMITTED });
    try {
      await prepare(store, scope, em);
      const result = await work(em);
      await em.commit();
      return result;
    } catch (error) {
      await em.rollback().catch(() => undefined);
      throw error;
    }
  } catch (error) {
    throw await explainPrivilege(store.database, toTurnlockError(error));
  }
}

/**
 * Where unqualified names of functions, operators and types are looked for. A schema that stands before pg_catalog in the path of the role
 * could else put its own in place of the server's; ours are qualified.
 */
const SEARCH_PATH = 'pg_catalog, pg_temp';

/** The path that the transaction had: what a transactional tool acts under. */
const PATH_BEFORE = 'turnlock.search_path';

/** Qualified: until it has run, names are looked for in whatever path the role has. */
const SET = 'pg_catalog.set_config(?, ?, true)';

/** What a transaction of ours sets for itself: whatever role, database and server default to. */
function settingsOf({ database, limits }: Pick<Store, 'database' | 'limits'>, tenantId: string): [string, string][] {
  const settings: [string, string][] = [
    ['search_path', SEARCH_PATH],
    ['row_security', 'on'],
    ['turnlock.tenant', tenantId],
    ['synchronous_commit', 'on'],
    ['lock_timeout', `${limits.lockTimeoutMs}ms`],
    ['statement_timeout', `${limits.statementTimeoutMs}ms`],
  ];
  // Who goes silent inside a transaction, its process paused or its connection dead, must not keep the session's lock.
  if (database.kind === 'postgres') {
    settings.push(['idle_in_transaction_session_timeout', `${limits.statementTimeoutMs}ms`]);
  }
  if (database.runtimeRole !== null) settings.push(['role', database.runtimeRole]);
  return settings;
}

/** Sets them again, after somebody else had the transaction. */
export async function applySettings(store: Store, { tenantId }: TransactionScope, em: EntityManager): Promise<void> {
  const settings = settingsOf(store, tenantId);
  await em.execute(`select ${settings.map(() => SET).join(', ')}`, settings.flat());
}

/** The statement that gives a transactional tool the search path of its role, until {@link applySettings}. */
export function restorePathSql(): string {
  return `select pg_catalog.set_config('search_path', pg_catalog.current_setting('${PATH_BEFORE}'), true)`;
}

async function prepare(
  { database, environment, limits }: Store,
  scope: TransactionScope,
  em: EntityManager,
): Promise<void> {
  const settings = settingsOf({ database, limits }, scope.tenantId);
  const keepPath = `pg_catalog.set_config('${PATH_BEFORE}', pg_catalog.current_setting('search_path'), true)`;
  const parts = [keepPath, ...settings.map(() => SET)];
  const values: string[] = settings.flat();
  if (scope.lockedSessionId !== undefined) {
    parts.push(
      scope.refuseHeldLock
        ? 'pg_catalog.pg_try_advisory_xact_lock(?) as locked'
        : 'pg_catalog.pg_advisory_xact_lock(?)',
    );
    values.push(lockKey(scope.lockedSessionId));
  }
  const [row] = (await em.execute(`select ${parts.join(', ')}`, values)) as [{ locked?: boolean }];
  if (row.locked === false) throw lockHeld(scope);
  scope.onLocked?.();
  if (scope.lockedSessionId !== undefined) {
    await environment.faultPoint('afterLock', { sessionId: scope.lockedSessionId });
  }
}

function lockHeld({ lockedSessionId }: TransactionScope): TurnlockError {
  return new TurnlockError('LEASE_HELD', {
    message: `session is being committed to: ${lockedSessionId} (found its lock held, wanted it free)`,
  });
}
