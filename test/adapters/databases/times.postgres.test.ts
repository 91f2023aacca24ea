import pg from 'pg';
import { expect, test } from 'vitest';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { AgentToolVersion } from '../../../persistence/entities/agent-tool-version.entity.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { withClient } from '../../support/with-client.ts';
import { connect } from './connect.ts';

/** In the hour that Berlin has twice, with milliseconds. */
const AT = new Date('2026-10-25T00:30:00.123Z');

/** The zone of this process, changed for one test; Node reads it anew. */
function setHostZone(zone: string): void {
  const before = process.env.TZ;
  process.env.TZ = zone;
  atTestEnd(() => {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  });
}

test.each([
  ['Asia/Tokyo', 'America/New_York', 'ISO, MDY'],
  ['Europe/Berlin', 'Asia/Kolkata', 'German, DMY'],
  ['UTC', 'Europe/Berlin', 'SQL, DMY'],
])(
  'C61 times are the same to the millisecond: host in %s, server in %s with DateStyle %s',
  async (host, server, dateStyle) => {
    setHostZone(host);
    const { url, name } = await freshDatabase();
    await withClient(url, async (client) => {
      await client.query(`ALTER DATABASE "${name}" SET timezone = '${server}'`);
      await client.query(`ALTER DATABASE "${name}" SET datestyle = '${dateStyle}'`);
    });
    const { orm } = await connect(postgres(url));
    const key = { agentName: 'support', toolName: 'refund', toolVersion: 1 };
    const write = orm.em.fork();
    await write.begin();
    write.persist(write.create(AgentToolVersion, { ...key, schemaDigest: 'a'.repeat(64), createdAt: AT }));
    await write.commit();
    const [stored] = await orm.em
      .fork()
      .execute('select (extract(epoch from created_at) * 1000)::bigint::text as ms from turnlock.agent_tool_versions');
    expect(Number(stored?.ms)).toBe(AT.getTime());
    const read = orm.em.fork();
    await read.begin();
    expect((await read.findOneOrFail(AgentToolVersion, key)).createdAt).toEqual(AT);
    await read.rollback();
  },
);

test('values are read alike whatever parsers the program has set for itself', async () => {
  const { url } = await freshDatabase();
  const pool = new pg.Pool({ connectionString: url });
  atTestEnd(() => pool.end());
  for (const oid of [16, 20, 23, 1184, 3802]) {
    const parser = pg.types.getTypeParser(oid);
    pg.types.setTypeParser(oid, () => 'theirs');
    atTestEnd(() => pg.types.setTypeParser(oid, parser));
  }
  const { orm } = await connect(postgres(pool));
  const row = await orm.em
    .fork()
    .execute(`select true as bool, 1::bigint as int8, 2 as int4, '{"a": [1]}'::jsonb as json, null as nothing`);
  expect(row).toEqual([{ bool: true, int8: '1', int4: 2, json: { a: [1] }, nothing: null }]);
});
