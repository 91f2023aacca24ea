import { expect, test } from 'vitest';
import { inspect } from '../../../adapters/inspector/inspect.ts';
import type { InspectorOptions } from '../../../adapters/inspector/inspector-options.ts';
import type { Ground } from '../../../adapters/inspector/visit.ts';
import { type Environment, systemEnvironment } from '../../../environment.ts';
import { resolveLimits } from '../../../limits.ts';
import { ManualClock } from '../../../testing/clock/manual-clock.ts';
import { getPage, sendForm } from './inspect-page.ts';

const TOKEN = 'a secret of many letters';

/** An inspector of no database: whoever gets so far as to need one gets a page that says that it failed. */
function inspectNothing(options: InspectorOptions = {}, environment: Environment = systemEnvironment) {
  const store = { environment, limits: resolveLimits({}) } as unknown as Ground['store'];
  return inspect({ store, runtime: null, environment }, { onError: () => undefined, ...options });
}

const VIEWER = { tenantId: 'acme', by: 'ana' };

/** A page that needs no database. */
const PAGE = '/doctor';

test('without authentication it answers loopback names alone, whatever the address that leads here', async () => {
  const handler = inspectNothing();
  expect(handler.authenticates).toBe(false);
  for (const name of ['localhost', '127.0.0.1:4713', '[::1]', 'app.localhost:80']) {
    expect((await handler(new Request(`http://${name}${PAGE}`))).status, name).toBe(200);
  }
  for (const name of ['evil.example', 'localhost.evil.example', '10.0.0.1', '127.0.0.1.evil.example']) {
    expect((await handler(new Request(`http://${name}${PAGE}`))).status, name).toBe(403);
    const rebound = new Request(`http://127.0.0.1${PAGE}`, { headers: { host: name } });
    expect((await handler(rebound)).status, `as ${name}`).toBe(403);
  }
});

test('what is sent from a page of another site is refused before anything is done', async () => {
  const handler = inspectNothing({ decide: true, viewer: VIEWER });
  const foreign = [
    { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { origin: 'http://localhost:8080', 'sec-fetch-site': 'same-site' },
  ];
  for (const headers of foreign) {
    for (const path of ['/decide', '/doctor', '/sign-in']) {
      const answer = await sendForm(handler, path, { way: 'approve' }, headers);
      expect([path, answer.status]).toEqual([path, 403]);
      expect(await answer.text()).toContain('another site');
    }
  }
});

test('what a page of another site draws into itself is refused, and a link from there is followed', async () => {
  const handler = inspectNothing({ viewer: VIEWER });
  const look = (site: string, mode: string, dest: string) =>
    getPage(handler, PAGE, { headers: { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest } });
  for (const site of ['cross-site', 'same-site']) {
    for (const [mode, dest] of [
      ['no-cors', 'image'],
      ['cors', 'empty'],
      ['navigate', 'iframe'],
    ] as const) {
      expect((await look(site, mode, dest)).status, `${site} ${mode} ${dest}`).toBe(403);
    }
    expect((await look(site, 'navigate', 'document')).status).toBe(200);
  }
  expect((await look('same-origin', 'cors', 'empty')).status).toBe(200);
});

test('every answer has the policy of the pages: no script, style, frame or address but ours, and pages are not stored', async () => {
  const handler = inspectNothing();
  for (const path of [PAGE, '/nothing', '/', '/sessions/none', '/assets/inspector.0000000000000000.css']) {
    const { headers } = await handler(new Request(`http://localhost${path}`));
    const policy = headers.get('content-security-policy')?.split('; ') ?? [];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("base-uri 'none'");
    expect(policy.join(' ')).not.toMatch(/unsafe|https?:|data:|\*/);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
  }
});

test('pages name style and script by their digest, which a browser keeps for good', async () => {
  const handler = inspectNothing({ basePath: '/inspector' });
  const page = await getPage(handler, `/inspector${PAGE}`);
  const named = page.tags.flatMap(({ attributes }) =>
    [attributes.get('src'), attributes.get('href')].filter((path) => path?.includes('/assets/')),
  );
  expect(named).toHaveLength(3);
  for (const path of named) {
    expect(path).toMatch(/^\/inspector\/assets\/[a-z]+\.[0-9a-f]{16}\.[a-z]+$/);
    const { status, headers } = await handler(new Request(`http://localhost${path}`));
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
  }
  expect(page.tags.filter(({ name, attributes }) => name === 'script' && !attributes.has('src'))).toEqual([]);
  expect(page.tags.filter(({ name, attributes }) => name === 'style' || attributes.has('style'))).toEqual([]);
});

test('mounted at a path it links below it, whether the server cuts the path off or not', async () => {
  const handler = inspectNothing({ basePath: '/ops/inspector' });
  for (const path of [`/ops/inspector${PAGE}`, PAGE]) {
    const page = await getPage(handler, path);
    expect(page.status).toBe(200);
    const links = page.tags.flatMap(({ attributes }) =>
      ['href', 'src', 'action'].flatMap((name) => attributes.get(name) ?? []),
    );
    expect(links.filter((link) => !link.startsWith('/ops/inspector') && link !== '#main')).toEqual([]);
  }
});

test('with a token nothing is shown before it was given, by the form or as bearer', async () => {
  const handler = inspectNothing({ token: TOKEN, viewer: VIEWER });
  expect(handler.authenticates).toBe(true);
  const asked = await getPage(handler, `${PAGE}?tenant=acme`);
  expect([asked.status, asked.text.includes('Doctor')]).toEqual([401, false]);
  const bearer = (token: string) => getPage(handler, PAGE, { headers: { authorization: `Bearer ${token}` } });
  expect((await bearer(TOKEN)).status).toBe(200);
  expect((await bearer(`${TOKEN}!`)).status).toBe(401);
  const wrong = await sendForm(handler, '/sign-in', { token: 'another secret of letters' });
  expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([403, null]);
  const action = asked.tags.find(({ name }) => name === 'form')?.attributes.get('action') ?? '';
  const right = await sendForm(handler, action, { token: TOKEN });
  expect([right.status, right.headers.get('location')]).toEqual([303, `${PAGE}?tenant=acme`]);
  const cookie = right.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/^turnlock-inspector=[\w.-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
  expect(cookie).not.toContain(TOKEN);
  const signedIn = await getPage(handler, PAGE, { headers: { cookie: cookie.split(';')[0] ?? '' } });
  expect([signedIn.status, signedIn.text.includes('Sign out')]).toEqual([200, true]);
});

test('of a form by somebody who is not let in yet no more is read than a token needs', async () => {
  const handler = inspectNothing({ token: TOKEN, viewer: VIEWER });
  let chunks = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      chunks += 1;
      if (chunks > 64) controller.close();
      else controller.enqueue(new Uint8Array(4_096).fill(97));
    },
  });
  const init = { method: 'POST', body, duplex: 'half' } as RequestInit;
  const answer = await handler(new Request('http://localhost/sign-in', init));
  expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
  expect(chunks).toBeLessThan(8);
});

