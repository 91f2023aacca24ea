import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { atTestEnd } from '../../support/at-test-end.ts';

/** How the command line ended. */
export interface CommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A user's environment is not that of the tests; what is compiled once serves all. */
const KEPT = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  ...(process.env.NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
};

const MAIN = resolve('adapters/cli/main.ts');

/** Runs `turnlock` as a process of its own in `cwd`, as a user would in a pipe. */
export async function runTurnlock(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  return await startTurnlock(cwd, args, env).ended;
}

/** The same, for a command that is to be signalled before it ends by itself. It is killed at the test's end. */
export function startTurnlock(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): { child: ChildProcess; ended: Promise<CommandEnd> } {
  const child = spawn(process.execPath, ['--liftoff-only', MAIN, ...args], {
    cwd,
    env: { ...KEPT, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  atTestEnd(() => void child.kill('SIGKILL'));
  const closed = new Promise<number | null>((done) => child.once('close', done));
  const ended = Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { child, ended: ended.then(([stdout, stderr, code]) => ({ code, stdout, stderr })) };
}
