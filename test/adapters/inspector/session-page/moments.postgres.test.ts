import { expect, test } from 'vitest';
import { beginFold, foldTransitions } from '../../../../machines/fold-transitions.ts';
import { SESSION_MACHINE_VERSION } from '../../../../machines/session.machine.ts';
import { foldSessionAt } from '../../../../persistence/fold-session-at.ts';
import { servicesOf } from '../../../../runtime/services-of.ts';
import { onPostgres } from '../../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../../support/runtime-open.ts';
import { eachRun } from '../../../support/runtime-script.ts';
import { pagesOf, supportAgent } from './session-scene.ts';

onPostgres((database) => {
  test('each moment of a session shows the state, the way, the calls and the turns as they were then', async () => {
    const agent = supportAgent();
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const { awaiting } = await (await session.send('It arrived broken.')).result();
    const { executionId, digest } = awaiting[0]!;
    await (await session.approve(executionId, { by: 'grace', digest })).result();
    const get = pagesOf(runtime);
    const transitions = await session.transitions();
    for (const { sequence, from, to } of transitions) {
      const { status, page } = await get(`/sessions/${session.sessionId}/at/${sequence}`);
      expect(status).toBe(200);
      expect(page).toContain(`data-state="${to}" data-active="true"`);
      const lit = page.match(/data-edge="([^"]+)" data-lit="true"/)?.[1] ?? null;
      expect(lit).toBe(from === to ? null : `${from} ${to}`);
      expect(page.includes('Let me look.')).toBe(sequence > 1);
      expect(page.includes('It is on its way.')).toBe(sequence === transitions.length);
    }
    const running = transitions.find(({ type }) => type === 'model.calledTools')!;
    const then = (await get(`/sessions/${session.sessionId}/at/${running.sequence}`)).page;
    expect(then).toMatch(
      /<code><bdi>lookup<\/bdi><\/code> <span class="badge badge-busy" title="RUNNING">Running<\/span>/,
    );
    expect(then).toContain('call lookup');
  });

  test('a moment links to those before and after it, and one that is not there is not found', async () => {
    const agent = scriptedAgent(eachRun('yes'));
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    for (let turn = 0; turn < 2; turn += 1) await (await session.send('hello')).result();
    const get = pagesOf(runtime);
    const at = (sequence: number | string) => `/sessions/${session.sessionId}/at/${sequence}`;
    const { page } = await get(at(2));
    for (const [rel, sequence] of [
      ['first', 1],
      ['prev', 1],
      ['next', 3],
      ['last', 4],
    ]) {
      expect(page).toContain(`href="${at(sequence!)}" rel="${rel}"`);
    }
    expect((await get(at(4))).page).not.toContain('rel="next"');
    for (const wrong of [0, 5, 'x', '1e1', -1, '99999999999']) expect((await get(at(wrong))).status).toBe(404);
  });

  test('a fold goes on from one that was kept, and comes to what a fold from the begin comes to', async () => {
    const agent = scriptedAgent(eachRun('yes'));
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    for (let turn = 0; turn < 3; turn += 1) await (await session.send('hello')).result();
    const { store } = servicesOf(runtime);
    const transitions = await session.transitions();
    const kept = await foldSessionAt(store, session, { sequence: 3 });
    for (let sequence = 1; sequence <= 6; sequence += 1) {
      const folded = await foldSessionAt(store, session, { sequence, from: kept });
      const whole = foldTransitions(beginFold(SESSION_MACHINE_VERSION), transitions.slice(0, sequence));
      const before = foldTransitions(beginFold(SESSION_MACHINE_VERSION), transitions.slice(0, sequence - 1));
      expect(JSON.stringify(folded?.after.held)).toBe(JSON.stringify(whole.held));
      expect(JSON.stringify(folded?.before.held)).toBe(JSON.stringify(before.held));
    }
    expect(await foldSessionAt(store, session, { sequence: 7 })).toBeNull();
    const stranger = { ...kept!, hash: 'of another row' };
    expect((await foldSessionAt(store, session, { sequence: 4, from: stranger }))?.after.folded).toBe(4);
  });
});
