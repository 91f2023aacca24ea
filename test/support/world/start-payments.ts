import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../adapters/cli/children/temporary-folder.ts';
import type { Behaviour } from '../../../examples/refunds/payments/behaviour.ts';
import type { LedgerEntry } from '../../../examples/refunds/payments/ledger.ts';
import { type Child, startChild } from '../start-child.ts';
import { waitFor } from '../wait-for.ts';

/** An entry of one type. */
export type EntryOf<Type extends LedgerEntry['type']> = Extract<LedgerEntry, { type: Type }>;

/** The payments service of examples/refunds in a process of its own: the outside world, with a ledger that is no table of ours. */
export interface PaymentsService {
  /** Where it listens; the same over every restart. */
  readonly url: string;
  readonly ledgerFile: string;
  /** Every entry on the disk, whichever process wrote it. */
  ledger(): LedgerEntry[];
  /** Those of the requests for one order. */
  entriesOf(orderId: string): readonly LedgerEntry[];
  /** What was booked; of one order, where it is given. */
  booked(orderId?: string): EntryOf<'booked'>[];
  /** Resolves with the first entry of this type, of this order where it is given, once it is on the disk; rejects after a minute. */
  first<Type extends LedgerEntry['type']>(type: Type, orderId?: string): Promise<EntryOf<Type>>;
  /** How it behaves from now on: good but for `changes`. Lost with a kill. */
  behave(changes: Partial<Behaviour>): Promise<void>;
  /** Lets every refund go on that hangs. */
  release(): Promise<void>;
  /** Sends SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Starts a process on the same ledger and port. */
  restart(behaviour?: Partial<Behaviour>): Promise<void>;
  /** Ends the process and removes the ledger. */
  stop(): Promise<void>;
}

/** Starts the service, good but for `behaviour`. In a test call `paymentsWorld` instead. */
export async function startPayments(behaviour: Partial<Behaviour> = {}): Promise<PaymentsService> {
  const folder = await temporaryFolder('payments');
  const file = join(folder.path, 'ledger.jsonl');
  let process: Child;
  let port = 0;
  async function start(how: Partial<Behaviour>): Promise<void> {
    const args = ['--ledger', file, '--port', String(port), '--behaviour', JSON.stringify(how)];
    process = startChild('examples/refunds/payments/main.ts', { args });
    port = Number((await process.next('serving')).port);
  }
  async function tell(route: string, body: object = {}): Promise<void> {
    const [method = '', path] = route.split(' ');
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`the payments service refused ${route}: ${await answer.text()}`);
  }
  const service: PaymentsService = {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    ledgerFile: file,
    ledger: () => readLedger(file),
    entriesOf: (orderId) => entriesOf(readLedger(file), orderId),
    booked: (orderId) => ofType(entriesOf(readLedger(file), orderId), 'booked'),
    first: (type, orderId) =>
      waitFor(() => ofType(entriesOf(readLedger(file), orderId), type)[0], {
        for: `${type} in the ledger`,
        timeoutMs: 60_000,
      }),
    behave: (changes) => tell('PUT /behaviour', changes),
    release: () => tell('POST /release'),
    kill: async () => void (await process.kill()),
    restart: (how = {}) => start(how),
    async stop() {
      await process.kill();
      await folder.remove();
    },
  };
  await start(behaviour);
  return service;
}

function entriesOf(ledger: readonly LedgerEntry[], orderId: string | undefined): readonly LedgerEntry[] {
  if (orderId === undefined) return ledger;
  const requests = ledger.flatMap((entry) =>
    entry.type === 'asked' && entry.orderId === orderId ? entry.request : [],
  );
  return ledger.filter(({ request }) => requests.includes(request));
}

function ofType<Type extends LedgerEntry['type']>(ledger: readonly LedgerEntry[], type: Type): EntryOf<Type>[] {
  return ledger.filter((entry): entry is EntryOf<Type> => entry.type === type);
}

/** A last line without its end is one that a killed process did not finish. */
function readLedger(file: string): LedgerEntry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as LedgerEntry);
}
