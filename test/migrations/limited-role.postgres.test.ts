import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { databaseNames, grantsFor, missingRoleStatements } from '../../migrations/index.ts';
import { initialMigrationSql } from '../../migrations/migration-20261129000000-initial.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { withClient } from '../support/with-client.ts';
import { insertSession } from './scene.ts';

/** Names of this test alone, because roles belong to the whole server. */
function ownNames() {
  const suffix = randomBytes(4).toString('hex');
  const roles = {
    runtimeRole: `runtime_${suffix}`,
    readerRole: `reader_${suffix}`,
    operatorRole: `operator_${suffix}`,
    clientRole: `client_${suffix}`,
  };
  return { names: databaseNames({ schema: `schema_${suffix}`, ...roles, testingRole: `testing_${suffix}` }), suffix };
}

async function dropRoles(url: string, roles: string[]): Promise<void> {
  await withClient(url, async (client) => {
    for (const role of roles) {
      const { rowCount } = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [role]);
      if (rowCount === 0) continue;
      await client.query(`DROP OWNED BY ${role} CASCADE`);
      await client.query(`DROP ROLE ${role}`);
    }
  });
}

const run = async (client: pg.Client, statements: string[]) => {
  for (const statement of statements) await client.query(statement);
};
const existingRoles = async (client: pg.Client) => {
  const { rows } = await client.query<{ rolname: string }>('SELECT rolname FROM pg_roles');
  return rows.map((row) => row.rolname);
};

test('a role that owns the schema but may create neither schemas nor roles migrates, and is told what is left', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  const { names, suffix } = ownNames();
  const owner = `owner_${suffix}`;
  onTestFinished(() =>
    dropRoles(url, [owner, names.runtimeRole, names.readerRole, names.operatorRole, names.clientRole]),
  );
  await withClient(url, async (client) => {
    await client.query(`CREATE ROLE ${owner} NOLOGIN`);
    await client.query(`CREATE SCHEMA ${names.schema} AUTHORIZATION ${owner}`);
    await client.query(`SET ROLE ${owner}`);
    await run(client, initialMigrationSql(names));
    const left = missingRoleStatements(await existingRoles(client), names);
    expect(left.filter((statement) => statement.startsWith('CREATE ROLE'))).toHaveLength(4);
    await client.query('RESET ROLE');
    await run(client, left);
    expect(missingRoleStatements(await existingRoles(client), names)).toEqual([]);
    await client.query(`SET ROLE ${names.runtimeRole}`);
    await client.query(`SELECT set_config('turnlock.tenant', 't', false)`);
    await client.query(`SELECT * FROM ${names.schema}.agent_sessions`);
    await client.query(`SELECT * FROM ${names.schema}.claim_sessions(1)`);
  });
});

test('a superuser migrates under other names: roles are made, and grants reach the testing role where it exists', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  const { names } = ownNames();
  const { runtimeRole, readerRole, operatorRole, clientRole, testingRole, schema } = names;
  onTestFinished(() => dropRoles(url, [runtimeRole, readerRole, operatorRole, clientRole, testingRole]));
  await withClient(url, async (client) => {
    await client.query(`CREATE ROLE ${testingRole} NOLOGIN`);
    await run(client, initialMigrationSql(names));
    expect(await existingRoles(client)).toEqual(
      expect.arrayContaining([runtimeRole, readerRole, operatorRole, clientRole]),
    );
    await client.query(`SET ROLE ${testingRole}`);
    await client.query(`UPDATE ${schema}.turnlock_clock SET offset_ms = 86400000`);
    const { rows } = await client.query(`SELECT ${schema}.turnlock_now() - now() > interval '23 hours' AS is_moved`);
    expect(rows).toEqual([{ is_moved: true }]);
    await client.query('RESET ROLE');
  });
});

test('grantsFor gives an existing role, whatever its name, the rights of a kind', async () => {
  const { url } = await freshDatabase();
  const role = `My "App" ${randomBytes(4).toString('hex')}`;
  const quoted = `"${role.replaceAll('"', '""')}"`;
  onTestFinished(() => dropRoles(url, [quoted]).then(() => withClient(url, (client) => dropQuoted(client, quoted))));
  await withClient(url, async (client) => {
    await client.query(`CREATE ROLE ${quoted} NOLOGIN`);
    await run(client, grantsFor('runtime', role));
    await client.query(`SET ROLE ${quoted}`);
    await client.query(`SELECT set_config('turnlock.tenant', 'tenant-of-scenes', false)`);
    await expect(insertSession(client)).resolves.toEqual(expect.any(String));
  });
});

async function dropQuoted(client: pg.Client, quoted: string): Promise<void> {
  await client.query(`DROP OWNED BY ${quoted} CASCADE`);
  await client.query(`DROP ROLE ${quoted}`);
}

test.each(['Turnlock', 'turn-lock', 'x; DROP', '', 'ö'])('the name %j is refused', (schema) => {
  expect(() => databaseNames({ schema })).toThrow(/database name refused/);
});
