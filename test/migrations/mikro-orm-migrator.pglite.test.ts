import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/pglite';
import { expect, test } from 'vitest';
import { migrationsList, NEWEST_MIGRATION } from '../../migrations/index.ts';
import { allEntities } from '../../persistence/entities/all-entities.ts';
import { freshPglite } from '../support/pglite.ts';

test('MikroORM’s own migrator runs the list on PGlite, once', async () => {
  const pglite = await freshPglite({ state: 'empty' });
  const orm = await MikroORM.init({
    dbName: 'postgres',
    driverOptions: { pglite },
    entities: allEntities,
    extensions: [Migrator],
    migrations: { tableName: 'turnlock.migrations', migrationsList, snapshot: false },
  });
  try {
    expect((await orm.migrator.up()).map((done) => done.name)).toEqual([NEWEST_MIGRATION]);
    expect(await orm.migrator.up()).toEqual([]);
    const { rows } = await pglite.query('SELECT name FROM turnlock.migrations');
    expect(rows).toEqual([{ name: NEWEST_MIGRATION }]);
  } finally {
    await orm.close();
  }
});
