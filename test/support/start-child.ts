import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { waitFor } from './wait-for.ts';

/** What a child says: a JSON object with a type. */
export interface ChildMessage {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** How a child ended: by an exit code or by a signal. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A real Node process running a TypeScript file of the repository. */
export interface Child {
  readonly pid: number;
  /** Everything it said so far, oldest first. */
  readonly messages: readonly ChildMessage[];
  /** Its standard error and every line of its output that is no message. */
  readonly output: string;
  readonly exited: Promise<ChildExit>;
  /** Writes one message to its standard input. */
  send(message: ChildMessage): void;
  /** Resolves with the next message of this type that no earlier call took; rejects when the child ends first. */
  next(type: string, options?: { timeoutMs?: number }): Promise<ChildMessage>;
  /** Sends a signal, SIGKILL by default, and resolves when the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<ChildExit>;
}

/** What the child gets. */
export interface ChildOptions {
  readonly args?: readonly string[];
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/**
 * Starts `node <file>` (path from the repository's root). The other end is `parentChannel()` of `child-channel.ts`. The
 * process is killed when this one ends, and ends by itself when this one is killed. In a test call `spawnChild` instead.
 */
export function startChild(file: string, options: ChildOptions = {}): Child {
  const child = spawn(process.execPath, ['--liftoff-only', file, ...(options.args ?? [])], {
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`no process for ${file}`);
  living.add(child);
  const messages: ChildMessage[] = [];
  const taken = new Set<ChildMessage>();
  let output = '';
  let exit: ChildExit | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = parseMessage(line);
    if (message) messages.push(message);
    else output += `${line}\n`;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
  });
  child.stdin.on('error', () => {}); // a killed child breaks the pipe, which its exit tells better
  const exited = once(child, 'close').then(([code, signal]): ChildExit => {
    living.delete(child);
    exit = { code, signal };
    return exit;
  });
  async function kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<ChildExit> {
    if (!exit) child.kill(signal);
    return await exited;
  }
  return {
    pid,
    messages,
    get output() {
      return output;
    },
    exited,
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    next: (type, { timeoutMs = 20_000 } = {}) =>
      waitFor(
        () => {
          const found = messages.find((message) => message.type === type && !taken.has(message));
          if (found) taken.add(found);
          else if (exit)
            throw new Error(`${file} ended (${exit.signal ?? exit.code}) before it said ${type}:\n${output}`);
          return found;
        },
        { for: `${type} from ${file}`, timeoutMs, everyMs: 2 },
      ),
    kill,
  };
}

function parseMessage(line: string): ChildMessage | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return value && typeof value === 'object' && 'type' in value ? (value as ChildMessage) : undefined;
  } catch {
    return undefined;
  }
}
