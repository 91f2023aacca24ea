import { execFileSync, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atTestEnd } from './at-test-end.ts';
import { freePort } from './free-port.ts';
import { pathWithSbin } from './pgbouncer-there.setup.ts';
import { waitFor } from './wait-for.ts';
import { withClient } from './with-client.ts';

/** A PgBouncer in transaction mode. */
export interface Pgbouncer {
  /** `url` with PgBouncer in place of the server. */
  through(url: string): string;
}

/** It ends with its standard input, so also when this process is killed. */
const UNTIL_WE_END = '"$@" & pid=$!; cat >/dev/null; kill -9 $pid';

/**
 * Starts PgBouncer before the server of `url`, with `poolSize` connections to each of its databases; it goes away at the test's end, or
 * the file's. As root it is run as the user `postgres`: it refuses to be root.
 */
export async function startPgbouncer(url: string, poolSize: number): Promise<Pgbouncer> {
  const { hostname, port, username, password } = new URL(url);
  const folder = await mkdtemp(join(tmpdir(), 'turnlock-pgbouncer-'));
  await chmod(folder, 0o755);
  const ownPort = await freePort();
  await writeFile(join(folder, 'users'), `"${username}" "${password}"\n`);
  await writeFile(
    join(folder, 'ini'),
    `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 500
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users')}
server_login_retry = 1
`,
  );
  const isRoot = process.getuid?.() === 0;
  const child = spawn('sh', ['-c', UNTIL_WE_END, 'sh', 'pgbouncer', join(folder, 'ini')], {
    stdio: ['pipe', 'ignore', 'pipe'],
    cwd: folder,
    env: pathWithSbin(),
    ...(isRoot ? idsOf('postgres') : {}),
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log += text;
  });
  let hasEnded = false;
  child.on('close', () => {
    hasEnded = true;
  });
  atTestEnd(async () => {
    child.stdin.end();
    await waitFor(() => hasEnded, { for: 'pgbouncer to end' });
    await rm(folder, { recursive: true, force: true });
  });
  const through = (target: string) => Object.assign(new URL(target), { port: ownPort }).href;
  await waitFor(
    () =>
      withClient(through(url), (client) => client.query('SELECT 1')).catch(() => {
        if (hasEnded) throw new Error(`pgbouncer ended:\n${log}`);
        return false as const;
      }),
    { for: 'pgbouncer to answer', everyMs: 50 },
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${log}`);
  });
  return { through };
}

function idsOf(user: string): { uid: number; gid: number } {
  const id = (what: string) => Number(execFileSync('id', [what, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
