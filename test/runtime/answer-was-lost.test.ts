import { createServer, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { TurnlockError } from '../../errors.ts';
import { answerWasLost } from '../../runtime/answer-was-lost.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { freePort } from '../support/free-port.ts';

const withCode = (code: string, more: object = {}) => Object.assign(new Error('no'), { code, ...more });
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause });
const endless = new Error('endless');
endless.cause = endless;
const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();

test.each<[string, unknown]>([
  ['a connection that broke', withCode('ECONNRESET')],
  ['a pipe that broke', withCode('EPIPE', { syscall: 'write' })],
  ['fetch, whose connection broke', fetchFailed(withCode('UND_ERR_SOCKET'))],
  ['fetch, whose answer did not begin', fetchFailed(withCode('UND_ERR_HEADERS_TIMEOUT'))],
  ['a body that did not end', new TypeError('terminated', { cause: withCode('UND_ERR_BODY_TIMEOUT') })],
  ['a time-out of the tool', new DOMException('too long', 'TimeoutError')],
  ['an abort of the tool', new DOMException('enough', 'AbortError')],
  ['a commit of ours', new TurnlockError('COMMIT_UNKNOWN', { message: 'no answer' })],
  ['a wrapped one', new Error('refund failed', { cause: fetchFailed(withCode('ECONNRESET')) })],
  ['one of several', new AggregateError([withCode('ECONNREFUSED'), withCode('ECONNRESET')])],
  ['one with a getter that throws before it', Object.defineProperty(withCode('ECONNRESET'), 'errors', { get: angry })],
])('%s says nothing about the act', (_, thrown) => {
  expect(answerWasLost(thrown)).toBe(true);
});

test.each<[string, unknown]>([
  ['a plain error', new Error('ECONNRESET')],
  ['a connection that was refused', fetchFailed(withCode('ECONNREFUSED', { syscall: 'connect' }))],
  ['a name that nobody knows', fetchFailed(withCode('ENOTFOUND', { syscall: 'getaddrinfo' }))],
  ['a connection that was not made in time', withCode('ETIMEDOUT', { syscall: 'connect' })],
  [
    'several addresses, none of which answered',
    Object.assign(new AggregateError([withCode('ETIMEDOUT', { syscall: 'connect' })]), { code: 'ETIMEDOUT' }),
  ],
  ['undici, which had no connection in time', fetchFailed(withCode('UND_ERR_CONNECT_TIMEOUT'))],
  ['a chain that never ends', endless],
  ['a proxy that was revoked', revoked],
  ['a code that objects have', withCode('constructor')],
  ['nothing', undefined],
  ['text', 'ECONNRESET'],
  ['getters that throw', Object.defineProperty(new Error('no'), 'code', { get: angry })],
])('%s is no answer that was lost', (_, thrown) => {
  expect(answerWasLost(thrown)).toBe(false);
});

test('what fetch throws today, of a receiver that goes away after it read the request, and of one that is not there', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.destroy()));
  const port = await listen(server);
  expect(answerWasLost(await thrownBy(() => fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: 'x' })))).toBe(
    true,
  );
  expect(answerWasLost(await thrownBy(async () => fetch(`http://127.0.0.1:${await freePort()}`)))).toBe(false);
});

test('what fetch throws today of a time-out of its own, and of an answer that breaks off', async () => {
  const silent = await listen(createServer(() => undefined));
  const timedOut = () => fetch(`http://127.0.0.1:${silent}`, { signal: AbortSignal.timeout(1) });
  expect(answerWasLost(await thrownBy(timedOut))).toBe(true);
  const brief = createServer((socket) => {
    socket.once('data', async () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf');
      await pause(1);
      socket.destroy();
    });
  });
  const port = await listen(brief);
  expect(answerWasLost(await thrownBy(async () => (await fetch(`http://127.0.0.1:${port}`)).text()))).toBe(true);
});

function angry(): never {
  throw new Error('do not look');
}

async function thrownBy(act: () => Promise<unknown>): Promise<unknown> {
  return await act().then(
    () => expect.fail('nothing was thrown'),
    (error: unknown) => error,
  );
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atTestEnd(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as { port: number }).port;
}
