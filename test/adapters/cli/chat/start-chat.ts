import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { atTestEnd } from '../../../support/at-test-end.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** A `turnlock chat` that runs in a pipe. */
export interface RunningChat {
  /** Sends a line. */
  say(text: string): void;
  /** Sends keys, without the one that ends a line. */
  type(keys: string): void;
  /** Ends the input. */
  end(): void;
  kill(signal: NodeJS.Signals): void;
  stdout(): string;
  stderr(): string;
  /** Resolves when what it printed matches, on either output. */
  shows(pattern: RegExp): Promise<void>;
  /** Resolves with its exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals | null>;
}

const MAIN = resolve('adapters/cli/main.ts');

/** Starts `turnlock chat` in `cwd`, without any key in its environment. */
export function startChat(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  command: readonly [string, ...string[]] = [process.execPath, MAIN, 'chat'],
): RunningChat {
  const [program, ...before] = command;
  const child = spawn(program, [...before, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: 'pipe',
  });
  atTestEnd(() => void child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => undefined);
  return {
    say: (text) => void child.stdin.write(`${text}\n`),
    type: (keys) => void child.stdin.write(keys),
    end: () => void child.stdin.end(),
    kill: (signal) => void child.kill(signal),
    stdout: () => stdout,
    stderr: () => stderr,
    async shows(pattern) {
      await waitFor(() => pattern.test(stdout) || pattern.test(stderr), { for: `${pattern}`, timeoutMs: 50_000 });
    },
    ended: new Promise((done) => child.once('close', (code, signal) => done(signal ?? code))),
  };
}
