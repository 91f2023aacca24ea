import { execFileSync } from 'node:child_process';

/** Fails the run where there is no PgBouncer: what is not run proves nothing. */
export function setup(): void {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'pipe', env: pathWithSbin() });
  } catch (cause) {
    throw new Error(
      'pgbouncer is not there, and these tests need it: apt-get install --no-install-recommends pgbouncer',
      { cause },
    );
  }
}

/** Debian has it in a folder that is on the path of administrators alone. */
export function pathWithSbin(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
}
