import { MikroORM } from '@mikro-orm/postgresql';
import { expect, test } from 'vitest';
import { NEWEST_MIGRATION } from '../../migrations/index.ts';
import config from '../../mikro-orm.config.ts';
import { freshDatabase } from '../support/fresh-database.ts';

test('MikroORM’s own migrator, with the command line’s configuration, runs the list on a server, once, and leaves no drift', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  const orm = await MikroORM.init({ ...config, clientUrl: url });
  try {
    expect((await orm.migrator.up()).map((done) => done.name)).toEqual([NEWEST_MIGRATION]);
    expect(await orm.migrator.up()).toEqual([]);
    expect(await orm.schema.getUpdateSchemaSQL({ wrap: false })).toBe('');
    const rows = await orm.em
      .getConnection()
      .execute(`SELECT has_table_privilege('turnlock_runtime', 'turnlock.migrations', 'SELECT') AS may_read`);
    expect(rows).toEqual([{ may_read: true }]);
  } finally {
    await orm.close();
  }
});
