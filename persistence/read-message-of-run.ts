import { findMessageOfRun, MESSAGE_REPEATED } from './inbox.ts';
import { eventIdFromMessageId } from './keys/event-id-from-message-id.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import { findSeenEvent } from './read-under-lock.ts';
import type { Store } from './session-transaction.ts';

/** A run that has not begun. */
export type UnbegunRun =
  | { type: 'waiting' }
  /** The message was refused: `code` says why. */
  | { type: 'rejected'; code: string }
  /** The message had begun another run before. */
  | { type: 'repeated'; runId: string };

/** The run as a message of the inbox; `null` where it is none. */
export async function readMessageOfRun(store: Store, key: SessionKey, runId: string): Promise<UnbegunRun | null> {
  return inPatientTransaction(store, { tenantId: key.tenantId }, async (em) => {
    const row = await findMessageOfRun(em, key, runId);
    if (row === null) return null;
    const { rejectedCode: code, messageId } = row;
    if (code == null) return { type: 'waiting' };
    if (code !== MESSAGE_REPEATED || messageId == null) return { type: 'rejected', code };
    const seen = await findSeenEvent(em, key, eventIdFromMessageId(messageId));
    const first = typeof seen?.event?.runId === 'string' ? seen.event.runId : seen?.runId;
    return first == null ? { type: 'rejected', code } : { type: 'repeated', runId: first };
  });
}
