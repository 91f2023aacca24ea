import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { linkToParent } from '../children/parent-link.ts';
import type { LedgerEntry } from './ledger.ts';
import { Payments } from './payments.ts';

/** What the payments service can be asked by whoever stages the demonstration. */
export type PaymentsMethods = {
  /** Serves on a loopback port. `refundMs`: how long the answer to a refund takes after it was booked; 0 where it is left out. */
  open(question: { ledgerFile: string; refundMs?: number }): Promise<{ port: number }>;
  /** Makes the answer to the next refund that is booked take so long: after it was booked. */
  delayNextAnswer(question: { ms: number }): Promise<null>;
};

/** What it tells: each entry, once it is on the disk. */
export type PaymentsNotices = { wrote: LedgerEntry };

let payments: Payments;
let refundMs = 0;
let delayMs = 0;

const parent = linkToParent<PaymentsNotices>({
  async open({ ledgerFile, refundMs: ms = 0 }: Parameters<PaymentsMethods['open']>[0]) {
    refundMs = ms;
    payments = new Payments(ledgerFile, (entry) => void parent.tell('wrote', entry));
    const server = createServer((request, response) => {
      serve(request, response).catch(() => response.destroy()); // its caller was killed in the middle of a request
    });
    server.keepAliveTimeout = 0; // never: a request must not meet a connection that is being closed
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { port: (server.address() as AddressInfo).port };
  },
  async delayNextAnswer({ ms }: Parameters<PaymentsMethods['delayNextAnswer']>[0]) {
    delayMs = ms;
    return null;
  },
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  const key = String(request.headers['idempotency-key'] ?? '');
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(await answer(`${request.method} ${request.url}`, key, body, response)));
}

async function answer(route: string, key: string, body: string, response: ServerResponse): Promise<unknown> {
  const orderId = /^GET \/orders\/(\d+)$/.exec(route)?.[1];
  if (orderId !== undefined) return payments.order(orderId);
  if (route === 'POST /messages') {
    payments.tellCustomer({ key, ...(JSON.parse(body) as { orderId: string; text: string }) });
    return { told: true };
  }
  if (route === 'POST /refunds') return refund(key, JSON.parse(body) as { orderId: string; cents: number }, response);
  response.statusCode = 404;
  return { error: 'no such page' };
}

async function refund(
  key: string,
  asked: { orderId: string; cents: number },
  response: ServerResponse,
): Promise<unknown> {
  response.once('close', () => {
    if (!response.writableFinished) payments.answerLost(key);
  });
  const { refundId, isNew } = payments.refund({ key, ...asked });
  const ms = Math.max(refundMs, isNew ? delayMs : 0);
  if (isNew) delayMs = 0;
  await wait(ms);
  return { refundId, cents: asked.cents };
}
