import { expect, test } from 'vitest';
import { serve } from '../../../adapters/http/serve.ts';
import { inspector } from '../../../adapters/inspector/inspector.ts';
import { requireApproval } from '../../../index.ts';
import { barriersOf, browserForFile, overflowOf, PHONE } from '../../browser/browser.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';

const openPage = browserForFile();

onPostgres((database) => {
  test('a question does not slide away under the pointer when one above it is decided elsewhere', async () => {
    const refund = looseTool('refund', () => 1, { policy: () => requireApproval() });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('refund', { order: 1 }), call('refund', { order: 2 })] }), [
      refund,
    ]);
    const runtime = await openRuntime(database(), [agent]);
    const tenantId = 'pointed-at';
    const session = await openSession(runtime, agent, { tenantId });
    await (await session.send('refund')).result();
    const [first, second] = await runtime.awaiting({ tenantId });
    const handler = inspector(runtime, { viewer: { tenantId, by: 'ana' }, decide: true });
    const served = await serve(handler);
    atTestEnd(() => served.close());
    const page = await openPage({ viewport: PHONE });
    for (const path of ['/', '/doctor', '/controls', '/awaiting']) {
      await page.goto(served.url + path);
      expect([path, await barriersOf(page), await overflowOf(page)]).toEqual([path, [], 0]);
    }
    const button = page.locator(`#ask-${second?.approvalId} button:text-is("Approve")`);
    await button.hover();
    await session.deny(first?.executionId ?? '', { by: 'bo', reason: 'No claim.' });
    // To pause updates and go on asks for them at once. What is put in place then holds one question less.
    const update = async (): Promise<void> => {
      const fetched = page.waitForResponse((response) => response.url().endsWith('/awaiting'));
      await page.focus('#live-toggle');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Enter');
      await (await fetched).finished();
    };
    await update();
    await update();
    expect(await page.locator('.ask').count()).toBe(2);
    await page.mouse.move(5, 5);
    await update();
    await page.waitForSelector(`#ask-${first?.approvalId}`, { state: 'detached' });
    await button.click();
    await page.waitForURL(/\/decided\//);
    expect(await page.textContent('h1')).toContain('Approved: refund');
  });
});
