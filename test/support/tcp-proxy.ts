import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
import { atTestEnd } from './at-test-end.ts';

/** Stands between a client and a server on loopback. */
export interface TcpProxy {
  /** `url` with this proxy in place of the server. */
  through(url: string): string;
  /** From now on nothing passes, on open connections and on new ones, and nobody is told: no end, no reset. */
  freeze(): void;
  /** Lets through what came meanwhile, and what comes. */
  thaw(): void;
}

/** Starts a proxy to the server of `url`; it goes away at the test's end. `change` may alter what the server says. */
export async function startTcpProxy(
  url: string,
  change: (chunk: Buffer) => Buffer = (chunk) => chunk,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    if (isFrozen) socket.pause();
    return socket;
  };
  const { hostname, port } = new URL(url);
  const server = createServer((client) => {
    const upstream = dial(Number(port), hostname);
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => client.write(change(chunk)));
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => isFrozen || client.destroy());
    keep(client);
    keep(upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTestEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    through: (target) => Object.assign(new URL(target), { port: (server.address() as AddressInfo).port }).href,
    freeze: () => {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw: () => {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
  };
}
