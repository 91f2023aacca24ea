import { expect, test } from 'vitest';
import { postgres } from '../../adapters/databases/postgres.ts';
import { NEWEST_MIGRATION } from '../../migrations/index.ts';
import { AgentSession } from '../../persistence/entities/agent-session.entity.ts';
import { checkSchema, migrate } from '../../persistence/migrate.ts';
import { migrationSql } from '../../persistence/migrate-sql.ts';
import { connect } from '../adapters/databases/connect.ts';
import { freshRole } from '../adapters/databases/fresh-role.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { waitForLockWait } from '../support/wait-for-lock-wait.ts';
import { withClient } from '../support/with-client.ts';

test('an owner of everything makes schema and tables, once, and says so', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  const database = await connect(postgres(url));
  await expect(checkSchema(database)).rejects.toMatchObject({ code: 'SCHEMA_MISSING' });
  expect(await migrate(database)).toEqual({ applied: [NEWEST_MIGRATION], leftToRun: [] });
  expect(await migrate(database)).toEqual({ applied: [], leftToRun: [] });
  await expect(checkSchema(database)).resolves.toBeUndefined();
  expect(await database.orm.em.fork().find(AgentSession, {})).toEqual([]);
});

test("the migrator's table is the one that MikroORM would have made", async () => {
  const shape = `SELECT column_name, data_type, is_nullable, column_default, character_maximum_length, datetime_precision
                   FROM information_schema.columns WHERE table_name = 'migrations' ORDER BY ordinal_position`;
  const ours = await freshDatabase({ state: 'empty' });
  await migrate(await connect(postgres(ours.url)));
  const theirs = await freshDatabase({ state: 'empty' });
  const database = await connect(postgres(theirs.url));
  await (database.orm.migrator as unknown as { init(): Promise<void> }).init();
  const [one, other] = await Promise.all(
    [ours, theirs].map(({ url }) => withClient(url, async (client) => (await client.query(shape)).rows)),
  );
  expect(one).toEqual(other);
  expect(one).toHaveLength(3);
});

test('C57 a role that owns the schema and may not create anything in the database migrates it, and is told what is left', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  const role = await freshRole(url);
  await withClient(url, (client) => client.query(`CREATE SCHEMA turnlock AUTHORIZATION ${role.name}`));
  const database = await connect(postgres(role.url));
  await expect(database.orm.em.fork().execute('create schema other')).rejects.toMatchObject({ code: '42501' });
  expect(await migrate(database)).toMatchObject({ applied: [NEWEST_MIGRATION] });
  await expect(checkSchema(database)).resolves.toBeUndefined();
  await database.close();
});

test('C57 a role without any right on the schema is told that a privilege is missing', async () => {
  const { url } = await freshDatabase();
  const database = await connect(postgres((await freshRole(url)).url));
  await expect(checkSchema(database)).rejects.toMatchObject({ code: 'PRIVILEGE_MISSING' });
  await expect(migrate(database)).rejects.toMatchObject({ code: 'PRIVILEGE_MISSING' });
  await database.close();
});

test('a role that may not create the schema is told so', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  const database = await connect(postgres((await freshRole(url)).url));
  await expect(migrate(database)).rejects.toMatchObject({ code: 'PRIVILEGE_MISSING' });
  await database.close();
});

test('C57 a role that was granted to reads its tenant through the policies, and nothing else', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  const role = await freshRole(url);
  const owner = await connect(postgres(url));
  await migrate(owner, { grantTo: role.name });
  await migrate(owner, { grantTo: role.name }); // again, on a schema that is up to date
  const database = await connect(postgres(role.url));
  await expect(checkSchema(database)).resolves.toBeUndefined();
  expect(await database.reviewSetup()).not.toContainEqual(expect.objectContaining({ code: 'RLS_BYPASSED' }));
  const em = database.orm.em.fork();
  await em.begin();
  await em.execute(`select set_config('turnlock.tenant', 't1', true)`);
  expect(await em.find(AgentSession, {})).toEqual([]);
  await em.rollback();
  await expect(database.orm.em.fork().execute('delete from turnlock.agent_transitions')).rejects.toMatchObject({
    code: '42501',
  });
  await database.close();
});

test('a role that does not exist is refused before anything is granted', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  const database = await connect(postgres(url));
  await expect(migrate(database, { grantTo: 'no "such" role' })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
});

test('a schema of a newer build is left alone', async () => {
  const { url } = await freshDatabase();
  const database = await connect(postgres(url));
  await migrate(database);
  await withClient(url, (client) =>
    client.query(`INSERT INTO turnlock.migrations (name) VALUES ('migration-29991231000000-later')`),
  );
  for (const act of [migrate, checkSchema]) {
    await expect(act(database)).rejects.toMatchObject({
      code: 'SCHEMA_TOO_NEW',
      message: expect.stringContaining('later'),
      hint: expect.stringContaining('Deploy'),
    });
  }
});

test('a schema of an older build is outdated, and migrated from there', async () => {
  const { url } = await freshDatabase();
  const later = { name: 'migration-29991231000000-later', statements: ['create table turnlock.later (n int)'] };
  const database = await connect(postgres(url));
  await migrate(database);
  const newer = {
    ...database,
    migrations: { ...database.migrations, migrations: [...database.migrations.migrations, later] },
  };
  await expect(checkSchema(newer)).rejects.toMatchObject({
    code: 'SCHEMA_OUTDATED',
    details: { pending: [later.name] },
  });
});

test('the script makes what the migrator makes, and the migrator finds nothing to do after it', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  const database = await connect(postgres(url));
  await withClient(url, (client) => client.query(migrationSql(database)));
  await expect(checkSchema(database)).resolves.toBeUndefined();
  expect(await migrate(database)).toEqual({ applied: [], leftToRun: [] });
});

test('C59 a pool of one connection migrates, and waits for another migration whatever its time-outs are', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  const options = '-c lock_timeout=50 -c statement_timeout=50';
  const database = await connect(postgres({ connectionString: url, max: 1, options }));
  await withClient(url, async (holder) => {
    await holder.query('BEGIN; SELECT pg_advisory_xact_lock(1953854062, 1835624241)');
    const migrating = migrate(database);
    const [pid] = await waitForLockWait(url, { event: 'advisory' });
    await holder.query('SELECT pg_sleep(0.1)');
    expect(await waitForLockWait(url, { event: 'advisory' })).toEqual([pid]);
    await holder.query('COMMIT');
    expect((await migrating).applied).toHaveLength(1);
  });
});

test('a migration that fails leaves nothing behind', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  await withClient(url, (client) => client.query('CREATE SCHEMA turnlock; CREATE TABLE turnlock.agent_approvals ()'));
  const database = await connect(postgres(url));
  await expect(migrate(database)).rejects.toMatchObject({ details: { sqlState: '42P07' } });
  const { rows } = await withClient(url, (client) =>
    client.query(
      `SELECT relname FROM pg_class WHERE relnamespace = 'turnlock'::regnamespace AND relkind = 'r' ORDER BY 1`,
    ),
  );
  expect(rows).toEqual([{ relname: 'agent_approvals' }, { relname: 'migrations' }]);
});
