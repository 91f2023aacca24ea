import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { serve } from '../../../../adapters/http/serve.ts';
import { inspector } from '../../../../adapters/inspector/inspector.ts';
import type { Runtime } from '../../../../index.ts';
import { barriersOf, browserForFile, DESKTOP, overflowOf, PHONE } from '../../../browser/browser.ts';
import { atTestEnd } from '../../../support/at-test-end.ts';
import { onPostgres } from '../../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../../support/runtime-open.ts';
import { eachRun } from '../../../support/runtime-script.ts';
import { supportAgent } from './session-scene.ts';

const openPage = browserForFile();

/** What a connection says that is gone, and is tried again. */
const GONE = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/;

async function serveInspector(runtime: Runtime, port?: number) {
  const handler = inspector(runtime, { viewer: { tenantId: 'tenant', by: 'grace' } });
  const served = await serve(handler, port === undefined ? {} : { port });
  atTestEnd(() => served.close());
  return served;
}

const sequencesOn = (page: Page): Promise<number[]> =>
  page.$$eval('#timeline > li', (items) => items.map((item) => Number(item.getAttribute('data-sequence'))));

const upTo = (last: number): number[] => Array.from({ length: last }, (_, place) => place + 1);

async function shows(page: Page, sequence: number): Promise<void> {
  await page.waitForSelector(`#timeline > li[data-sequence="${sequence}"]`, { state: 'attached' });
}

onPostgres((database) => {
  test('an open page follows its session, also one that another process drives, and keeps focus, place and what is unfolded', async () => {
    const agent = scriptedAgent(eachRun('yes'));
    const [here, elsewhere] = [await openRuntime(database(), [agent]), await openRuntime(database(), [agent])];
    const session = await openSession(here, agent);
    await (await session.send('one')).result();
    const { url } = await serveInspector(here);
    const page = await openPage();
    await page.goto(`${url}/sessions/${session.sessionId}`);
    await page.waitForSelector('#follow[data-state="live"]');
    await page.click('#t1 .record > summary');
    await page.focus('#t1 .entry-moment');
    const place = await page.evaluate('scrollY');
    await (await (await elsewhere.session(session)).send('two')).result();
    await (await session.send('three')).result();
    await shows(page, 6);
    expect(await sequencesOn(page)).toEqual(upTo(6));
    expect(await page.evaluate('document.activeElement.className')).toBe('entry-moment');
    expect(await page.evaluate('scrollY')).toBe(place);
    expect(await page.getAttribute('#t1 .record', 'open')).not.toBeNull();
    await page.waitForSelector('#follow-says:text("The session is now: Idle.")', { state: 'attached' });
    expect(await page.textContent('#timeline-range')).toBe('1 to 6');
    await session.complete({ by: 'grace' });
    await page.waitForSelector('[data-state="COMPLETED"][data-active="true"]', { state: 'attached' });
    expect(await page.locator('[data-edge="IDLE COMPLETED"][data-lit="true"]').count()).toBe(1);
  });

  test('a page whose server went away says so, comes back, and has each transition once', async () => {
    const agent = scriptedAgent(eachRun('yes'));
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await (await session.send('one')).result();
    const first = await serveInspector(runtime);
    const page = await openPage({ tolerates: GONE });
    await page.goto(`${first.url}/sessions/${session.sessionId}`);
    await page.waitForSelector('#follow[data-state="live"]');
    await first.close();
    await page.waitForSelector('#follow[data-state="away"]');
    expect(await page.textContent('#follow-state')).toBe('Reconnecting');
    for (const text of ['two', 'three']) await (await session.send(text)).result();
    await serveInspector(runtime, Number(new URL(first.url).port));
    await page.waitForSelector('#follow[data-state="live"]');
    await (await session.send('four')).result();
    await shows(page, 8);
    expect(await sequencesOn(page)).toEqual(upTo(8));
  });

  test('arrow keys go along the transitions, each of which has an address of its own', async () => {
    const agent = scriptedAgent(eachRun('yes'));
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await (await session.send('one')).result();
    await (await session.send('two')).result();
    const { url } = await serveInspector(runtime);
    const page = await openPage();
    const at = (sequence: number) => `${url}/sessions/${session.sessionId}/at/${sequence}`;
    await page.goto(at(2));
    for (const [key, sequence] of [
      ['ArrowRight', 3],
      ['ArrowLeft', 2],
      ['End', 4],
      ['Home', 1],
    ] as const) {
      await page.keyboard.press(key);
      await page.waitForURL(at(sequence));
    }
    expect(await page.textContent('h1')).toContain('As it was after 1 of 4 transitions');
  });

  test('without its script a page is whole', async () => {
    const agent = supportAgent();
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await (await session.send('It arrived broken.')).result();
    const { url } = await serveInspector(runtime);
    const page = await openPage({ javaScriptEnabled: false });
    await page.goto(`${url}/sessions/${session.sessionId}`);
    const { version } = await session.status();
    expect(await page.locator('#timeline > li').count()).toBe(version);
    expect(await page.isVisible('#follow')).toBe(false);
    expect(await page.isVisible('.chart')).toBe(true);
  });

  test('nobody stumbles over the pages of a session, wide and light, narrow and dark', async () => {
    const agent = supportAgent();
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent, { externalId: `ticket-${'9'.repeat(80)}` });
    const { awaiting } = await (await session.send(`It arrived broken. ${'W'.repeat(400)}`)).result();
    await session.deny(awaiting[0]!.executionId, { by: 'grace', reason: 'No.' });
    const { url } = await serveInspector(runtime);
    for (const [viewport, colorScheme] of [
      [DESKTOP, 'light'],
      [PHONE, 'dark'],
    ] as const) {
      const page = await openPage({ viewport, colorScheme });
      for (const path of ['', '/at/3', '/verify']) {
        await page.goto(`${url}/sessions/${session.sessionId}${path}`);
        await page.$$eval('details', (all) => {
          for (const one of all) (one as { open?: boolean }).open = true;
        });
        expect([path, viewport.width, colorScheme, await barriersOf(page)]).toEqual([
          path,
          viewport.width,
          colorScheme,
          [],
        ]);
        expect([path, viewport.width, await overflowOf(page)]).toEqual([path, viewport.width, 0]);
      }
    }
  });
});
