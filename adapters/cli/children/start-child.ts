import { type ChildProcess, fork } from 'node:child_process';
import { TurnlockError } from '../../../errors.ts';
import { carriedError } from './carry-error.ts';
import type { Methods, Notices, Told } from './child-messages.ts';

/** How much of a child's standard error is kept, in characters, to say why it ended. */
const KEPT_OUTPUT = 4_000;

/** A process of ours that runs one module and answers questions; see `linkToParent` for its end. */
export interface Child<Asked extends Methods, Telling extends Notices> {
  readonly pid: number;
  /** Resolves when the process is gone and reaped. */
  readonly exited: Promise<void>;
  /** Rejects with the child's error, or with INVARIANT_BROKEN when the child ends before it answers. */
  ask<Name extends keyof Asked & string>(
    name: Name,
    ...question: Parameters<Asked[Name]>
  ): Promise<Awaited<ReturnType<Asked[Name]>>>;
  /** Calls `heard` for each notice of this name from now on. */
  on<Name extends keyof Telling & string>(notice: Name, heard: (value: Telling[Name]) => void): void;
  /** Sends SIGKILL and resolves when the process is gone: nothing of it runs a line of code after that. */
  kill(): Promise<void>;
}

const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** How a child's Node is started. */
export interface ChildSettings {
  /** Options of Node and V8. Default: none, whatever this process has. */
  execArgv?: readonly string[];
  /** Added to the environment of this process. */
  env?: Readonly<Record<string, string>>;
}

/** Starts `node <module>` as a process of its own. It is killed when this one ends, however it ends. */
export function startChild<Asked extends Methods, Telling extends Notices>(
  module: string,
  { execArgv = [], env = {} }: ChildSettings = {},
): Child<Asked, Telling> {
  const child = fork(module, {
    execArgv: [...execArgv],
    env: { ...process.env, ...env },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  living.add(child);
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const listeners: { notice: string; heard: (value: never) => void }[] = [];
  let output = '';
  let asked = 0;
  let isGone = false;
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    output = (output + chunk).slice(-KEPT_OUTPUT);
  });
  child.on('message', (told: Told) => {
    if ('notice' in told) {
      for (const { notice, heard } of listeners) if (notice === told.notice) heard(told.value as never);
      return;
    }
    const asker = waiting.get(told.answers);
    waiting.delete(told.answers);
    if (told.error === undefined) asker?.resolve(told.value);
    else asker?.reject(carriedError(told.error));
  });
  const exited = new Promise<void>((resolve) => {
    function end(how: string | number): void {
      isGone = true;
      living.delete(child);
      for (const { reject } of waiting.values()) reject(ended(module, how, output));
      resolve();
    }
    child.once('close', (code, signal) => end(signal ?? code ?? 'no status'));
    child.once('error', (error) => end(error.message)); // it did not start, then there is no close
  });
  return {
    pid: child.pid ?? 0,
    exited,
    ask(name, ...[question]) {
      if (isGone) return Promise.reject(ended(module, 'before', output));
      const id = ++asked;
      const answered = new Promise<never>((resolve, reject) => waiting.set(id, { resolve: resolve as never, reject }));
      child.send({ id, ask: name, with: question }, () => undefined); // a broken channel shows as the exit
      return answered;
    },
    on: (notice, heard) => void listeners.push({ notice, heard }),
    async kill() {
      if (!isGone) child.kill('SIGKILL');
      await exited;
    },
  };
}

function ended(module: string, how: string | number, output: string): TurnlockError {
  const name = module.replace(/^.*[/\\]/, '');
  return new TurnlockError('INVARIANT_BROKEN', {
    message: `process of ours ended: ${name} (found ${how}, wanted an answer)${output.trim() === '' ? '' : `\n${output.trim()}`}`,
  });
}
