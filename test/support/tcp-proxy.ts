import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { atTestEnd } from './at-test-end.ts';

/** What of a connection is frozen. */
export interface Freeze {
  /** Only the connections that are open now; the next ones work. Default false: those too. */
  presentOnly?: boolean;
  /** Only what the server says: what the client sends still arrives, and is carried out. Default false: both ways. */
  answersOnly?: boolean;
}

/** Stands between a client and a server on loopback. */
export interface TcpProxy {
  /** `url` with this proxy in place of the server. */
  through(url: string): string;
  /** From now on nothing passes, on open connections and on new ones, and nobody is told: no end, no reset. */
  freeze(how?: Freeze): void;
  /** Lets through what came meanwhile, and what comes. */
  thaw(): void;
  /** Resets every open connection, on both sides. */
  reset(): void;
  /** From now on everything takes that much longer, in milliseconds, each way. */
  slowDown(ms: number): void;
}

/**
 * Starts a proxy to the server of `url`; it goes away at the test's end. `change` may alter what the server says; `hear` is told what a
 * client sends, and the number of its connection, from 1 on.
 */
export async function startTcpProxy(
  url: string,
  change: (chunk: Buffer) => Buffer = (chunk) => chunk,
  hear: (chunk: Buffer, connection: number) => void = () => undefined,
): Promise<TcpProxy> {
  const links = new Set<Link>();
  const { hostname, port } = new URL(url);
  let frozen: Freeze | null = null;
  let delayMs = 0;
  let connections = 0;
  const server = createServer((client) => {
    connections += 1;
    const number = connections;
    const link = new Link(client, dial(Number(port), hostname), () => delayMs);
    link.pass(change, (chunk) => hear(chunk, number));
    links.add(link);
    if (frozen !== null) link.freeze(frozen);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTestEnd(() => {
    for (const link of links) link.destroy();
    server.close();
  });
  return {
    through: (target) => Object.assign(new URL(target), { port: (server.address() as AddressInfo).port }).href,
    freeze: (how = {}) => {
      if (!how.presentOnly) frozen = how;
      for (const link of links) link.freeze(how);
    },
    thaw: () => {
      frozen = null;
      for (const link of links) link.thaw();
    },
    reset: () => {
      for (const link of links) link.reset();
    },
    slowDown: (ms) => {
      delayMs = ms;
    },
  };
}

/** One connection through the proxy: two sockets. While it is frozen neither end hears of what becomes of the other. */
class Link {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #delayMs: () => number;
  #isFrozen = false;

  constructor(client: Socket, upstream: Socket, delayMs: () => number) {
    this.#client = client;
    this.#upstream = upstream;
    this.#delayMs = delayMs;
  }

  pass(change: (chunk: Buffer) => Buffer, hear: (chunk: Buffer) => void): void {
    const [client, upstream] = [this.#client, this.#upstream];
    const toServer = lateWriter(upstream, this.#delayMs);
    const toClient = lateWriter(client, this.#delayMs);
    client.on('data', (chunk: Buffer) => {
      hear(chunk);
      toServer(chunk);
    });
    upstream.on('data', (chunk: Buffer) => toClient(change(chunk)));
    client.on('error', ignore).on('close', () => this.#isFrozen || upstream.destroy());
    upstream.on('error', ignore).on('close', () => this.#isFrozen || client.destroy());
  }

  freeze({ answersOnly }: Freeze): void {
    this.#isFrozen = true;
    this.#upstream.pause();
    if (!answersOnly) this.#client.pause();
  }

  thaw(): void {
    this.#isFrozen = false;
    this.#upstream.resume();
    this.#client.resume();
    if (this.#client.destroyed || this.#upstream.destroyed) this.destroy();
  }

  reset(): void {
    this.#client.resetAndDestroy();
    this.#upstream.resetAndDestroy();
  }

  destroy(): void {
    this.#client.destroy();
    this.#upstream.destroy();
  }
}

/** Writes to a socket in order, each piece as late as the link then is. */
function lateWriter(socket: Socket, delayMs: () => number): (chunk: Buffer) => void {
  let waiting = Promise.resolve();
  let count = 0;
  const write = (chunk: Buffer) => void (socket.destroyed || socket.write(chunk));
  return (chunk) => {
    const ms = delayMs();
    if (ms === 0 && count === 0) return write(chunk);
    count += 1;
    const due = ms === 0 ? undefined : pause(ms, undefined, { ref: false });
    waiting = waiting.then(async () => {
      await due;
      count -= 1;
      write(chunk);
    });
  };
}

function ignore(): void {}
