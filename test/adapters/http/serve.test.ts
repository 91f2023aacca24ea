import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../adapters/http/serve.ts';

const hello = () => new Response('hello');

/** An event stream that never ends by itself. */
function stream(onCancel: () => void = () => undefined): Response {
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')),
    cancel: onCancel,
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

describe('serve', () => {
  it('listens on loopback, on a port that is free', async () => {
    await using served = await serve(hello);
    expect(served.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await (await fetch(served.url)).text()).toBe('hello');
  });

  it('lets nobody but an authenticating handler be reached beyond loopback', async () => {
    await expect(serve(hello, { host: '0.0.0.0' })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining('0.0.0.0'),
    });
    const closed = Object.assign(async () => hello(), { authenticates: true as const });
    await using served = await serve(closed, { host: '0.0.0.0' });
    expect(served.url).toMatch(/^http:\/\/0\.0\.0\.0:/);
  });

  it('says which address is not available', async () => {
    await using served = await serve(hello);
    const port = Number(new URL(served.url).port);
    await expect(serve(hello, { port })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining('EADDRINUSE'),
    });
    await expect(serve(hello, { port: 70_000 })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  it('answers what a handler throws without its words, and tells the host', async () => {
    const told: unknown[] = [];
    const failing = () => {
      throw new Error('secret');
    };
    await using served = await serve(failing, { onError: (error) => told.push(error) });
    const response = await fetch(served.url);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('secret');
    expect(told).toEqual([new Error('secret')]);
  });

  it('ends open event streams when it closes, as a whole answer', async () => {
    const served = await serve(() => stream());
    const response = await fetch(served.url);
    const text = response.text();
    await served.close();
    expect(await text).toBe('data: 1\n\n');
    await expect(fetch(served.url)).rejects.toThrow();
    await served.close();
  });

  it('tells a stream that its reader has gone', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await using served = await serve(() => stream(resolve));
    const controller = new AbortController();
    await fetch(served.url, { signal: controller.signal });
    controller.abort();
    await promise;
    expect(await (await fetch(served.url).then((response) => response.body?.getReader().read()))?.done).toBe(false);
  });

  it('makes no more of a stream than its reader takes', async () => {
    let made = 0;
    const chunk = new Uint8Array(65_536).fill(46);
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      made += 1;
      controller.enqueue(chunk);
    };
    const headers = { 'content-type': 'text/event-stream' };
    await using served = await serve(
      () => new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { headers }),
    );
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await once(socket, 'readable');
    for (let before = -1; before !== made; await pause(100)) before = made;
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(1_000);
    socket.destroy();
  });

  it('keeps no connection for a next request once it closes, so nothing but the last answer is waited for', async () => {
    const { promise: answer, resolve } = Promise.withResolvers<Response>();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const served = await serve(
      () => {
        ask();
        return answer;
      },
      { closeMs: 600_000 },
    );
    const response = fetch(served.url);
    await asked;
    const closed = served.close();
    resolve(hello());
    expect((await response).headers.get('connection')).toBe('close');
    expect(await (await response).text()).toBe('hello');
    await closed;
  });

  it('cuts, when it closes, what does not come to its end', async () => {
    const served = await serve(() => new Promise<Response>(() => undefined), { closeMs: 20 });
    const hanging = fetch(served.url);
    hanging.catch(() => undefined);
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    await served.close();
    await expect(hanging).rejects.toThrow();
    socket.destroy();
  });

  it('survives a stream that fails and bytes that are no HTTP', async () => {
    const chunks = [new TextEncoder().encode('data: 1\n\n')];
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      const chunk = chunks.pop();
      if (chunk === undefined) controller.error(new Error('broken'));
      else controller.enqueue(chunk);
    };
    const headers = { 'content-type': 'text/event-stream' };
    const told: unknown[] = [];
    await using served = await serve(
      (request) =>
        new URL(request.url).pathname === '/broken'
          ? new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { headers })
          : hello(),
      { onError: (error) => told.push(error) },
    );
    const text = await fetch(`${served.url}/broken`).then((response) => response.text());
    expect(text).not.toContain('broken');
    expect(told).toEqual([new Error('broken')]);
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.end('\u0000 no http at all\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    expect((await fetch(served.url)).status).toBe(200);
  });
});
