import { join } from 'node:path';
import { type LedgerEntry, ofKind, readLedger } from '../../../../adapters/cli/demo/ledger.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** What the payments service of a chat wrote that was started in `folder`; nothing where there is none yet. */
export async function ledgerOf(folder: string): Promise<LedgerEntry[]> {
  return readLedger(join(folder, '.turnlock-payments.jsonl')).catch(() => []);
}

/** Resolves when the payments service has booked a refund, whose answer is on its way. */
export async function refundIsBooked(folder: string): Promise<void> {
  const isBooked = async () => ofKind(await ledgerOf(folder), 'refundBooked').length > 0;
  await waitFor(isBooked, { for: 'the refund', timeoutMs: 50_000 });
}
