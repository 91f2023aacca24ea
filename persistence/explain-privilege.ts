import type { EntityManager } from '@mikro-orm/postgresql';
import { isTurnlockError, TurnlockError } from '../errors.ts';
import type { Database } from './database.contract.ts';

/**
 * `error`, where a role that may only read wanted to write, as such: what it lacks is not the service's rights, and nobody should be told to
 * grant them. Anything else is returned as it is.
 */
export async function explainPrivilege({ orm, schema }: Database, error: unknown): Promise<unknown> {
  if (!isTurnlockError(error, 'PRIVILEGE_MISSING')) return error;
  const em = orm.em.fork({ clear: true }) as EntityManager;
  if (!(await onlyReads(em, schema).catch(() => false))) return error;
  return new TurnlockError('PRIVILEGE_MISSING', {
    message: 'role only reads (found a statement that writes, wanted one that looks)',
    hint: 'Nothing was written. Whoever decides, sends or operates connects as a role of that kind: docs/operating.md lists them.',
    details: error.details,
  });
}

async function onlyReads(em: EntityManager, schema: string): Promise<boolean> {
  const table = `${schema}.agent_sessions`;
  const [row] = await em.execute<{ only: boolean }[]>(
    `select has_table_privilege(?, 'SELECT') and not has_table_privilege(?, 'INSERT') as only`,
    [table, table],
  );
  return row?.only === true;
}
