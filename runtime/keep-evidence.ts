import { isTurnlockError } from '../errors.ts';
import { insertEvidence, type LateResult } from '../persistence/evidence.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import type { Store } from '../persistence/session-transaction.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';
import { recoverOne } from './recover.ts';
import type { Services } from './services.ts';

/** A result that nobody may commit any more. */
type Late = Omit<LateResult, 'evidenceId'>;

/** The longest pause between two tries, in milliseconds, before its half to one and a half times. */
const MAX_PAUSE_MS = 5_000;

interface Keeping {
  store: Store;
  /** Aborts when the runtime closes: then each result is tried once more, and no more. */
  closing: AbortSignal;
  onWarning: (warning: { code: string; message: string }) => void;
}

/**
 * Stores as evidence what tools returned too late. While the database is away it tries again, with growing pauses, for as long as the
 * runtime is open: nobody else knows the result of a call that must not be repeated. What is lost in the end is a warning.
 */
export class EvidenceKeeper {
  readonly #keeping: Keeping;

  constructor(keeping: Keeping) {
    this.#keeping = keeping;
  }

  /** Resolves once the result is stored, or lost: whether it is stored. Never rejects. */
  async keep(key: SessionKey, late: Late): Promise<boolean> {
    const { store, closing } = this.#keeping;
    const { environment } = store;
    const evidence = { ...late, evidenceId: environment.uuid() };
    for (let attempt = 1; ; attempt += 1) {
      const isLast = closing.aborted;
      try {
        await insertEvidence(store, key, evidence);
        return true;
      } catch (error) {
        if (isLast || !mayPass(error)) {
          this.warn(key, late, error);
          return false;
        }
      }
      const pauseMs = Math.min(MAX_PAUSE_MS, 50 * 2 ** attempt) * (0.5 + environment.random());
      await environment.sleep(pauseMs, closing).catch(() => undefined);
    }
  }

  /** Tells that a result is lost: which one, never what it is. */
  warn({ sessionId }: SessionKey, { executionId, attempt, outcome }: Late, error: unknown): void {
    const { store, onWarning } = this.#keeping;
    const { message } = normaliseError(error, store.limits);
    const which = `attempt ${attempt} of execution ${executionId}, session ${sessionId}`;
    onWarning({ code: 'EVIDENCE_LOST', message: `What a tool returned is lost (it ${outcome}): ${which}: ${message}` });
  }
}

/** Whether another try may help: the database is away, or refuses what an operator can mend. A session that is gone comes back no more. */
function mayPass(error: unknown): boolean {
  return isTurnlockError(error) && error.category !== 'bug';
}

/** Keeps a result that nobody may commit any more, and lets the session go on from it. Never rejects; `close` waits for it. */
export function keepEvidence(services: Services, { tenantId, sessionId }: SessionKey, late: Late): void {
  const key = { tenantId, sessionId };
  services.operations
    .run(async () => {
      const isKept = await services.evidence.keep(key, late);
      if (isKept && !services.closing.aborted) await recoverOne(services, key).catch(() => undefined);
    })
    // The runtime is closed already: a tool that heeded nothing came back after all.
    .catch((error: unknown) => services.evidence.warn(key, late, error));
}
