import type { MikroORM } from '@mikro-orm/postgresql';
import { TurnlockError } from '../../errors.ts';
import type { DatabaseWarning } from '../../persistence/database.contract.ts';

const OLDEST_MAJOR = 15;

/** What decides whether a server is good enough, and what has to be said about it. */
export interface ServerFacts {
  readonly version: number;
  readonly database: string;
  readonly role: string;
  readonly fsync: string;
  readonly synchronousCommit: string;
  readonly bypassesPolicies: boolean;
}

/**
 * Asks the server what it is and what our role may do there. Works before the schema exists.
 *
 * MikroORM is told the database's real name on the way: its migrator makes a database that it does not find by name, and connects anew.
 */
export async function readServerFacts(orm: MikroORM, schema: string): Promise<ServerFacts> {
  // In a transaction, whose settings are ours and not the role's.
  const [row] = await orm.em.fork({ clear: true }).transactional(async (em) => {
    await em.execute('set local search_path to pg_catalog, pg_temp');
    return await em.execute<ServerFacts[]>(
      `select current_setting('server_version_num')::int as version, current_database() as database, current_user as role,
            current_setting('fsync') as fsync, current_setting('synchronous_commit') as "synchronousCommit",
            r.rolsuper or r.rolbypassrls or exists (
              select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
               where n.nspname = ? and c.relname = 'agent_sessions' and pg_catalog.pg_has_role(current_user, c.relowner, 'USAGE')
            ) as "bypassesPolicies"
       from pg_catalog.pg_roles r where r.rolname = current_user`,
      [schema],
    );
  });
  orm.config.set('dbName', row!.database);
  return row!;
}

/** @throws DATABASE_UNSUPPORTED for a server that is older than what the schema needs. */
export function checkServerVersion({ version }: ServerFacts): void {
  const major = Math.floor(version / 10_000);
  if (major >= OLDEST_MAJOR) return;
  throw new TurnlockError('DATABASE_UNSUPPORTED', {
    message: `server is too old: PostgreSQL (found ${major}, wanted ${OLDEST_MAJOR} or newer)`,
    details: { found: major, oldest: OLDEST_MAJOR },
  });
}

/** What the facts take away from the guarantees. */
export function warningsOf({ fsync, synchronousCommit, bypassesPolicies, role }: ServerFacts): DatabaseWarning[] {
  const warnings: DatabaseWarning[] = [];
  if (fsync === 'off') {
    warnings.push({
      code: 'FSYNC_OFF',
      message: 'The server runs with fsync off: a power loss may lose or damage commits.',
    });
  }
  if (synchronousCommit === 'off') {
    warnings.push({
      code: 'SYNCHRONOUS_COMMIT_OFF',
      message:
        'synchronous_commit is off by default: commits of ours turn it on, those of your own transactions may be lost in a crash.',
    });
  }
  if (bypassesPolicies) {
    warnings.push({
      code: 'RLS_BYPASSED',
      message: `Row-level security does not hold role ${JSON.stringify(role)}: it owns the tables or may bypass policies. Connect as a role that was given rights by \`turnlock migrate --grant-to\`.`,
    });
  }
  return warnings;
}
