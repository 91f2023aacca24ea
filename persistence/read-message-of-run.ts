import { findMessageOfRun } from './inbox.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** A run that has not begun: its message waits, or was refused. */
export interface UnbegunRun {
  /** Why the message was refused; `null` while it waits. */
  rejectedCode: string | null;
}

/** The run as a message of the inbox; `null` where it is none. */
export async function readMessageOfRun(store: Store, key: SessionKey, runId: string): Promise<UnbegunRun | null> {
  const { tenantId } = key;
  const row = await inPatientTransaction(store, { tenantId }, (em) => findMessageOfRun(em, key, runId));
  return row === null ? null : { rejectedCode: row.rejectedCode ?? null };
}
