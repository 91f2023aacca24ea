import type { EntityManager } from '@mikro-orm/postgresql';
import { isTurnlockError } from '../errors.ts';
import { CALLER_PATIENCE_MS, pauseBeforeRetry } from './pause-before-retry.ts';
import { inTransaction, type Store, type TransactionScope } from './session-transaction.ts';

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
      await pauseBeforeRetry(environment, attempt);
    }
  }
}
