import { beforeAll, expect, test } from 'vitest';
import { inspector } from '../../../adapters/inspector/inspector.ts';
import { type Runtime, requireApproval } from '../../../index.ts';
import { onPglite } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { getPage, linksOf, sendForm } from './inspect-page.ts';

onPglite((database) => {
  const refund = looseTool('refund', () => 1, { policy: () => requireApproval() });
  const agent = scriptedAgent(eachRun({ toolCalls: [call('refund', { orderId: 42 })] }), [refund]);
  const ids = new Map<string, string>();

  async function open(): Promise<Runtime> {
    return openRuntime(database(), [agent]);
  }

  beforeAll(async () => {
    const runtime = await openRuntime(database(), [agent], { adapter: database().adapter() });
    for (const [tenantId, userId] of [
      ['acme', 'ana'],
      ['acme', 'bo'],
      ['globex', 'ana'],
    ] as const) {
      const metadata = { orderId: 42 };
      const session = await openSession(runtime, agent, {
        tenantId,
        userId,
        externalId: `${tenantId}-${userId}`,
        metadata,
      });
      await (await session.send('refund', { messageId: 'm-1' })).result();
      ids.set(`${tenantId}-${userId}`, session.sessionId);
    }
    await runtime.close();
  });

  const NAMES = ['acme-ana', 'acme-bo', 'globex-ana'];
  const shown = (text: string) => NAMES.filter((name) => text.includes(name));

  test.each([
    [{ tenantId: null, by: 'op' }, NAMES],
    [{ tenantId: 'acme', by: 'op' }, ['acme-ana', 'acme-bo']],
    [{ tenantId: 'acme', userId: 'bo', by: 'bo' }, ['acme-bo']],
    [{ tenantId: 'nobody', by: 'op' }, []],
  ])(
    'C66 a viewer sees and decides what is of its tenant and user, and what is another’s is answered like what is not: %j',
    async (viewer, own) => {
      const runtime = await open();
      const handler = inspector(runtime, { viewer, decide: true });
      const tenants = viewer.tenantId === null ? [''] : ['', '&tenant=globex'];
      for (const more of tenants) {
        for (const path of [
          '/?q=',
          '/?state=AWAITING_INPUT',
          '/?asked=1',
          '/?stranded=0',
          '/?user=',
          '/awaiting?',
          '/?q=orderId%3D42',
          '/?q=m-1',
          '/?q=ana',
        ]) {
          const page = await getPage(handler, `${path}${more}`);
          const wanted = path === '/?q=ana' ? own.filter((name) => name.endsWith('ana')) : own;
          expect([path, page.status, shown(page.text)]).toEqual([path, 200, wanted]);
        }
      }
      for (const name of NAMES) {
        const id = ids.get(name) ?? '';
        expect(shown((await getPage(handler, `/?q=${id}`)).text)).toEqual(own.filter((one) => one === name));
        expect(shown((await getPage(handler, `/?q=${id.slice(0, 8)}`)).text)).toEqual(
          own.filter((one) => one === name),
        );
        const tenant = name.split('-')[0] ?? '';
        const page = await getPage(handler, `/sessions/${id}?tenant=${tenant}`);
        expect([name, page.status]).toEqual([name, own.includes(name) ? 200 : 404]);
      }
      const others = NAMES.filter((name) => !own.includes(name));
      const reading = await runtime.awaiting({ tenantId: 'globex' });
      const rounds = [...reading, ...(await runtime.awaiting({ tenantId: 'acme' }))];
      for (const name of others) {
        const round = rounds.find(({ sessionId }) => sessionId === ids.get(name));
        if (round === undefined) throw new Error(`${name} is asked nothing`);
        const { tenantId: tenant, sessionId: session, executionId: execution, approvalId: approval, digest } = round;
        const sent = await sendForm(handler, '/decide', {
          way: 'deny',
          reason: 'no',
          tenant,
          session,
          execution,
          approval,
          digest,
        });
        expect(sent.status).toBe(303);
        expect((await getPage(handler, sent.headers.get('location') ?? '')).status).toBe(404);
        expect((await getPage(handler, `/decided/${session}/${execution}?tenant=${tenant}`)).status).toBe(404);
      }
      expect(await runtime.awaiting({ tenantId: 'globex' })).toHaveLength(reading.length);
    },
  );

  test('links of a viewer of all tenants name the tenant; those of another do not', async () => {
    const runtime = await open();
    const all = linksOf(await getPage(inspector(runtime), '/')).filter((link) => link.startsWith('/sessions/'));
    expect(all.map((link) => link.split('?')[1]).sort()).toEqual(['tenant=acme', 'tenant=acme', 'tenant=globex']);
    const own = linksOf(await getPage(inspector(runtime, { viewer: { tenantId: 'acme', by: 'op' } }), '/'));
    expect(own.filter((link) => link.startsWith('/sessions/') && link.includes('?'))).toEqual([]);
  });

  test('the doctor of a tenant examines that tenant, whatever the form says', async () => {
    const handler = inspector(await open(), { viewer: { tenantId: 'acme', by: 'op' } });
    const answer = await sendForm(handler, '/doctor', { tenant: 'globex', audit: '1' });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('2 sessions examined')]);
  });
});