test('a sign-in ends after twelve hours, with another token, and where its cookie was changed', async () => {
  const environment = new ManualClock();
  const handler = inspectNothing({ token: TOKEN, viewer: VIEWER }, environment);
  const right = await sendForm(handler, '/sign-in', { token: TOKEN });
  const cookie = (right.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const look = (given: string, at = handler) => getPage(at, PAGE, { headers: { cookie: given } });
  expect((await look(cookie)).status).toBe(200);
  expect((await look(cookie.replace(/=\d/, '=9'))).status).toBe(401);
  expect((await look(cookie, inspectNothing({ token: `${TOKEN} too`, viewer: VIEWER }, environment))).status).toBe(401);
  environment.advance(12 * 60 * 60 * 1_000 + 1);
  expect((await look(cookie)).status).toBe(401);
});

test.each(['//evil.example', '/\\evil.example', 'https://evil.example', '/sign-out', 'javascript:alert(1)'])(
  'a sign-in never leads to %s',
  async (back) => {
    const handler = inspectNothing({ token: TOKEN, viewer: VIEWER });
    const answer = await sendForm(handler, `/sign-in?back=${encodeURIComponent(back)}`, { token: TOKEN });
    expect(answer.headers.get('location')).toBe('/');
  },
);

test('whom authenticate does not name is not let in; what it throws shows nothing', async () => {
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const nobody = inspectNothing({ authenticate: () => null, onError });
  expect((await getPage(nobody, PAGE)).status).toBe(401);
  const broken = inspectNothing({
    authenticate: () => Promise.reject(new Error('password of the directory')),
    onError,
  });
  const page = await getPage(broken, PAGE);
  expect([page.status, page.html.includes('password'), errors.length]).toEqual([500, false, 1]);
});

test('a viewer of one user’s sessions has neither doctor nor controls', async () => {
  const handler = inspectNothing({ authenticate: () => ({ ...VIEWER, userId: 'bo' }) });
  for (const path of ['/doctor', '/controls']) expect((await getPage(handler, path)).status).toBe(403);
  expect((await sendForm(handler, '/doctor', {})).status).toBe(403);
});

test.each([
  [{ token: 'short' }, 'token'],
  [{ token: TOKEN, authenticate: () => null }, 'token'],
  [{ basePath: 'inspector' }, 'basePath'],
  [{ basePath: '/inspector/' }, 'basePath'],
  [{ decide: true }, 'decide'],
  [{ decide: 'yes' as never, viewer: VIEWER }, 'decide'],
  [{ authenticate: 'me' as never }, 'authenticate'],
  [{ viewer: { tenantId: 'acme', by: '' } }, 'by'],
  [{ path: '/inspector' } as never, 'path'],
])('options that cannot be meant are refused: %j', (options, named) => {
  expect(() => inspectNothing(options)).toThrow(new RegExp(named));
});

test.each(['-999999999999999999', '999999999999999999', '1e3', ''])(
  'a place in the list that no link of ours names is refused: %j',
  async (micros) => {
    const path = `/?newer=${micros}.00000000-0000-4000-8000-000000000000`;
    expect((await getPage(inspectNothing({ viewer: VIEWER }), path)).status).toBe(422);
  },
);

test('without decide nothing can be sent', async () => {
  const answer = await sendForm(inspectNothing({ viewer: VIEWER }), '/decide', { way: 'approve' });
  expect(answer.status).toBe(422);
  expect(await answer.text()).toContain('read only');
});
