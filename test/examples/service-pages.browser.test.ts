import { mkdirSync, writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { barriersOf, browserForFile, DESKTOP, type OpenOptions, overflowOf, PHONE } from '../browser/browser.ts';
import { smallPng } from '../browser/small-png.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { waitFor } from '../support/wait-for.ts';
import { type ServiceExample, startService } from './start-service.ts';

/*
 * The pages of the example and of its inspector, with conversations that are always the same. `npm run docs:screenshots` takes the pictures of
 * docs/images of them; CI looks at them in two of the four ways.
 */

const IMAGES = 'docs/images';
const takesPictures = process.env.TURNLOCK_SCREENSHOTS === '1';

const openPage = browserForFile();
let service: ServiceExample;
let refunded = '';

beforeAll(async () => {
  const { url } = await freshDatabase();
  service = await startService({ DATABASE_URL: url });
  await service.answerAfter(600_000);
  const killed = say('ana', 'broken-vase', 'Order 42 arrived broken. Please refund it.');
  const { worker } = await waitFor(async () => (await service.surroundings()).ledger.find(isBooked), {
    for: 'the refund to be booked',
    timeoutMs: 30_000,
  });
  process.kill(service.pids.get(worker) as number, 'SIGKILL');
  await killed;
  await say('bo', 'stolen-bicycle', 'My bicycle never came. Please refund order 44.');
  await say('ana', 'wardrobe', 'The wardrobe is too large. Please refund order 46.');
  await say('ana', 'question', 'What is order 45?');
  refunded = ((await (await asked('ana', '/api/chat/broken-vase')).json()) as { sessionId: string }).sessionId;
}, 180_000);

const isBooked = ({ type }: { type: string }) => type === 'booked';

function asked(user: string, path: string, body?: object): Promise<Response> {
  const headers = { cookie: `desk-user=${user}`, 'content-type': 'application/json' };
  return fetch(
    service.url + path,
    body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) },
  );
}

/** Sends a message as the page does; resolves when the conversation rests. */
async function say(user: string, id: string, text: string): Promise<void> {
  const messages = [{ id: `message-${id}`, role: 'user', parts: [{ type: 'text', text }] }];
  await (await asked(user, '/api/chat', { id, trigger: 'submit-message', messages })).text();
}

/** Opens a page of the service as Ana. */
async function openAsAna(options: OpenOptions): Promise<Page> {
  const page = await openPage(options);
  await page.context().addCookies([{ name: 'desk-user', value: 'ana', url: service.url }]);
  return page;
}

const SCENES = [
  { name: 'desk', path: () => '/c/wardrobe', shows: 'Approve' },
  { name: 'sessions', path: () => '/inspector', shows: 'stolen-bicycle' },
  { name: 'session', path: () => `/inspector/sessions/${refunded}`, shows: 'worker.tookOver' },
  { name: 'moment', path: () => `/inspector/sessions/${refunded}/at/5`, shows: 'As it was after 5' },
  { name: 'awaiting', path: () => '/inspector/awaiting', shows: 'More than 100 euros' },
];

const WAYS = [
  { way: 'desktop-light', viewport: DESKTOP, colorScheme: 'light' },
  { way: 'phone-dark', viewport: PHONE, colorScheme: 'dark' },
  { way: 'desktop-dark', viewport: DESKTOP, colorScheme: 'dark' },
  { way: 'phone-light', viewport: PHONE, colorScheme: 'light' },
] as const;

test.each(WAYS.slice(0, takesPictures ? 4 : 2))(
  'every page has no barrier and nothing to scroll sideways: $way',
  {
    timeout: takesPictures ? 300_000 : 120_000,
  },
  async ({ way, ...options }) => {
    const page = await openAsAna(options);
    for (const { name, path, shows } of SCENES) {
      await page.goto(service.url + path());
      await page.getByText(shows).filter({ visible: true }).first().waitFor();
      const found = { name, barriers: await barriersOf(page), overflow: await overflowOf(page) };
      expect(found).toEqual({ name, barriers: [], overflow: 0 });
      if (takesPictures) await takePicture(page, `${name}-${way}`);
    }
  },
);

async function takePicture(page: Page, name: string): Promise<void> {
  const png = await page.screenshot();
  const drawing = await page.context().newPage(); // the policy of ours lets no picture be decoded
  mkdirSync(IMAGES, { recursive: true });
  writeFileSync(`${IMAGES}/${name}.png`, await smallPng(drawing, png));
  await drawing.close();
}

test('the page that asks who you are has no barrier', async () => {
  const page = await openPage({ viewport: PHONE });
  await page.goto(service.url);
  await page.getByRole('button', { name: /^Bo/ }).waitFor();
  expect([await barriersOf(page), await overflowOf(page)]).toEqual([[], 0]);
});

test('the inspector is whole without JavaScript: list, session, moment, and a decision', async () => {
  const page = await openAsAna({ javaScriptEnabled: false });
  await page.goto(`${service.url}/inspector`);
  await page.getByRole('searchbox').fill('broken-vase');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('link', { name: 'broken-vase' }).click();
  await page.getByText('Done: order 42 is paid back, 31.50 EUR.', { exact: true }).waitFor();
  await page.getByRole('link', { name: /^#3/ }).click();
  await page.getByRole('heading', { name: 'As it was after 3' }).waitFor();
  await page.getByRole('link', { name: 'After' }).click();
  await page.getByRole('heading', { name: 'As it was after 4' }).waitFor();
  await page.goto(`${service.url}/inspector/awaiting`);
  await page.getByRole('button', { name: 'Approve' }).first().click();
  await waitFor(
    async () =>
      (await service.surroundings()).ledger.find(({ type, orderId }) => type === 'booked' && orderId !== '42'),
    {
      for: 'the approved refund to be booked',
      timeoutMs: 30_000,
    },
  );
  expect((await service.surroundings()).ledger.filter(isBooked)).toHaveLength(2);
});
