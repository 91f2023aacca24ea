import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../adapters/http/serve.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { ODD_TEXTS } from '../../support/odd-texts.ts';
import { STORED_VALUES } from '../../support/odd-values.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, scriptedAgent } from '../../support/runtime-open.ts';
import { httpScene, USER } from './http-scene.ts';

/** What of an odd value a client could send at all. */
function asSent(value: unknown): string | null {
  try {
    return JSON.stringify({ value }) ?? null;
  } catch {
    return null;
  }
}

describe('sessions by HTTP', () => {
  onPostgres((database) => {
    it('take or refuse every odd text, and never fail of one', async () => {
      const agent = scriptedAgent('ok');
      const { ask, errors } = httpScene(await openRuntime(database(), [agent]));
      const created = await ask('POST', '/sessions', { body: { agent: agent.name, userId: 'user' } });
      const path = created.headers.get('location')!;
      for (const { given: text } of ODD_TEXTS) {
        const metadata = { [text]: text };
        const odd = encodeURIComponent(text.toWellFormed());
        const all = [
          ask('POST', '/sessions', { body: { agent: agent.name, userId: text, externalId: text, metadata } }),
          ask('POST', `${path}/messages`, { body: { text, metadata }, headers: { prefer: 'respond-async' } }),
          ask('POST', `${path}/cancel`, { body: { reason: text } }),
          ask('GET', `/sessions?externalId=${odd}&userId=${odd}&agent=${odd}&messageId=${odd}`),
          ask('GET', `/chat/${odd}/stream`),
          ask('POST', '/chat', {
            as: USER,
            body: {
              id: text,
              agent: agent.name,
              messages: [{ id: text, role: 'user', parts: [{ type: 'file', url: text }] }],
            },
          }),
        ];
        for (const response of await Promise.all(all)) expect(response.status, text).toBeLessThan(500);
      }
      expect(errors).toEqual([]);
    });

    it('take or refuse every odd value, wherever it stands in a body', async () => {
      const agent = scriptedAgent('ok');
      const { ask, errors } = httpScene(await openRuntime(database(), [agent]));
      const created = await ask('POST', '/sessions', { body: { agent: agent.name, userId: 'user' } });
      const path = created.headers.get('location')!;
      const execution = `${path}/executions/00000000-0000-4000-8000-000000000000`;
      const headers = { 'content-type': 'application/json', prefer: 'respond-async' };
      for (const { name, make } of STORED_VALUES) {
        const sent = asSent(make());
        if (sent === null) continue;
        const value = sent.slice('{"value":'.length, -1) || 'null';
        const all = [
          ask('POST', '/sessions', { headers, raw: `{"agent":"${agent.name}","userId":"u","metadata":${value}}` }),
          ask('POST', `${path}/messages`, { headers, raw: `{"text":${value}}` }),
          ask('POST', `${execution}/approve`, { headers, raw: `{"digest":"d","params":${value}}` }),
          ask('POST', `${execution}/settle`, { headers, raw: `{"outcome":"succeeded","output":${value}}` }),
          ask('POST', '/chat', { as: USER, headers, raw: `{"id":"c","agent":"${agent.name}","messages":[${value}]}` }),
          ask('POST', '/chat', { headers, raw: value }),
        ];
        for (const response of await Promise.all(all)) expect(response.status, name).toBeLessThan(500);
      }
      expect(errors).toEqual([]);
    });

    it('refuse a body that is compressed, and say so', async () => {
      const { ask } = httpScene(await openRuntime(database(), [scriptedAgent('ok')]));
      for (const path of ['/sessions', '/chat']) {
        const response = await ask('POST', path, { body: {}, headers: { 'content-encoding': 'gzip' } });
        expect([response.status, ((await response.json()) as { detail: string }).detail]).toEqual([
          415,
          expect.stringContaining('gzip'),
        ]);
      }
    });

    it('are served under a path of another server, and name their places whole', async () => {
      const agent = scriptedAgent('ok');
      const { handler } = httpScene(await openRuntime(database(), [agent]), { basePath: '/agents' });
      const app = new Hono().mount('/agents', handler, { replaceRequest: false });
      const mounted = await serve(app.fetch);
      atTestEnd(() => mounted.close());
      const server = createServer(getRequestListener(handler)).listen(0, '127.0.0.1');
      atTestEnd(() => void server.close());
      await new Promise((resolve) => server.once('listening', resolve));
      for (const url of [mounted.url, `http://127.0.0.1:${(server.address() as AddressInfo).port}`]) {
        const headers = { authorization: `Bearer ${USER}`, 'content-type': 'application/json', origin: url };
        const post = (path: string, body: object) =>
          fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
        const place = (await post('/agents/sessions', { agent: agent.name })).headers.get('location');
        expect(place).toMatch(/^\/agents\/sessions\//);
        expect((await post(`${place}/messages`, { text: 'go' })).status).toBe(200);
        expect((await post(`${place}/complete`, {})).status).toBe(200);
        const events = await (await fetch(`${url}${place}/events`, { headers })).text();
        expect(events.match(/^id: \d+$/gm)).toEqual(['id: 1', 'id: 2', 'id: 3']);
      }
    });
  });
});
