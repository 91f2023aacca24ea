import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atTestEnd } from '../../../support/at-test-end.ts';

/** What the server answers to one request. */
export interface SseReply {
  /** Default 200. */
  status?: number;
  headers?: Record<string, string>;
  /** Events of a stream: an object is sent with its `type` as the event's name, a text as it is. */
  events?: readonly (object | string)[];
  /** Instead of a stream. */
  json?: unknown;
  /** After the events: `end` closes properly (default), `break` drops the connection, `hang` sends nothing more. */
  ending?: 'end' | 'break' | 'hang';
}

/** A request that the server got. */
export interface SeenRequest {
  path: string;
  headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: bodies of providers
  body: any;
}

/** A server on the loopback that speaks a provider's wire format. */
export interface SseServer {
  url: string;
  requests: SeenRequest[];
  /** Resolves when a client has closed the connection of a request that hung. */
  closedByClient: Promise<void>;
}

/** Starts a server that gives the replies one after the other, and ends it with the test. */
export async function sseServer(...replies: readonly SseReply[]): Promise<SseServer> {
  const requests: SeenRequest[] = [];
  let close: () => void = () => undefined;
  const closedByClient = new Promise<void>((resolve) => {
    close = resolve;
  });
  const server = createServer(async (request, response) => {
    const body: Buffer[] = [];
    for await (const chunk of request) body.push(chunk as Buffer);
    const reply = replies[requests.length] ?? { status: 500, json: { error: { message: 'the script is used up' } } };
    const { url: path = '', headers } = request;
    requests.push({ path, headers, body: JSON.parse(Buffer.concat(body).toString()) });
    response.on('close', () => void (response.writableEnded || close()));
    answer(response, reply);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTestEnd(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, closedByClient };
}

function answer(
  response: ServerResponse,
  { status = 200, headers = {}, events = [], json, ending = 'end' }: SseReply,
): void {
  if (json !== undefined) {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json));
    return;
  }
  response.writeHead(status, { 'content-type': 'text/event-stream', ...headers });
  response.flushHeaders();
  for (const event of events) response.write(asEvent(event));
  if (ending === 'end') response.end();
  // What was written must leave first: the client then sees a part of the stream and its break.
  if (ending === 'break') response.write(': break\n\n', () => response.destroy());
}

function asEvent(event: object | string): string {
  if (typeof event === 'string') return `data: ${event}\n\n`;
  const name = 'type' in event ? `event: ${event.type}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
