import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { browserForFile } from '../browser/browser.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { waitFor } from '../support/wait-for.ts';
import { type ServiceExample, startService } from './start-service.ts';

/** Longer than any test: an answer that does not come before its worker is killed. */
const NEVER_MS = 600_000;

const openPage = browserForFile();
let service: ServiceExample;
beforeAll(async () => {
  const { url } = await freshDatabase();
  service = await startService({ DATABASE_URL: url });
}, 120_000);

/** Signs in on the page as somebody of the desk. */
async function signIn(page: Page, name: string): Promise<void> {
  await page.goto(service.url);
  await page.getByRole('button', { name: new RegExp(`^${name}`) }).click();
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
}

/** Begins a conversation with a message; resolves with its id. */
async function begin(page: Page, message: string): Promise<string> {
  await page.goto(service.url);
  await page.getByRole('textbox', { name: 'Message' }).fill(message);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/c/*');
  return new URL(page.url()).pathname.replace('/c/', '');
}

/** Opens the session of a conversation in the inspector, by its list. */
async function inspect(page: Page, id: string): Promise<Page> {
  const inspector = await page.context().newPage();
  await inspector.goto(`${service.url}/inspector/?q=${id}`);
  await inspector.getByRole('link', { name: id }).click();
  await inspector.getByRole('heading', { name: 'Statechart' }).waitFor();
  return inspector;
}

const stateOf = (inspector: Page, name: string) => inspector.locator('#standing').getByText(name);
const answerOf = (page: Page, text: string) => page.getByRole('article', { name: 'Assistant' }).getByText(text);

/** The types of the transitions that the timeline shows. */
async function typesOf(inspector: Page): Promise<(string | null)[]> {
  const entries = await inspector.locator('#timeline > li').all();
  return await Promise.all(entries.map((entry) => entry.getAttribute('data-type')));
}

/** Goes from element to element until the one with this text has the focus. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let tabs = 0; tabs < 30; tabs += 1) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate<string>('document.activeElement.textContent')) === text) return;
  }
  throw new Error(`nothing that can be reached by Tab is called ${text}`);
}

/** The lines of the ledger of the payments service about an order. */
async function ledgerOf(orderId: string) {
  return (await service.surroundings()).ledger.filter((entry) => entry.orderId === orderId);
}

test('a worker is killed while it refunds: the page gets its answer from another process, the inspector shows it live and travels back', async () => {
  const page = await openPage();
  await signIn(page, 'Ana');
  await service.answerAfter(NEVER_MS);
  const id = await begin(page, 'Order 42 arrived broken. Please refund it.');
  const inspector = await inspect(page, id);
  await stateOf(inspector, 'Running a tool').waitFor();
  const booked = await waitFor(async () => (await ledgerOf('42')).find(({ type }) => type === 'booked'), {
    for: 'the refund to be booked',
    timeoutMs: 30_000,
  });
  await page.reload(); // in the middle: what is under way is followed from its beginning
  await answerOf(page, 'That is a vase').waitFor();
  await page.getByRole('button', { name: `kill -9 ${booked.worker}` }).click();
  await inspector.locator('#timeline > li[data-type="worker.tookOver"]').last().waitFor();
  await stateOf(inspector, 'Idle').waitFor();
  await answerOf(page, 'Done: order 42 is paid back, 31.50 EUR.').waitFor();
  expect(await answerOf(page, 'That is a vase').count()).toBe(1);
  // Asked twice: by the one that is dead, and by whoever was first, the other worker or the one that was started in its place.
  const ledger = await ledgerOf('42');
  expect(ledger.map(({ type }) => type)).toEqual(['asked', 'booked', 'asked', 'known']);

  const types = await typesOf(inspector);
  expect(types.at(0)).toBe('user.messaged');
  expect(types.at(-1)).toBe('model.replied');
  await inspector.locator('.entry-moment').last().click();
  await inspector.getByRole('heading', { name: `As it was after ${types.length}` }).waitFor();
  for (let sequence = types.length - 1; sequence >= 1; sequence -= 1) {
    await inspector.keyboard.press('ArrowLeft');
    await inspector.getByRole('heading', { name: `As it was after ${sequence} of ${types.length}` }).waitFor();
  }
  await inspector.locator('.page-head').getByText('Planning').waitFor();
  await inspector.getByRole('link', { name: 'Now' }).click();
  await stateOf(inspector, 'Idle').waitFor();
});

test('a refund is approved with the keyboard alone, and denied; each is asked once, also after a reload', async () => {
  const page = await openPage();
  await signIn(page, 'Ana');
  await service.answerAfter(0);
  const id = await begin(page, 'Refund order 44, please.');
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await tabTo(page, 'Approve');
  await page.keyboard.press('Enter');
  await answerOf(page, 'Done: order 44 is paid back, 620.00 EUR.').waitFor();
  expect((await ledgerOf('44')).map(({ type }) => type)).toEqual(['asked', 'booked']);
  const inspector = await inspect(page, id);
  expect(await typesOf(inspector)).toContain('approval.granted');

  await begin(page, 'Refund order 49, please.');
  await page.getByRole('button', { name: 'Deny' }).click();
  await answerOf(page, 'I have not paid order 49 back').waitFor();
  expect(await ledgerOf('49')).toEqual([]);
});

test('who may not approve sees that it waits for somebody else, and a manager does it in the inspector; nobody of another shop sees any of it', async () => {
  const page = await openPage();
  await signIn(page, 'Bo');
  await service.answerAfter(0);
  const id = await begin(page, 'Refund order 54, please.');
  await page.getByText('Waits for somebody who may approve it.').waitFor();
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);

  const stranger = await openPage();
  await signIn(stranger, 'Cy');
  await stranger.goto(`${service.url}/inspector/?q=${id}`);
  await stranger.getByText('Nothing is called that').waitFor();

  const manager = await openPage();
  await signIn(manager, 'Ana');
  await manager.goto(`${service.url}/inspector/awaiting`);
  await manager.getByRole('button', { name: 'Approve' }).click();
  await answerOf(page, 'Done: order 54 is paid back, 620.00 EUR.').waitFor();
  expect((await ledgerOf('54')).map(({ type }) => type)).toEqual(['asked', 'booked']);
});
