import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { freshDatabase } from '../support/fresh-database.ts';
import { withClient } from '../support/with-client.ts';

const SEED_FILE = '../shared/seed-schema.sql';
const TABLES = ['agent_sessions', 'agent_turns', 'agent_tool_executions'];

/** Columns, then constraints, then indexes, one line each, without the schema's name. */
async function describeTables(client: pg.Client, schema: string): Promise<string[]> {
  await client.query(`SET search_path = ${schema}`);
  const { rows } = await client.query<{ line: string }>(
    `SELECT format('%s.%s %s default %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
        COALESCE(pg_get_expr(d.adbin, d.adrelid), '-'), CASE WHEN a.attnotnull THEN 'not null' ELSE 'null' END) AS line
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1)
    UNION ALL SELECT format('%s constraint %s %s', c.relname, n.conname, pg_get_constraintdef(n.oid))
      FROM pg_constraint n JOIN pg_class c ON c.oid = n.conrelid
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1) AND n.contype IN ('p', 'u', 'c', 'f')
    UNION ALL SELECT format('%s index %s', c.relname, replace(pg_get_indexdef(i.indexrelid), current_schema() || '.', ''))
      FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1)
    ORDER BY 1`,
    [TABLES],
  );
  return rows.map((row) => row.line);
}

/**
 * The one difference that is allowed: the given index on the idempotency key doubles the one that UNIQUE makes, so ours is one unique
 * constraint of the index's name.
 */
function withoutDoubledIndex(lines: string[]): string[] {
  const unique = 'CREATE UNIQUE INDEX idx_tool_idempotency ON agent_tool_executions USING btree (idempotency_key)';
  return [
    ...lines.filter((line) => !/idempotency_key_key|INDEX idx_tool_idempotency/.test(line)),
    `agent_tool_executions constraint idx_tool_idempotency UNIQUE (idempotency_key)`,
    `agent_tool_executions index ${unique}`,
  ].sort();
}

test('the given schema stands: every column, type, default, constraint and index', async () => {
  const seed = await readFile(SEED_FILE, 'utf8').catch(() => {
    throw new Error(`the given schema is missing: put it at ${SEED_FILE}, beside this repository's folder`);
  });
  const { url } = await freshDatabase();
  await withClient(url, async (client) => {
    await client.query(`CREATE SCHEMA seed; SET search_path = seed; ${seed}`);
    const wanted = withoutDoubledIndex(await describeTables(client, 'seed'));
    const found = new Set(await describeTables(client, 'turnlock'));
    expect(wanted.length).toBe(40);
    expect(wanted.filter((line) => !found.has(line))).toEqual([]);
  });
});

test('the given columns come first, in their order', async () => {
  const { url } = await freshDatabase();
  await withClient(url, async (client) => {
    const seed = await readFile(SEED_FILE, 'utf8');
    await client.query(`CREATE SCHEMA seed; SET search_path = seed; ${seed}`);
    const columns = async (schema: string) => {
      const { rows } = await client.query<{ table_name: string; column_name: string }>(
        `SELECT table_name, column_name FROM information_schema.columns
          WHERE table_schema = $1 AND table_name = ANY ($2) ORDER BY table_name, ordinal_position`,
        [schema, TABLES],
      );
      return Map.groupBy(rows, (row) => row.table_name);
    };
    const ours = await columns('turnlock');
    for (const [table, given] of await columns('seed')) {
      expect(ours.get(table)?.slice(0, given.length)).toEqual(given);
    }
  });
});
