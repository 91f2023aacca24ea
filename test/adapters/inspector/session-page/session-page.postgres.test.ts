import { expect, test } from 'vitest';
import { requireApproval } from '../../../../index.ts';
import { readTimeline } from '../../../../persistence/read-timeline.ts';
import { servicesOf } from '../../../../runtime/services-of.ts';
import { onPostgres } from '../../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../../support/runtime-script.ts';
import { listedOn, pagesOf, supportAgent } from './session-scene.ts';

onPostgres((database) => {
  test('the page of a session tells turns, model calls, calls with attempts and approvals, and transitions in their order', async () => {
    const agent = supportAgent();
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent, { externalId: 'ticket-1', metadata: { channel: 'mail' } });
    const { awaiting } = await (await session.send('It arrived broken.', { messageId: 'm-1' })).result();
    const get = pagesOf(runtime);
    const asking = (await get(`/sessions/${session.sessionId}`)).page;
    expect(asking).toContain('It needs a person');
    expect(asking).toContain('turnlock approve');
    expect(asking).toContain('data-state="AWAITING_INPUT" data-active="true"');
    const { executionId, digest } = awaiting[0]!;
    await (await session.approve(executionId, { by: 'grace', digest })).result();
    const { status, page } = await get(`/sessions/${session.sessionId}`);
    expect(status).toBe(200);
    const { version } = await session.status();
    expect(listedOn(page)).toEqual(Array.from({ length: version }, (_, place) => place + 1));
    for (const text of [
      ...['It arrived broken.', 'Let me look.', 'It is on its way.', '812 in, 64 out', 'ticket-1', '3 model calls'],
      ...['lookup', '2 attempts', 'refund', 'Approved', 'Is it broken?', 'used ', 'm-1', 'tool.attemptFailed'],
      ...['approval.granted', 'PLANNING</span>', 'Succeeded', 'data-state="IDLE" data-active="true"'],
    ]) {
      expect(page, text).toContain(text);
    }
    expect(page).toContain(`href="/sessions/${session.sessionId}/at/${version}"`);
  });

  test('a question whose time is over is said to be expired, and tokens that no model reported are not counted', async () => {
    const refund = looseTool('refund', () => 1, { policy: () => requireApproval({ expiresInMs: 1 }) });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('refund')] }), [refund]);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await (await session.send('refund')).result();
    await new Promise((resolve) => setTimeout(resolve, 2));
    const { page } = await pagesOf(runtime, 'tenant', { decide: true })(`/sessions/${session.sessionId}`);
    expect(page).toContain('<dt>Expired</dt>');
    expect(page).toContain('<dt>Tokens</dt><dd>none reported</dd>');
  });

  test('a session without a transition has a page', async () => {
    const agent = supportAgent();
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const { status, page } = await pagesOf(runtime)(`/sessions/${session.sessionId}`);
    expect(status).toBe(200);
    expect(page).toContain('Nothing has happened yet.');
    expect(page).toContain('data-state="IDLE" data-active="true"');
  });

  test('a long session is paged by sequence: each page is bounded, and together they have each transition once', async () => {
    const agent = scriptedAgent(eachRun('yes'));
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    for (let turn = 0; turn < 32; turn += 1) await (await session.send(`message ${turn}`)).result();
    const get = pagesOf(runtime);
    const latest = (await get(`/sessions/${session.sessionId}`)).page;
    expect(listedOn(latest)).toEqual(Array.from({ length: 50 }, (_, place) => place + 15));
    const seen = new Set(listedOn(latest));
    let page = latest;
    for (let link = earlier(page); link !== null; link = earlier(page)) {
      page = (await get(link)).page;
      const listed = listedOn(page);
      expect(listed.length).toBeLessThanOrEqual(50);
      expect(listed.filter((sequence) => seen.has(sequence))).toEqual([]);
      for (const sequence of listed) seen.add(sequence);
    }
    expect(seen.size).toBe(64);
    const first = (await get(`/sessions/${session.sessionId}?after=0`)).page;
    expect(listedOn(first)[0]).toBe(1);
    expect(first).toContain('data-latest="false"');
  });

  test('what stands after a sequence is fetched as a piece of a page, from the next one on', async () => {
    const agent = scriptedAgent(eachRun('yes'));
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    for (let turn = 0; turn < 3; turn += 1) await (await session.send(`message ${turn}`)).result();
    const { page } = await pagesOf(runtime)(`/sessions/${session.sessionId}/entries?after=4`);
    expect(listedOn(page)).toEqual([5, 6]);
    expect(page).toContain('id="waiting"');
    expect(page).not.toContain('<html');
    const none = await pagesOf(runtime)(`/sessions/${session.sessionId}/entries?after=6`);
    expect(listedOn(none.page)).toEqual([]);
  });

  test('a page is read in as many statements as a page of another session, whatever is on it', async () => {
    const noop = looseTool('noop', () => null);
    const many = Array.from({ length: 12 }, (_, n) => call('noop', { n }));
    const agent = scriptedAgent(eachRun({ toolCalls: many }, 'done'), [noop]);
    const runtime = await openRuntime(database(), [agent]);
    const sessions = [await openSession(runtime, agent), await openSession(runtime, agent)];
    await (await sessions[0]!.send('go')).result();
    for (let turn = 0; turn < 4; turn += 1) await (await sessions[1]!.send('go')).result();
    const { store } = servicesOf(runtime);
    const counts: number[] = [];
    for (const session of sessions) {
      let count = 0;
      const em = store.database.orm.em;
      const fork = em.fork.bind(em);
      em.fork = ((...given: Parameters<typeof fork>) => {
        const made = fork(...given);
        const execute = made.execute.bind(made);
        made.execute = ((...query: Parameters<typeof execute>) => {
          count += 1;
          return execute(...query);
        }) as typeof made.execute;
        return made;
      }) as typeof em.fork;
      try {
        await readTimeline(store, session, { after: 0, limit: 50 });
      } finally {
        em.fork = fork as typeof em.fork;
      }
      counts.push(count);
    }
    expect(counts[0]).toBeGreaterThan(3);
    expect(counts[1]).toBe(counts[0]);
  });

  test('no page of a session is there for somebody of another tenant, or for a user whose it is not', async () => {
    const agent = scriptedAgent(eachRun('yes'));
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await (await session.send('a secret of ours')).result();
    const paths = ['', '/at/1', '/verify', '/entries', '/events'].map(
      (path) => `/sessions/${session.sessionId}${path}`,
    );
    const others = [
      pagesOf(runtime, 'other'),
      pagesOf(runtime, 'tenant', { viewer: { tenantId: 'tenant', userId: 'somebody else', by: 'grace' } }),
    ];
    for (const get of others) {
      for (const path of paths) {
        const { status, page } = await get(path);
        expect([path, status]).toEqual([path, 404]);
        expect(page).not.toContain('a secret of ours');
      }
    }
  });

  test('what is erased is said to be erased, and a moment after it still has its picture', async () => {
    const agent = scriptedAgent(eachRun('yes'));
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent, { userId: 'forgotten' });
    await (await session.send('my address')).result();
    await session.complete({ by: 'grace' });
    await runtime.eraseUser({ tenantId: 'tenant', userId: 'forgotten', by: 'grace' });
    const get = pagesOf(runtime);
    const { page } = await get(`/sessions/${session.sessionId}`);
    expect(page).toContain('The payload of this transition was erased');
    expect(page).not.toContain('my address');
    const moment = await get(`/sessions/${session.sessionId}/at/1`);
    expect(moment.status).toBe(200);
    expect(moment.page).toContain('a payload up to here was erased');
    expect(moment.page).toContain('data-state="PLANNING" data-active="true"');
  });

  test('verification says what was looked at, and what is wrong', async () => {
    const agent = scriptedAgent(eachRun('yes'));
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await (await session.send('hello')).result();
    const get = pagesOf(runtime);
    expect((await get(`/sessions/${session.sessionId}/verify`)).page).toContain('All of it is as it should be');
    await database().query(
      `WITH off AS (SELECT set_config('session_replication_role', 'replica', true))
       UPDATE turnlock.agent_turns SET content = 'hullo' FROM off WHERE session_id = $1 AND turn_index = 0`,
      [session.sessionId],
    );
    const { page } = await get(`/sessions/${session.sessionId}/verify`);
    expect(page).toContain('TURNS_DIFFER');
    expect(page).toContain(`href="/sessions/${session.sessionId}/at/1"`);
  });
});

function earlier(page: string): string | null {
  const link = /rel="prev" href="([^"]+)"/.exec(page)?.[1];
  return link === undefined ? null : link.replaceAll('&amp;', '&');
}
