import type { MikroORM } from '@mikro-orm/core';
import { expect, test } from 'vitest';

/** The part of an ORM that compares: the same on both drivers. */
type Comparing = Pick<MikroORM, 'schema'> & { schema: { getUpdateSchemaSQL(options: object): Promise<string> } };

/** What every ORM of the comparison is made with. Triggers, functions and grants are compared from the catalogs. */
export const COMPARISON = {
  schemaGenerator: { ignoreTriggers: true, ignoreRoutines: true, ignoreSchema: ['public'] },
  migrations: { tableName: 'turnlock.migrations' },
};

/** Changes that a comparison must see, each a statement that moves the database away from the entities. */
const MUTATIONS = [
  'ALTER TABLE turnlock.agent_turns ALTER COLUMN content SET NOT NULL',
  'ALTER TABLE turnlock.agent_turns DROP COLUMN metadata',
  'ALTER TABLE turnlock.agent_sessions ALTER COLUMN user_id TYPE varchar(65)',
  'ALTER TABLE turnlock.agent_tool_executions DROP CONSTRAINT idx_tool_idempotency',
  'ALTER TABLE turnlock.agent_tool_executions DROP CONSTRAINT check_tool_status',
  'ALTER TABLE turnlock.agent_turns DROP CONSTRAINT fk_turn_session',
  'ALTER TABLE turnlock.agent_turns ALTER CONSTRAINT fk_turn_execution NOT DEFERRABLE',
  'DROP POLICY own_tenant ON turnlock.agent_inbox',
  'ALTER TABLE turnlock.agent_inbox DISABLE ROW LEVEL SECURITY',
  'DROP INDEX turnlock.idx_sessions_owed',
  'DROP INDEX turnlock.idx_tool_open',
];

/** The entities mirror the migrated schema, and the comparison that says so is not blind. */
export function describeDrift(open: () => { orm: Comparing; query(text: string): Promise<unknown> }): void {
  test('no drift', async () => {
    expect(await open().orm.schema.getUpdateSchemaSQL({ wrap: false })).toBe('');
  });

  test.each(MUTATIONS)('sees %s', async (mutation) => {
    const { orm, query } = open();
    await query(mutation);
    expect(await orm.schema.getUpdateSchemaSQL({ wrap: false })).not.toBe('');
  });
}
