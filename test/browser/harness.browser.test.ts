import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { atTestEnd } from '../support/at-test-end.ts';
import { waitFor } from '../support/wait-for.ts';
import { barriersOf, browserForFile, overflowOf, PHONE, watch } from './browser.ts';

const openPage = browserForFile();
let origin = '';
beforeAll(async () => {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/' ? 200 : 404, { 'content-type': 'text/html' });
    response.end(
      '<!doctype html><html lang="en"><title>Page</title><link rel="icon" href="data:,"><main><h1>Page</h1></main></html>',
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  atTestEnd(() => void server.close());
});

test('the harness notices each error of a page, and each request that leaves the machine', async () => {
  const page = await openPage({ tolerates: /./ });
  const problems = watch(page.context());
  await page.goto(origin);
  const provoked: [script: string, problem: RegExp][] = [
    [`setTimeout(() => { throw new Error('thrown') })`, /^uncaught: Error: thrown/],
    [`void Promise.reject(new Error('rejected'))`, /^uncaught: Error: rejected/],
    [`console.error('broken')`, /^console: broken/],
    [`new Image().src = 'https://example.com/x.png'`, /^outside request: https:\/\/example\.com/],
    [`void fetch('/missing')`, /^console: Failed to load resource: .*404.*missing/],
  ];
  for (const [script] of provoked) await page.evaluate(`{ ${script} }`);
  for (const [, problem] of provoked) {
    await waitFor(() => problems.some((found) => problem.test(found)), { for: String(problem) });
  }
  expect(problems).toHaveLength(6); // the image is a failure of its own as well
});

test('the harness notices what nobody can read, and what is too wide for a phone', async () => {
  const page = await openPage({ viewport: PHONE });
  await page.goto(origin);
  expect([await barriersOf(page), await overflowOf(page)]).toEqual([[], 0]);
  await page.setContent(`<!doctype html><html lang="en"><title>Page</title><main><h1>Page</h1>
    <input><p style="width: 500px; color: #ddd; background: #fff">text</p></main></html>`);
  const barriers = await barriersOf(page);
  expect(new Set(barriers.map((barrier) => barrier.split(':')[0]))).toEqual(new Set(['label', 'color-contrast']));
  expect(await overflowOf(page)).toBeGreaterThan(100);
});
