import type { SessionRecord } from '../session-record.ts';
import type { LedgerEntry } from './ledger.ts';
import type { Scenario } from './scenario.ts';

/** How a person settled a call whose outcome is unknown. */
export type Verdict = 'succeeded' | 'failed' | 'runAgain';

/** Asks a person about a call that waits, who may look at the ledger of the payments service first. */
export type AskPerson = (question: { executionId: string; key: string; ledger: LedgerEntry[] }) => Promise<Verdict>;

/** One scenario as it was played, for checks and tables. */
export interface Play {
  scenario: Scenario;
  /** Whether the model was the script, of which is known what it asks for. */
  isScripted: boolean;
  orderId: string;
  sessionId: string;
  /** Number of the worker that was killed, and of the one that came after it. */
  workers: [killed: number, next: number];
  /** When SIGKILL was sent, as the ledger tells times. */
  killedAt: string;
  /** What the payments service had written about this order when the worker had been killed and nobody had taken over. */
  ledgerAtKill: LedgerEntry[];
  /** `null` where nobody was asked. */
  verdict: Verdict | null;
  /** What the tables say at the end. */
  record: SessionRecord;
  /** What the payments service wrote about this order, read from its file at the end. */
  ledger: LedgerEntry[];
}
