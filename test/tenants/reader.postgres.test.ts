import { beforeAll, expect, test } from 'vitest';
import type { Runtime, Session } from '../../index.ts';
import { TENANT_TABLES } from '../../migrations/initial/policies.sql.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, scriptedAgent } from '../support/runtime-open.ts';
import { withReader } from './as-least-privileged.ts';

/** Somebody on call, or an auditor: a role that was given what `turnlock migrate --grant-reader-to` gives. */

onPostgres((database) => {
  const asReader = withReader(database);
  const asWatch = withReader(database, 'turnlock_operator');
  const agent = scriptedAgent('heard');
  let reader: Runtime;
  let session: Session;

  beforeAll(async () => {
    const owner = await openRuntime(database(), [agent]);
    const made = await owner.createSession({ agent: agent.name, tenantId: 'own', userId: 'user' });
    await (await made.send('hello')).result();
    reader = await openRuntime(asReader(), [agent]);
    session = await reader.session({ tenantId: 'own', sessionId: made.sessionId });
  });

  test('who only reads sees the sessions of the tenant that it names, and verifies them', async () => {
    expect((await reader.sessions({ tenantId: 'own' })).map(({ sessionId }) => sessionId)).toEqual([session.sessionId]);
    expect((await session.history()).map(({ content }) => content)).toEqual(['hello', 'heard']);
    expect((await session.verify()).findings).toEqual([]);
    expect((await session.replay()).findings).toEqual([]);
    expect(await session.explain()).toMatchObject({ waitsFor: [{ kind: 'message' }] });
    expect(await reader.awaiting({ tenantId: 'own' })).toEqual([]);
    const own = await reader.doctor({ tenantId: 'own' });
    expect([own.sessions, own.errors]).toEqual([1, 0]);
    await expect(reader.session({ tenantId: 'other', sessionId: session.sessionId })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });

  test('it looks across tenants only with the rights of turnlock_operator', async () => {
    await expect(reader.doctor({ all: true })).rejects.toMatchObject({
      code: 'PRIVILEGE_MISSING',
      hint: expect.stringContaining('Name the tenant'),
    });
    const watch = await openRuntime(asWatch(), [agent]);
    expect(await watch.doctor({ all: true, quick: true })).toMatchObject({ sessions: 1, errors: 0 });
  });

  test('it writes nothing, and is not told to ask for the rights of a service', async () => {
    const attempts = [
      () => session.send('more'),
      () => session.complete({ by: 'x' }),
      () => session.fork({ by: 'x' }),
      () => reader.createSession({ agent: agent.name, tenantId: 'own', userId: 'user' }),
    ];
    for (const attempt of attempts) {
      const error = await attempt().then(
        () => null,
        (thrown: unknown) => thrown as { code: string; hint: string },
      );
      expect([error?.code, error?.hint]).toEqual(['PRIVILEGE_MISSING', expect.not.stringContaining('grant')]);
    }
    expect(await session.status()).toMatchObject({ state: 'IDLE', version: 2 });
  });

  test('C66 its role has SELECT and nothing else, and row-level security holds it', async () => {
    const rights = await database().query(
      `SELECT DISTINCT privilege_type AS right FROM information_schema.role_table_grants WHERE grantee = 'turnlock_reader'`,
    );
    expect(rights).toEqual([{ right: 'SELECT' }]);
    for (const table of TENANT_TABLES) {
      await database().query('BEGIN');
      await database().query(
        `SELECT set_config('role', 'turnlock_reader', true), set_config('turnlock.tenant', 'other', true)`,
      );
      expect([table, await database().query(`SELECT FROM turnlock.${table}`)]).toEqual([table, []]);
      await database().query('ROLLBACK');
    }
  });
});
