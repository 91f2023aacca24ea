import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

/** A file of this folder as a process. */
export interface ProcessOptions {
  name: string;
  file: string;
  env?: Readonly<Record<string, string>>;
  /** Whether it is started again when it ends. */
  restarts?: boolean;
  /** In a group of its own: Ctrl-C at the terminal does not reach it. */
  detached?: boolean;
  /** Told whenever it is ready again, and whenever it has ended, with how. */
  changed(ended?: string): void;
}

/** A process that is watched. */
export interface Kept {
  readonly name: string;
  /** `null` between two of them. */
  readonly pid: number | null;
  /** Where it serves, as it said when it was ready. */
  readonly url: string;
  /** Passes a message to the process that runs. */
  tell(message: object): void;
  /** Lets it come to its end, and starts it no more. */
  stop(): Promise<void>;
}

/** Milliseconds until a process that ended is started again. */
const RESTART_MS = 1_000;

/** Starts a process. Resolves once it is ready; rejects when it ends before. It ends with this one, also where this one is killed. */
export async function keep(options: ProcessOptions): Promise<Kept> {
  const { name, restarts = false, changed } = options;
  let isStopping = false;
  let timer: NodeJS.Timeout | undefined;
  let child = start(options);
  const { url } = await ready(name, child);
  watch();

  function watch(): void {
    child.once('exit', (code, signal) => {
      if (isStopping) return;
      changed(signal ?? `code ${code}`);
      if (restarts) timer = setTimeout(restart, RESTART_MS);
    });
  }

  function restart(): void {
    child = start(options);
    watch();
    ready(name, child).then(
      () => changed(),
      () => undefined, // it has ended, and is started again
    );
  }

  return {
    name,
    url,
    get pid() {
      return hasEnded(child) ? null : (child.pid ?? null);
    },
    tell(message) {
      if (child.connected) child.send(message);
    },
    async stop() {
      isStopping = true;
      clearTimeout(timer);
      await end(child);
    },
  };
}

function start({ file, env = {}, detached = false }: ProcessOptions): ChildProcess {
  return fork(join(import.meta.dirname, file), { env: { ...process.env, ...env }, detached });
}

/** Resolves with what the process says once it does its work. */
function ready(name: string, child: ChildProcess): Promise<{ url: string }> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) => reject(new Error(`${name} ended: ${signal ?? `code ${code}`}`)));
    child.on('message', (message: { isReady?: boolean; url?: string }) => {
      if (message.isReady) resolve({ url: message.url ?? '' });
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  if (child.connected) child.disconnect();
  await ended;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
