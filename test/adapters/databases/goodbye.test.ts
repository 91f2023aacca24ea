import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { scripted } from '../../../adapters/models/scripted.ts';
import { createRuntime, defineAgent } from '../../../index.ts';
import { atTestEnd } from '../../support/at-test-end.ts';

function message(type: string, ...parts: (Buffer | string)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const AUTHENTICATED = message('R', Buffer.alloc(4));
const READY = message('Z', 'I');
const GOODBYE = message('E', 'SFATAL\0C57P01\0Mterminating connection due to administrator command\0', '\0');

/** A server that lets everybody in and ends the session in the same packet, as one that is being stopped may. */
async function hurriedServer(): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, GOODBYE])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTestEnd(async () => void server.close());
  return (server.address() as AddressInfo).port;
}

test('C58 a server that says goodbye in the packet that lets us in: an error that passes, and the process lives', async () => {
  const config = { host: '127.0.0.1', port: await hurriedServer(), user: 'x', password: 'x', database: 'x', max: 2 };
  const agent = defineAgent({ name: 'agent', model: scripted('Yes.'), instructions: '' });
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const opened = createRuntime({ database: postgres(config), agents: [agent] });
    await expect(opened).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE', category: 'transient' });
  }
});
