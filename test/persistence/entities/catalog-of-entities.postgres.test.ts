import { MikroORM } from '@mikro-orm/postgresql';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { allEntities } from '../../../persistence/entities/all-entities.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { withClient } from '../../support/with-client.ts';
import { COMPARISON } from './drift-suite.ts';

/** Types to the letter, and indexes with their expressions and conditions: what MikroORM's own comparison does not look at. */
async function describeCatalog(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `SELECT format('%s.%s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod)) AS line
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.relnamespace = 'turnlock'::regnamespace AND c.relkind = 'r' AND c.relname <> 'migrations'
    UNION ALL SELECT pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
      WHERE c.relnamespace = 'turnlock'::regnamespace AND c.relname <> 'migrations'
    ORDER BY 1`,
  );
  return rows.map((row) => row.line);
}

test('tables made from the entities have the migrated ones’ types and indexes', async () => {
  const migrated = await freshDatabase();
  const made = await freshDatabase({ state: 'empty' });
  await withClient(made.url, async (client) => {
    await client.query('CREATE SCHEMA turnlock');
    await client.query(`CREATE FUNCTION turnlock.turnlock_now() RETURNS timestamptz LANGUAGE sql AS 'SELECT now()'`);
    const orm = await MikroORM.init({ ...COMPARISON, clientUrl: made.url, entities: allEntities });
    try {
      // MikroORM writes an identity column that is no primary key as a serial one as well.
      const statements = await orm.schema.getCreateSchemaSQL({ wrap: false });
      await client.query(statements.replace('bigserial generated', 'bigint generated'));
    } finally {
      await orm.close();
    }
    expect(await describeCatalog(client)).toEqual(await withClient(migrated.url, describeCatalog));
  });
});
