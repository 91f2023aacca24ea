import { ofKind } from './ledger.ts';
import type { AskPerson } from './play.ts';

/** The person of a demonstration that runs by itself: looks whether the ledger holds a refund with the key of the call. */
export const askLedger: AskPerson = async ({ key, ledger }) =>
  ofKind(ledger, 'refundBooked').some((entry) => entry.key === key) ? 'succeeded' : 'failed';
