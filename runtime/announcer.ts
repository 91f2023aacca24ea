import { type Awaiting, listAwaiting } from '../persistence/list-awaiting.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import type { Store } from '../persistence/session-transaction.ts';
import { findUnannounced, markAnnounced } from '../persistence/unannounced.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';

/** Told of what a person is asked: at least once per round, from committed rows. */
export type OnAwaiting = (awaiting: Awaiting) => unknown;

/** How many rounds are looked for at a time. */
const BATCH = 100;

/** The longest pause before the hook is told again of a round that it failed on, in milliseconds. */
const MAX_PAUSE_MS = 60_000;

/** How many rounds that failed are remembered, and how many that were told. */
const MAX_REMEMBERED = 1_000;

interface Announcing {
  store: Store;
  /** Aborts when the runtime closes: a hook that is still out is waited for no longer, and its round is told again elsewhere. */
  closing: AbortSignal;
  onAwaiting: OnAwaiting;
  onWarning: (warning: { code: string; message: string }) => void;
}

/**
 * Tells the host's hook of open rounds of asking, and notes in the row that it was told. A hook that fails, or does not end in time, is told
 * again, later and later; a process that dies between the hook and the note lets another one tell it again.
 */
export class Announcer {
  readonly #announcing: Announcing;
  readonly #underWay = new Set<string>();
  /** Rounds of which it is noted that they were told: a list that was read before that may still hold them. The oldest is forgotten first. */
  readonly #told = new Set<string>();
  /** By round: how often it failed, and the monotonic time before which it is left alone. */
  readonly #failed = new Map<string, { times: number; until: number }>();

  constructor(announcing: Announcing) {
    this.#announcing = announcing;
  }

  /** Tells of what is open in one session and was not told yet. Never rejects. */
  async session({ tenantId, sessionId }: SessionKey): Promise<void> {
    await this.#guarded(async () => {
      const query = { tenantId, sessionId, isUnannounced: true, limit: BATCH };
      for (const awaiting of await listAwaiting(this.#announcing.store, query)) await this.#tell(awaiting);
    });
  }

  /** Tells of what is open anywhere and was not told yet: what a process left that died. Never rejects. */
  async sweep(): Promise<void> {
    await this.#guarded(async () => {
      const { store } = this.#announcing;
      const rounds = await findUnannounced(store, { max: BATCH, excluding: this.#leftAlone() });
      for (const { tenantId, sessionId, approvalId } of rounds) {
        const query = { tenantId, sessionId, approvalIds: [approvalId], isUnannounced: true, limit: 1 };
        const [awaiting] = await listAwaiting(store, query);
        if (awaiting !== undefined) await this.#tell(awaiting);
      }
    });
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#warn('AWAITING_NOT_READ', error);
    }
  }

  #leftAlone(): string[] {
    const now = this.#announcing.store.environment.monotonic();
    const paused = [...this.#failed].filter(([, { until }]) => until > now).map(([approvalId]) => approvalId);
    return [...this.#underWay, ...paused];
  }

  async #tell(awaiting: Awaiting): Promise<void> {
    const { approvalId } = awaiting;
    if (this.#told.has(approvalId) || this.#leftAlone().includes(approvalId)) return;
    const { store, onAwaiting } = this.#announcing;
    this.#underWay.add(approvalId);
    try {
      await this.#inTime((async () => onAwaiting(awaiting))());
      this.#failed.delete(approvalId);
      await markAnnounced(store, awaiting);
      this.#remember(approvalId);
    } catch (error) {
      if (this.#announcing.closing.aborted) return;
      this.#pause(approvalId);
      this.#warn('ON_AWAITING_FAILED', error);
    } finally {
      this.#underWay.delete(approvalId);
    }
  }

  #remember(approvalId: string): void {
    const [oldest] = this.#told;
    if (oldest !== undefined && this.#told.size >= MAX_REMEMBERED) this.#told.delete(oldest);
    this.#told.add(approvalId);
  }

  /** A hook that never ends must keep neither the other rounds waiting nor the runtime's close. */
  async #inTime(hook: Promise<unknown>): Promise<void> {
    const { store, closing } = this.#announcing;
    const { hookTimeoutMs } = store.limits;
    const over = new AbortController();
    hook.catch(() => undefined);
    const bound = store.environment.sleep(hookTimeoutMs, AbortSignal.any([over.signal, closing])).then(() => {
      throw new Error(`onAwaiting did not end within ${hookTimeoutMs} ms`);
    });
    bound.catch(() => undefined);
    try {
      await Promise.race([hook, bound]);
    } finally {
      over.abort();
    }
  }

  #pause(approvalId: string): void {
    const { environment, limits } = this.#announcing.store;
    const times = (this.#failed.get(approvalId)?.times ?? 0) + 1;
    if (this.#failed.size >= MAX_REMEMBERED) this.#failed.clear();
    const pauseMs = Math.min(MAX_PAUSE_MS, limits.sweepMs * 2 ** Math.min(times - 1, 16));
    this.#failed.set(approvalId, { times, until: environment.monotonic() + pauseMs });
  }

  #warn(code: string, error: unknown): void {
    const { message } = normaliseError(error, this.#announcing.store.limits);
    this.#announcing.onWarning({ code, message: `People could not be told of what they are asked: ${message}` });
  }
}
