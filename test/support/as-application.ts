import pg from 'pg';
import { grantsFor } from '../../migrations/index.ts';
import { freshRole } from '../adapters/databases/fresh-role.ts';
import { withClient } from './with-client.ts';

/** Plain SQL of somebody who has the password of the application's role, which owns nothing and has what `turnlock migrate --grant-to` gives. */
export interface AsApplication {
  url: string;
  /** Statements of one transaction, as `tenant`. SQLSTATE of what refused them; `null` where they committed. */
  attempt(...statements: string[]): Promise<string | null>;
  end(): Promise<void>;
}

/** Connects as a fresh role with the application's rights, to the database of `url`. */
export async function asApplication(url: string, tenantId: string): Promise<AsApplication> {
  const role = await freshRole(url);
  await withClient(url, async (owner) => {
    for (const statement of grantsFor('runtime', role.name)) await owner.query(statement);
  });
  const client = new pg.Client({ connectionString: role.url });
  await client.connect();
  await client.query(`SELECT set_config('turnlock.tenant', $1, false)`, [tenantId]);
  return {
    url: role.url,
    end: () => client.end(),
    attempt: async (...statements) => {
      try {
        await client.query('BEGIN');
        for (const text of statements) await client.query(text);
        await client.query('COMMIT');
        return null;
      } catch (error) {
        await client.query('ROLLBACK');
        return (error as { code?: string }).code ?? 'no code';
      }
    },
  };
}

/** Writes past every trigger, as the owner of the tables who covers up something, or a broken restore. */
export async function tamper(url: string, ...statements: string[]): Promise<void> {
  await withClient(url, async (client) => {
    await client.query("SET session_replication_role = 'replica'");
    for (const text of statements) await client.query(text);
  });
}
