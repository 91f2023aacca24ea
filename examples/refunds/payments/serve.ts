import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type Behaviour, changed, consumed, GOOD } from './behaviour.ts';
import type { Asked, Payments } from './payments.ts';

/** What it is told at its start. */
export interface ServeOptions {
  /** 0: a free one. */
  port: number;
  behaviour?: Partial<Behaviour>;
}

/** Every order is known; what was ordered follows from its number. */
const ORDERS = [
  { item: 'a teapot', cents: 4_900 },
  { item: 'six glasses', cents: 3_150 },
  { item: 'a vase', cents: 7_425 },
];

/** What is answered: a status and JSON, or nothing since the connection is broken. */
type Answer = { status: number; body: unknown } | null;

/** Serves payments over HTTP on the loopback interface. @returns the port. */
export async function serve(payments: Payments, options: ServeOptions): Promise<number> {
  let behaviour = changed(GOOD, options.behaviour ?? {});
  const held: (() => void)[] = [];

  async function refund(asked: Asked, how: Behaviour, response: ServerResponse): Promise<Answer> {
    const request = payments.asked(asked);
    response.once('close', () => response.writableFinished || payments.answerLost(request));
    await passes(how, 'Before');
    if (how.fault === 'failBefore' || how.fault === 'loseBefore') {
      payments.failed(request, how.fault === 'failBefore' ? 'failure' : 'lost');
      return how.fault === 'failBefore' ? { status: 503, body: { error: 'not booked' } } : null;
    }
    const decision = payments.book(request, asked, how);
    if ('refused' in decision) return { status: decision.refused === 'staleToken' ? 409 : 422, body: decision };
    await passes(how, 'After');
    if (how.fault === 'failAfter') return { status: 503, body: { error: 'try again later' } };
    return how.fault === 'loseAfter' ? null : { status: 200, body: decision.refund };
  }

  async function passes(how: Behaviour, when: 'Before' | 'After'): Promise<void> {
    await wait(when === 'Before' ? how.beforeMs : how.afterMs);
    if (how.fault === `hang${when}`) await new Promise<void>((resolve) => held.push(resolve));
  }

  async function answer(request: IncomingMessage, body: string, response: ServerResponse): Promise<Answer> {
    const { method, headers } = request;
    const { pathname, searchParams, search } = new URL(request.url ?? '/', 'http://payments');
    const own = headers['payments-behaviour'];
    const how = own === undefined ? behaviour : changed(behaviour, JSON.parse(String(own)));
    const orderId = /^\/orders\/(\d+)$/.exec(pathname)?.[1];
    if (method === 'GET' && orderId !== undefined) {
      behaviour = consumed(behaviour);
      payments.looked(pathname);
      await passes(how, 'After');
      return { status: 200, body: { orderId, ...ORDERS[Number(orderId) % ORDERS.length] } };
    }
    switch (`${method} ${pathname}`) {
      case 'POST /refunds':
        behaviour = consumed(behaviour);
        return await refund(readAsked(headers, body), how, response);
      case 'GET /refunds': {
        payments.looked(`${pathname}${search}`);
        if (!how.tellsRefunds) return { status: 403, body: { error: 'this service does not say' } };
        const of = { orderId: searchParams.get('orderId'), key: searchParams.get('key') };
        return { status: 200, body: { refunds: payments.refunds(of) } };
      }
      case 'PUT /behaviour':
        behaviour = changed(GOOD, JSON.parse(body));
        return { status: 200, body: behaviour };
      case 'POST /release':
        return { status: 200, body: { released: held.splice(0).map((goOn) => goOn()).length } };
      default:
        return { status: 404, body: { error: 'no such page' } };
    }
  }

  const server = createServer(async (request, response) => {
    try {
      const found = await answer(request, await bodyOf(request), response);
      if (found === null) return void response.destroy();
      response.statusCode = found.status;
      response.setHeader('content-type', 'application/json').end(JSON.stringify(found.body));
    } catch (error) {
      response.statusCode = 400;
      response.end(JSON.stringify({ error: String(error) }));
    }
  });
  server.keepAliveTimeout = 0; // never: a request must not meet a connection that is being closed
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function readAsked(headers: IncomingMessage['headers'], body: string): Asked {
  const { orderId, cents } = JSON.parse(body) as { orderId: unknown; cents: unknown };
  if (typeof orderId !== 'string' || !Number.isInteger(cents)) throw new TypeError('wanted orderId and cents');
  const text = (name: string) => (headers[name] === undefined ? null : String(headers[name]));
  const token = text('fencing-token');
  return {
    orderId,
    cents: cents as number,
    key: text('idempotency-key'),
    token: token === null ? null : Number(token),
    scope: text('fencing-scope'),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  return body;
}
