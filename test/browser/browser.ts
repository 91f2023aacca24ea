import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { CHROMIUM } from '../support/chromium-there.setup.ts';

/** How a page is opened. */
export interface OpenOptions extends BrowserContextOptions {
  /** Errors that a test provokes: the text of one must fit to be let pass. Default: none is. */
  readonly tolerates?: RegExp;
}

/** Widths of the screens that the pages are made for. */
export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** No name leads anywhere, whoever asks; loopback is reached by its number. */
const ARGS = [
  '--no-sandbox',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--force-prefers-reduced-motion',
];

/** Starts a browser that nothing outside the machine can be reached with. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ARGS });
}

/**
 * One browser for the test file; the result opens a page in a profile of its own, which is closed at the test's end. The test fails when a
 * page of it wrote an error to its console, threw one that nobody caught, or asked for anything beyond loopback.
 */
export function browserForFile(): (options?: OpenOptions) => Promise<Page> {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => await browser.close());
  return async ({ tolerates, ...options } = {}) => {
    const context = await browser.newContext({ viewport: DESKTOP, ...options });
    const problems = watch(context);
    onTestFinished(async () => {
      await context.close();
      expect(problems.filter((problem) => !tolerates?.test(problem))).toEqual([]);
    });
    return await context.newPage();
  };
}

/** Everything that goes wrong in the pages of `context` from now on, in words. */
export function watch(context: BrowserContext): readonly string[] {
  const problems: string[] = [];
  context.on('console', (message) => {
    const { url } = message.location();
    if (message.type() === 'error') problems.push(`console: ${message.text()} (${url})`);
  });
  context.on('weberror', (error) => problems.push(`uncaught: ${error.error().stack}`));
  context.on('request', (request) => {
    if (!isOfThisMachine(request.url())) problems.push(`outside request: ${request.url()}`);
  });
  return problems;
}

function isOfThisMachine(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return ['data:', 'blob:', 'about:'].includes(protocol) || ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}

/** What axe-core finds at the page as it stands that people with a disability would stumble over badly, one line for each element. */
export async function barriersOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, { resultTypes: ['violations'] })`);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html}`));
}

/** By how many CSS pixels the page is wider than its window: 0 where nothing has to be scrolled sideways. */
export async function overflowOf(page: Page): Promise<number> {
  return await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
