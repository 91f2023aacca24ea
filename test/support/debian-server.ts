import { execFileSync, spawn } from 'node:child_process';
import { chmod, chown, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { startServerReaper } from './server-reaper.ts';
import { waitFor } from './wait-for.ts';

const NEEDED = 'these tests need PostgreSQL of Debian with pgvector: run .ci/install-pgvector';

/** A running PostgreSQL of the machine's own packages, on a free loopback port. */
export interface DebianServer {
  /** Superuser's URL of the maintenance database. */
  readonly url: string;
  stop(): Promise<void>;
}

/** The folder of the programs of the newest server that is installed with pgvector. @throws where there is none. */
export async function debianPrograms(): Promise<string> {
  const versions = await readdir('/usr/lib/postgresql').catch(() => [] as string[]);
  for (const version of versions.sort((a, b) => Number(b) - Number(a))) {
    const control = join('/usr/share/postgresql', version, 'extension/vector.control');
    const folder = join('/usr/lib/postgresql', version, 'bin');
    const isThere = await readFile(control).then(
      () => readdir(folder).then((names) => names.includes('postgres')),
      () => false,
    );
    if (isThere) return folder;
  }
  const found = versions.length === 0 ? 'no PostgreSQL' : `PostgreSQL ${versions.join(', ')} without pgvector`;
  throw new Error(`${NEEDED} (found ${found})`);
}

/**
 * Starts it in a temporary folder, as an unprivileged user also where we are root. It goes away with this process, however that ends.
 * `fsync`: whether it flushes what it writes, as a server does outside of tests; default false.
 */
export async function startDebianServer({ fsync = false } = {}): Promise<DebianServer> {
  const programs = await debianPrograms();
  const folder = await mkdtemp(join(tmpdir(), 'turnlock-debian-'));
  const reap = startServerReaper(folder);
  const owner = await ownFolder(folder);
  const data = join(folder, 'data');
  const password = 'turnlock';
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password, { mode: 0o644 });
  const as = { ...owner, cwd: '/', stdio: 'pipe' as const, env: { PATH: process.env.PATH } };
  const flags = ['--no-sync', '--encoding=UTF8', '--locale=C.UTF-8', '--auth=scram-sha-256', '--username=postgres'];
  execFileSync(join(programs, 'initdb'), [...flags, `--pwfile=${passwordFile}`, '-D', data], as);
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', `port=${port}`];
  const flushing = fsync ? 'on' : 'off';
  const more = [`fsync=${flushing}`, `full_page_writes=${flushing}`, 'max_connections=100', 'timezone=UTC'];
  const server = spawn(
    join(programs, 'postgres'),
    ['-D', data, ...[...settings, ...more].flatMap((one) => ['-c', one])],
    as,
  );
  let log = '';
  server.stderr.on('data', (chunk) => {
    log = (log + String(chunk)).slice(-4_000);
  });
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  await waitFor(() => answers(url), { for: 'the server of Debian to answer' }).catch((error: unknown) => {
    reap();
    throw new Error(`the server of Debian did not start: ${String(error)}\n${log}`);
  });
  return {
    url,
    async stop() {
      server.kill('SIGINT');
      await ended;
      await rm(folder, { recursive: true, force: true });
      reap();
    },
  };
}

/** A server does not run as root: then it is the user `postgres`, which the package made. */
async function ownFolder(folder: string): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const owner = { uid: idOf('-u'), gid: idOf('-g') };
  await chown(folder, owner.uid, owner.gid);
  await chmod(folder, 0o711);
  return owner;
}

async function answers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
