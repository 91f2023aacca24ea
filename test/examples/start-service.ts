import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { consumerFolder } from '../docs/consumer-folder.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { processIsAlive } from '../support/process-is-alive.ts';
import { waitFor } from '../support/wait-for.ts';

const FOLDER = 'examples/service';

/** The example of a service, as its one command started it. */
export interface ServiceExample {
  /** Where the page is. */
  readonly url: string;
  /** The process of the command. */
  readonly pid: number;
  /** Every process that it said it had started, by name. */
  readonly pids: ReadonlyMap<string, number>;
  readonly output: () => string;
  /** From now on the payments service answers after so many milliseconds. */
  answerAfter(ms: number): Promise<void>;
  /** What the page shows around a conversation: the ledger, and the workers. */
  surroundings(): Promise<{ ledger: LedgerEntry[]; workers: { name: string; pid: number | null }[] }>;
  /** Sends the command a signal; resolves with its exit code once it and all that it started are gone. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

/** A line of the ledger of the payments service. */
export interface LedgerEntry {
  readonly type: 'asked' | 'booked' | 'known';
  readonly orderId: string;
  readonly refundId: string | null;
  readonly worker: string;
}

/** Starts the example in a folder like a user's. It is stopped at the test's end, or the file's. */
export async function startService(env: Readonly<Record<string, string>>): Promise<ServiceExample> {
  const { scripts } = JSON.parse(readFileSync(`${FOLDER}/package.json`, 'utf8'));
  const names = globSync(['*.ts', 'page/*'], { cwd: FOLDER });
  const files = Object.fromEntries(names.map((name) => [name, readFileSync(`${FOLDER}/${name}`, 'utf8')]));
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, scripts.start.split(' ').slice(1), {
    cwd: consumerFolder(files),
    env: { PATH, HOME, NODE_COMPILE_CACHE, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const pids = new Map<string, number>();
  async function stop(signal: NodeJS.Signals): Promise<number | null> {
    child.kill(signal);
    const code = await ended;
    const all = [...output.matchAll(/^\S+ is (?:back: )?process (\d+)/gm)].map(([, pid]) => Number(pid));
    await waitFor(() => !all.some(processIsAlive), { for: 'all processes to be gone', timeoutMs: 30_000 });
    return code;
  }
  atTestEnd(async () => void (await stop('SIGTERM')));
  const [, url = ''] = await waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`the example ended with ${child.exitCode}:\n${output}`);
      return /^The desk +(\S+)$/m.exec(output);
    },
    { for: 'the example to serve', timeoutMs: 90_000, everyMs: 50 },
  );
  for (const [, name = '', pid] of output.matchAll(/^(\S+) is process (\d+)/gm)) pids.set(name, Number(pid));
  const payments = /^payments is .* at (\S+)$/m.exec(output)?.[1] ?? '';
  return {
    url,
    pid: child.pid as number,
    pids,
    output: () => output,
    answerAfter: async (ms) => void (await fetch(payments, { method: 'PUT', body: String(ms) })),
    async surroundings() {
      return (await (await fetch(`${url}/desk`, { headers: { cookie: 'desk-user=ana' } })).json()) as never;
    },
    stop,
  };
}
