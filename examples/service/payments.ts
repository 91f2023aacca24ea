import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { endWithParent, sayReady } from './child.ts';

/*
 * The outside world, in a process of its own: a payments service that books at once and answers late, so that there is time to kill who
 * asked. Its ledger is what really happened, whatever anybody's database says. `POST /` pays back, `GET /` is the ledger, and `PUT /` with a
 * number sets after how many milliseconds it answers from then on.
 */

/** A line of the ledger. */
export interface LedgerEntry {
  at: string;
  /** `asked`: a request came. `booked`: money went out. `known`: nothing was booked, since the key was. */
  type: 'asked' | 'booked' | 'known';
  orderId: string;
  cents: number;
  refundId: string | null;
  /** Which process asked. */
  worker: string;
}

let answerMs = Number(process.env.PAYMENTS_MS ?? 8_000);
const ledger: LedgerEntry[] = [];
const booked = new Map<string, string>();

/** Books a refund, once for each key; without a key as often as it is asked. */
async function refund({ headers }: IncomingMessage, body: string): Promise<{ refundId: string }> {
  const { orderId, cents } = JSON.parse(body);
  const { 'idempotency-key': key, 'x-worker': worker } = headers;
  const note = (type: LedgerEntry['type'], refundId: string | null) =>
    void ledger.push({ at: new Date().toISOString(), type, orderId, cents, refundId, worker: String(worker) });
  note('asked', null);
  const known = typeof key === 'string' ? booked.get(key) : undefined;
  if (known !== undefined) {
    note('known', known);
    return { refundId: known };
  }
  const refundId = `R-${1001 + ledger.filter(({ type }) => type === 'booked').length}`;
  if (typeof key === 'string') booked.set(key, refundId);
  note('booked', refundId);
  await wait(answerMs);
  return { refundId };
}

async function answer(request: IncomingMessage): Promise<object> {
  const body = Buffer.concat(await request.toArray()).toString();
  if (request.method === 'POST') return await refund(request, body);
  if (request.method === 'PUT') answerMs = Number(body);
  return { ledger };
}

const server = createServer(async (request, response) => {
  try {
    const json = JSON.stringify(await answer(request));
    response.writeHead(200, { 'content-type': 'application/json' }).end(json);
  } catch {
    response.writeHead(400).end();
  }
});
const opening = once(server.listen(0, '127.0.0.1'), 'listening');
endWithParent(opening, async () => server.closeAllConnections());
await opening;
sayReady({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
