import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { systemEnvironment } from '../../environment.ts';
import { TurnlockError } from '../../errors.ts';
import { Backlog } from './backlog.ts';
import { pageHeaders, relayPage } from './relay-page.ts';

/** What `serveStately` takes. */
export interface ServeStatelyOptions {
  /** The inspector's page, `http:` or `https:`, which is shown in a frame and is handed what the relay says: one of your own, or Stately's. */
  page: string;
  /** Default 0: one that is free, which the URLs name. */
  port?: number;
  /** What the addresses hold as `token`, 16 characters or more. Default: a new one. */
  token?: string;
}

/** A relay that listens on 127.0.0.1. */
export interface ServedStately extends AsyncDisposable {
  /** For a browser: the page with the inspector in it. Holds the token. */
  readonly url: string;
  /** For `statelyInspector` and for receivers: what one says, all others hear. Holds the token. */
  readonly webSocketUrl: string;
  /** Takes no connection any more and ends those that are open. */
  close(): Promise<void>;
}

/** Bytes of one message. */
const MAX_MESSAGE_BYTES = 1_048_576;

/** Connections at a time. */
const MAX_CONNECTIONS = 32;

/** Bytes that may wait for one reader; beyond it the reader is let go. */
const MAX_WAITING_BYTES = 8_388_608;

/** What the relay uses of the package `ws`, which `@statelyai/inspect` brings. */
interface Socket {
  readonly readyState: number;
  readonly bufferedAmount: number;
  on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): void;
  on(event: 'close' | 'error', listener: () => void): void;
  send(text: string): void;
  terminate(): void;
}
interface SocketServer {
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, done: (socket: Socket) => void): void;
  close(): void;
}
type Ws = { WebSocketServer: new (options: { noServer: true; maxPayload: number }) => SocketServer };

const OPEN = 1;

/**
 * A relay for the Stately inspector that only this machine reaches: it speaks what the package's `createInspectorServer` speaks, but listens
 * on 127.0.0.1, wants a token, and answers neither other host names nor pages of other origins; `page` alone may open the WebSocket, with the
 * token. Who comes late hears the definitions of up to 100 sessions, then the last 200 messages, 8 MB of them at the most.
 *
 * @throws OPTIONS_INVALID for an option that is not accepted, or a port that cannot be listened on.
 */
export async function serveStately(options: ServeStatelyOptions): Promise<ServedStately> {
  const { page, port, token } = check(options);
  const { WebSocketServer } = loadWs();
  const server = createServer();
  await listen(server, port);
  const { port: bound } = server.address() as AddressInfo;
  const host = `127.0.0.1:${bound}`;
  const isLetIn = (request: IncomingMessage) => isAllowed(request, bound, token);
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  const open = new Set<Socket>();
  const backlog = new Backlog();
  server.on('request', (request, response) => {
    if (!isLetIn(request)) return void response.writeHead(403).end();
    if (request.method !== 'GET') return void response.writeHead(405).end();
    if (new URL(request.url ?? '/', `http://${host}`).pathname !== '/') return void response.writeHead(404).end();
    const nonce = systemEnvironment.uuid();
    response.writeHead(200, pageHeaders(page, nonce)).end(relayPage(page, nonce));
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    if (!isAllowed(request, bound, token, page.origin) || open.size >= MAX_CONNECTIONS) {
      return void socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    }
    sockets.handleUpgrade(request, socket, head, (joined) => {
      open.add(joined);
      joined.on('error', () => joined.terminate());
      joined.on('close', () => open.delete(joined));
      for (const text of backlog.texts()) joined.send(text);
      joined.on('message', (data, isBinary) => {
        const text = data.toString('utf8');
        if (isBinary || !backlog.take(text)) return;
        for (const other of open) if (other !== joined) tell(other, text);
      });
    });
  });
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closed ??= new Promise((resolve) => {
      for (const socket of open) socket.terminate();
      sockets.close();
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return closed;
  };
  const search = `/?token=${encodeURIComponent(token)}`;
  return { url: `http://${host}${search}`, webSocketUrl: `ws://${host}${search}`, close, [Symbol.asyncDispose]: close };
}

function tell(socket: Socket, text: string): void {
  if (socket.readyState !== OPEN) return;
  if (socket.bufferedAmount > MAX_WAITING_BYTES) socket.terminate();
  else socket.send(text);
}

/** The token, a loopback name (a page of another name may lead here: DNS rebinding), and no page of an origin but ours and `page`. */
function isAllowed({ headers, url = '/' }: IncomingMessage, port: number, token: string, page?: string): boolean {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (!hosts.includes(headers.host ?? '')) return false;
  const { origin } = headers;
  if (origin !== undefined && origin !== page && !hosts.some((host) => origin === `http://${host}`)) return false;
  if (!URL.canParse(url, 'http://127.0.0.1')) return false;
  const given = new URL(url, 'http://127.0.0.1').searchParams.get('token') ?? '';
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  }).catch((cause: Error) => {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `port cannot be listened on: ${port} (found ${cause.message})`,
      cause,
    });
  });
  server.on('error', () => undefined);
}

/** The copy of the inspector's own dependency, whatever package manager put it where. */
function loadWs(): Ws {
  const require = createRequire(import.meta.url);
  return createRequire(require.resolve('@statelyai/inspect'))('ws') as Ws;
}

function check(options: ServeStatelyOptions): { page: URL; port: number; token: string } {
  const { page, port = 0, token = systemEnvironment.uuid(), ...rest } = { ...options };
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw refused(unknown, 'page, port, token');
  if (typeof page !== 'string' || !URL.canParse(page) || !/^https?:$/.test(new URL(page).protocol))
    throw refused('page', 'a URL of http: or https:');
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw refused('port', 'a port');
  if (typeof token !== 'string' || token.length < 16) throw refused('token', '16 characters or more');
  return { page: new URL(page), port, token };
}

function refused(option: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `option not accepted: ${option} of serveStately (wanted ${wanted})`,
  });
}
