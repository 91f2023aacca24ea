import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { atTestEnd } from '../support/at-test-end.ts';

/** How a process ended, and what it printed. */
export interface NodeEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `node <arguments>` in `cwd`, as a reader of a document would. */
export async function runNode(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<NodeEnd> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  atTestEnd(() => void child.kill('SIGKILL'));
  const closed = new Promise<[number | null, NodeJS.Signals | null]>((done) =>
    child.once('close', (code, signal) => done([code, signal])),
  );
  const [stdout, stderr, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, signal, stdout, stderr };
}
