import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type LedgerEntry, parseLedger } from './payments/ledger.ts';
import type { Order, Standing } from './worker.ts';

/** The payments service, in a process of its own. */
export interface Service {
  readonly url: string;
  /** Everything that its ledger holds. */
  ledger(): LedgerEntry[];
  /** The next refund is booked, or the next question heard, but its answer does not come. Resolves when that has happened. */
  holdNextAnswer(): Promise<{ held: Promise<void> }>;
  stop(): void;
}

/** Starts the payments service. Its ledger is in `folder`. */
export async function startService(folder: string): Promise<Service> {
  const file = join(folder, 'ledger.jsonl');
  const script = join(import.meta.dirname, 'payments', 'main.ts');
  const child = spawn(process.execPath, [script, '--ledger', file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const next = (types: string[]) =>
    new Promise<{ port?: number }>((resolve) => {
      lines.on('line', function hear(line) {
        const said = JSON.parse(line);
        if (!types.includes(said.type)) return;
        lines.off('line', hear);
        resolve(said);
      });
    });
  const { port } = await next(['serving']);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    ledger: () => parseLedger(readFileSync(file, 'utf8')),
    async holdNextAnswer() {
      await fetch(`${url}/behaviour`, { method: 'PUT', body: JSON.stringify({ fault: 'hangAfter', times: 1 }) });
      return { held: next(['booked', 'looked']).then(() => undefined) };
    },
    stop: () => void child.kill(),
  };
}

/** A process that works for the agent. */
export interface Worker {
  /** Rejects when the process ends before it has answered. */
  carryOut(order: Order): Promise<Standing>;
  /** The same, of a call that stalls between its write and the commit: resolves when it has come there. */
  stallAtWrite(order: Order): Promise<void>;
  /** SIGKILL: nothing of it runs a line of code after this. */
  kill(): Promise<void>;
}

/** Starts a worker on the database in `directory`. */
export async function startWorker(directory: string, payments: string): Promise<Worker> {
  const child = fork(join(import.meta.dirname, 'worker.ts'), [directory, payments]);
  await heard(child);
  return {
    async carryOut(order) {
      child.send(order);
      const { standing, error } = await heard(child);
      if (standing === undefined) throw new Error(error);
      return standing;
    },
    async stallAtWrite(order) {
      child.send(order);
      const { hasWritten, error } = await heard(child);
      if (!hasWritten) throw new Error(error);
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function heard(child: ChildProcess): Promise<{ standing?: Standing; hasWritten?: boolean; error?: string }> {
  const ended = new AbortController();
  const end = (code: number | null, signal: string | null) =>
    ended.abort(new Error(`the worker ended: ${signal ?? code}`));
  child.once('exit', end);
  try {
    const [message] = await once(child, 'message', { signal: ended.signal });
    return message;
  } finally {
    child.off('exit', end);
  }
}
