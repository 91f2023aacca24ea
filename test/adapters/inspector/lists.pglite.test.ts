import { beforeAll, expect, test } from 'vitest';
import type { FetchHandler } from '../../../adapters/http/identity.ts';
import { inspector } from '../../../adapters/inspector/inspector.ts';
import { onPglite } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { getPage, linksOf, type Page } from './inspect-page.ts';

const SESSIONS = 120;

onPglite((database) => {
  const agent = scriptedAgent('hello');

  beforeAll(async () => {
    const runtime = await openRuntime(database(), [agent], { adapter: database().adapter() });
    await openSession(runtime, agent, { tenantId: 'a', externalId: 'no-0' });
    await runtime.close();
    // Some of one moment, some apart; half of them between two milliseconds.
    await database().query(`set session_replication_role = 'replica'`);
    await database().query(
      `insert into turnlock.agent_sessions (tenant_id, user_id, active_model_id, agent_name, agent_version, machine_id, machine_version, snapshot, external_id)
        select case when n % 3 = 0 then 'a' else 'b' end, user_id, active_model_id, agent_name, agent_version, machine_id, machine_version, snapshot, 'no-' || n
          from turnlock.agent_sessions, generate_series(1, $1::int) n`,
      [SESSIONS - 1],
    );
    await database().query(
      `update turnlock.agent_sessions set updated_at = timestamptz '2026-01-01' + (split_part(external_id, '-', 2)::int / 7) * interval '1 second'
        + (split_part(external_id, '-', 2)::int % 2) * interval '1 microsecond'`,
    );
    await database().query(`set session_replication_role = 'origin'`);
  });

  async function open(tenantId: string | null): Promise<FetchHandler> {
    return inspector(await openRuntime(database(), [agent]), { viewer: { tenantId, by: 'op' } });
  }

  const namesOf = ({ html }: Page) => [...html.matchAll(/<bdi>(no-\d+)<\/bdi>/g)].map(([, name]) => name);
  const linkTo = (page: Page, name: 'older' | 'newer') =>
    linksOf(page).find((link) => link.includes(`${name}=`)) ?? null;

  test.each([[null], ['b']])(
    'pages hold every session once, in order, and lead back the same way (tenant %j)',
    async (tenantId) => {
      const handler = await open(tenantId);
      const rows = await database().query(
        `select external_id from turnlock.agent_sessions where $1::text is null or tenant_id = $1 order by updated_at desc, session_id`,
        [tenantId],
      );
      const wanted = rows.map(({ external_id }) => external_id as string);
      const forth: Page[] = [await getPage(handler, '/')];
      for (let next = linkTo(forth[0] as Page, 'older'); next !== null; next = linkTo(forth.at(-1) as Page, 'older')) {
        forth.push(await getPage(handler, next));
      }
      expect(forth.flatMap(namesOf)).toEqual(wanted);
      let page = forth.at(-1) as Page;
      for (const before of forth.slice(0, -1).reverse()) {
        page = await getPage(handler, linkTo(page, 'newer') ?? '');
        expect(namesOf(page)).toEqual(namesOf(before));
      }
      expect(linkTo(page, 'newer')).toBeNull();
    },
  );

  test('filters hold on every page, and what no session can have finds none', async () => {
    const handler = await open('b');
    const page = await getPage(handler, `/?state=IDLE&agent=${agent.name}`);
    expect([namesOf(page).length, linkTo(page, 'older')]).toEqual([50, expect.stringContaining(`agent=${agent.name}`)]);
    for (const query of [
      'state=FAILED',
      'asked=1',
      'stranded=1',
      'within=hour',
      'user=nobody',
      'agent=none',
      `q=${'x'.repeat(500)}`,
    ]) {
      expect([query, namesOf(await getPage(handler, `/?${query}`))]).toEqual([query, []]);
    }
  });

  test.each(['state=BUSY', 'within=ever', 'older=1', 'older=x.y', 'newer=1.no-uuid', 'user=%00'])(
    'an address that no link of ours has (%s) is answered with what is wrong',
    async (query) => {
      expect((await getPage(await open('b'), `/?${query}`)).status).toBe(422);
    },
  );

  test('with more tenants than are shown beside each other one is chosen; a search looks in all', async () => {
    const runtime = await openRuntime(database(), [agent]);
    for (let n = 0; n < 12; n += 1) await openSession(runtime, agent, { tenantId: `c-${n}`, externalId: `one-${n}` });
    const handler = inspector(runtime);
    const page = await getPage(handler, '/');
    expect(page.text).toContain('Choose a tenant');
    expect(linksOf(page)).toContain('/?tenant=c-0');
    expect((await getPage(handler, '/?tenant=c-0')).text).toContain('one-0');
    expect((await getPage(handler, '/?q=one-11')).text).toContain('found by external id');
  });
});
