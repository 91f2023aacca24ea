import { beforeAll, expect, test } from 'vitest';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { serve } from '../../../adapters/http/serve.ts';
import { inspector } from '../../../adapters/inspector/inspector.ts';
import { scripted } from '../../../adapters/models/scripted.ts';
import { createRuntime, defineAgent } from '../../../index.ts';
import { browserForFile, DESKTOP, overflowOf, PHONE } from '../../browser/browser.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { type OddSession, storeOddSession } from '../../support/odd-session.ts';
import { type HostileSession, storeHostileSession } from './hostile-session.ts';

/** What a page must not hold, since it would act or stand elsewhere: control characters but line ends and tabs, directions of writing. */
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Cs}\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;

const openPage = browserForFile();
let origin = '';
let odd: OddSession;
let hostile: HostileSession;

beforeAll(async () => {
  const { url } = await freshDatabase();
  odd = await storeOddSession(postgres(url));
  hostile = await storeHostileSession(postgres(url));
  const agent = defineAgent({ name: 'other', model: scripted('x'), instructions: 'x' });
  const runtime = await createRuntime({ database: postgres(url), agents: [agent], onWarning: () => undefined });
  atTestEnd(() => runtime.close());
  const served = await serve(inspector(runtime, { decide: true, viewer: { tenantId: null, by: 'eva' } }));
  atTestEnd(() => served.close());
  origin = served.url;
}, 120_000);

/** The addresses of the pages that show a session: itself, how it was after each of its first transitions, and what is verified. */
function pagesOf({ sessionId, tenantId }: { sessionId: string; tenantId: string }): string[] {
  const tenant = new URLSearchParams({ tenant: tenantId });
  const below = ['', '?after=0', '/at/2', '/at/4', '/verify'];
  return below.map((path) => `${origin}/sessions/${sessionId}${path}${path.includes('?') ? '&' : '?'}${tenant}`);
}

test.each([
  ['desktop', DESKTOP],
  ['phone', PHONE],
])(
  'C39 the list and the pages of a session show every odd value on a %s, and no character that acts',
  async (_, viewport) => {
    const page = await openPage({ viewport });
    await page.goto(`${origin}/?${new URLSearchParams({ tenant: odd.tenantId })}`);
    const link = page.getByRole('link', { name: 'ok 😀👩‍👩‍👧🏳️‍🌈', exact: false });
    expect(await link.first().isVisible()).toBe(true);
    const texts = [(await page.locator('body').textContent()) ?? ''];
    await link.first().click();
    for (const address of pagesOf(odd)) {
      const answer = await page.goto(address);
      expect([answer?.status(), address]).toEqual([200, address]);
      expect([await overflowOf(page), address]).toEqual([0, address]);
      texts.push((await page.locator('body').textContent()) ?? '');
    }
    for (const text of texts) expect(text).not.toMatch(UNSAFE);
    const shown = texts.join('\n');
    for (const part of ['</script><b>&amp;', String.raw`\u001b[31m`, String.raw`\u202e`, `'); DROP TABLE`, 'a Map']) {
      expect(shown).toContain(part);
    }
  },
);

test('C39 markup that is stored anywhere is shown as text, and nothing of it runs, loads or is followed', async () => {
  const page = await openPage();
  const tenant = new URLSearchParams({ tenant: hostile.tenantId });
  const addresses = [
    `/?${tenant}`,
    `/awaiting?${tenant}`,
    `/?q=${encodeURIComponent(hostile.externalId)}`,
    `/?agent=${encodeURIComponent(hostile.markup)}`,
    `/doctor?${tenant}`,
    `/controls?${tenant}`,
  ];
  for (const address of [...addresses.map((path) => origin + path), ...pagesOf(hostile)]) {
    const answer = await page.goto(address);
    expect([answer?.status(), address]).toEqual([200, address]);
    await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true');
    expect(await page.locator('#planted, [onerror], [onload], [onmouseover], a[href^="javascript:"]').count()).toBe(0);
    expect(await page.evaluate('window.hostile')).toBeUndefined();
  }
  expect(await page.locator('body').textContent()).toContain('<img id=planted');
});
