import { httpHandler, serve } from 'turnlock/http';
import { inspector } from 'turnlock/inspector';
import { endWithParent, sayReady } from './child.ts';
import { buildPage } from './page.ts';
import { openRuntime, PAYMENTS_URL } from './runtime.ts';
import { cookieOf, USERS, userOf } from './users.ts';

/*
 * The process that requests come to: the page, the sessions by HTTP, and the inspector. It drives no run: what is sent is stored, a worker
 * does it, and this process hears of each commit. With `drive: true` it would run what it sends, and its page would see every word at once.
 */

/** What the page may load: what this process serves, and nothing else. */
const POLICY = `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

let workers: { name: string; pid: number | null }[] = [];
process.on('message', (message: { workers?: typeof workers }) => {
  workers = message.workers ?? workers;
});

async function open() {
  const [runtime, files] = await Promise.all([openRuntime({ drive: false }), buildPage()]);
  const sessions = httpHandler(runtime, {
    basePath: '/api',
    chat: { agent: 'support' },
    authenticate(request) {
      const user = userOf(request);
      return user && { tenantId: user.tenantId, userId: user.userId, by: user.userId, roles: user.roles };
    },
  });
  const inspect = inspector(runtime, {
    basePath: '/inspector',
    decide: true,
    authenticate(request) {
      const user = userOf(request); // sees what everybody of the shop does
      return user && { tenantId: user.tenantId, by: user.userId, roles: user.roles };
    },
  });

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const [, top = '', name = ''] = pathname.split('/');
    if (top === 'api') return await sessions(request);
    if (top === 'inspector') return await inspect(request);
    if (top === 'sign-in' && request.method === 'POST') return await signIn(request);
    if (top === 'desk') return await surroundings(request);
    if (top === 'workers' && request.method === 'POST' && userOf(request) !== null) return kill(name);
    const file = files.get(top === 'c' ? '/' : pathname);
    if (file === undefined) return new Response('There is no such page.', { status: 404 });
    const headers = { 'content-type': file.type, 'content-security-policy': POLICY, 'cache-control': 'no-cache' };
    return new Response(file.body, { headers });
  }

  const served = await serve(answer, { port: Number(process.env.PORT ?? 0) });
  return { runtime, served };
}

/** Whoever is named is believed. */
async function signIn(request: Request): Promise<Response> {
  const form = new URLSearchParams(await request.text());
  return new Response(null, {
    status: 303,
    headers: { location: '/', 'set-cookie': cookieOf(form.get('user') ?? '') },
  });
}

/** What the page shows around a conversation. */
async function surroundings(request: Request): Promise<Response> {
  const user = userOf(request);
  if (user === null) return Response.json({ user, users: USERS, workers: [], ledger: [] });
  const { ledger } = (await (await fetch(PAYMENTS_URL)).json()) as { ledger: object[] };
  return Response.json({ user, users: USERS, workers, ledger });
}

/** `kill -9`, as a machine that loses its power would do it. A service has no such thing. */
function kill(name: string): Response {
  const pid = workers.find((worker) => worker.name === name)?.pid;
  if (typeof pid !== 'number') return new Response(null, { status: 404 });
  process.kill(pid, 'SIGKILL');
  return new Response(null, { status: 204 });
}

const opening = open();
endWithParent(opening, async ({ runtime, served }) => {
  await served.close();
  await runtime.close();
});
sayReady({ url: (await opening).served.url });
