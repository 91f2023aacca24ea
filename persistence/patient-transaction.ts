import type { EntityManager } from '@mikro-orm/postgresql';
import { isTurnlockError } from '../errors.ts';
import { inTransaction, type Store, type TransactionScope } from './session-transaction.ts';

/** Milliseconds for which a caller waits for an answer. A worker waits as long as its lease lasts. */
const CALLER_PATIENCE_MS = 1_000;

/** The longest pause between two tries, in milliseconds. */
const MAX_PAUSE_MS = 500;

/**
 * `inTransaction` for work that may be done again: reads, and writes that look first whether they have happened. What a lost connection
 * or a time-out left without an answer is asked again, also when it was the answer to COMMIT, until `patienceMs` are over.
 */
export async function inPatientTransaction<Result>(
  store: Store,
  scope: TransactionScope,
  work: (em: EntityManager, attempt: number) => Promise<Result>,
  patienceMs: number = CALLER_PATIENCE_MS,
): Promise<Result> {
  const { environment } = store;
  const giveUpAt = environment.monotonic() + patienceMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTransaction(store, scope, (em) => work(em, attempt));
    } catch (error) {
      const isUnanswered =
        isTurnlockError(error) && (error.category === 'transient' || error.category === 'commitUnknown');
      if (!isUnanswered || environment.monotonic() >= giveUpAt) throw error;
      await environment.sleep(Math.min(MAX_PAUSE_MS, 20 * 2 ** attempt) * (0.5 + environment.random()));
    }
  }
}
