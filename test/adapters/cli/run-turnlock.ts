import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { atTestEnd } from '../../support/at-test-end.ts';

/** How the command line ended. */
export interface CommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const MAIN = resolve('adapters/cli/main.ts');

/** Runs `turnlock` as a process of its own in `cwd`, as a user would in a pipe. */
export async function runTurnlock(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  atTestEnd(() => void child.kill('SIGKILL'));
  const closed = new Promise<number | null>((done) => child.once('close', done));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, stdout, stderr };
}
