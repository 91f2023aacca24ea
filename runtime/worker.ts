import { ERROR_CODES, type ErrorCategory, type ErrorCode, isTurnlockError } from '../errors.ts';
import { claimSessions } from '../persistence/claim-sessions.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';
import { LeftAlone } from './left-alone.ts';
import { type Attention, type Recovery, recoverOne } from './recover.ts';
import { inBackground, type Services } from './services.ts';
import { Wake } from './wake.ts';

/** How a worker works. */
export interface WorkerSettings {
  /** How many sessions it drives side by side. */
  concurrency: number;
  /** Told of each session that it took over, or could not continue. */
  onSession: (recovery: Recovery) => void;
  /** Told of what goes wrong and passes by itself. */
  onWarning: (warning: { code: string; message: string }) => void;
}

/** The shortest time between two looks for work, in milliseconds: hints that come in a crowd are one look. */
const MIN_PAUSE_MS = 25;

/** The longest pause between two looks while the database does not answer, in milliseconds. */
const MAX_BACKOFF_MS = 10_000;

/** How long a session that this build cannot drive is not looked at again, in milliseconds. */
const LEFT_ALONE_MS = 60_000;

/** How long one that somebody else is at work on is not looked at again, in milliseconds. */
const HELD_MS = 200;

/** How many sessions that owed nothing are remembered. */
const MAX_IDLE = 1_000;

/** Errors by which a session is not what this build cannot drive, but what passes. */
const PASSING: readonly ErrorCategory[] = ['transient', 'commitUnknown', 'conflict', 'state'];

/**
 * Claims sessions of any tenant that owe work and have no live lease, and drives each to rest.
 *
 * One loop: look, begin as many as there are free slots, wait until the next look. It looks every `limits.sweepMs`, when the database says
 * that something becomes due, when it is woken, and when a slot falls free while there was more than it could take. Looking is the truth;
 * what wakes it is a hint. Two looks never overlap. What a look finds is a hint too: the takeover is a commit that checks again.
 *
 * - What is newer than this build is not found at all. A session that another worker has by then is not looked at again for a moment; one
 *   that cannot be driven here (a snapshot that does not parse) for a minute: neither spins, and neither keeps others waiting.
 * - While the database does not answer it tries again with growing pauses. Nothing of it rejects.
 * - To stop is to drain: nothing new is claimed, model calls stop, tools that are out come to their end and their results are committed,
 *   leases are given back.
 */
export class Worker {
  readonly #services: Services;
  readonly #settings: WorkerSettings;
  readonly #wake = new Wake();
  readonly #stopping = new AbortController();
  readonly #driving = new Map<string, Promise<void>>();
  readonly #leftAlone = new LeftAlone();
  /** Sessions that were found and owed nothing, the last time that they were looked at. */
  readonly #idle = new Set<string>();
  /** Whether the last look found as many sessions as there were slots. */
  #mayBeMore = false;
  #failures = 0;
  #announcing: Promise<void> | null = null;

  constructor(services: Services, settings: WorkerSettings) {
    const closing = AbortSignal.any([services.closing, this.#stopping.signal]);
    this.#services = { ...services, closing, drives: true, isClaiming: true };
    this.#settings = settings;
  }

  /** Works until `stop` or the runtime's end. Resolves when no session is driven any more; never rejects. */
  async run(): Promise<void> {
    const { closing, store } = this.#services;
    const stopListening = store.database.wakeUps?.subscribe((sessionId) => this.#heard(sessionId));
    try {
      while (!closing.aborted) {
        const waitMs = await this.#look();
        await store.environment.sleep(MIN_PAUSE_MS, closing).catch(() => undefined);
        await this.#wake.wait(store.environment, waitMs - MIN_PAUSE_MS, closing);
      }
    } finally {
      const { memory, summariser } = this.#services;
      await Promise.all([...this.#driving.values(), stopListening?.(), memory.vectorWork?.swept(), summariser.swept()]);
    }
  }

  /** From now on nothing new is claimed; `run` resolves once everything under way has come to its end here. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Work for somebody, or a message to a session that is driven here. */
  #heard(sessionId: string | undefined): void {
    this.#wake.wake();
    if (sessionId !== undefined) this.#services.live.driveOf(sessionId)?.look();
  }

  /** Looks once and begins what it can. Milliseconds until the next look. */
  async #look(): Promise<number> {
    const { environment, limits } = this.#services.store;
    try {
      const dueInMs = await this.#claim();
      this.#failures = 0;
      // Spread, so that workers that were started together do not look together.
      return Math.min(limits.sweepMs * (0.8 + 0.2 * environment.random()), dueInMs + 1);
    } catch (error) {
      if (this.#failures === 0) this.#warnOf(error);
      this.#failures += 1;
      return Math.min(MAX_BACKOFF_MS, 100 * 2 ** this.#failures) * (0.5 + environment.random());
    }
  }

  async #claim(): Promise<number> {
    this.#announce();
    this.#services.memory.vectorWork?.sweepSoon(this.#services.closing);
    inBackground(this.#services, () => this.#services.summariser.sweep(this.#services));
    const { store, build, closing } = this.#services;
    const free = this.#settings.concurrency - this.#driving.size;
    if (free <= 0) return Number.POSITIVE_INFINITY;
    const excluding = [...this.#driving.keys(), ...this.#leftAlone.at(store.environment.monotonic())];
    const { keys, dueInMs } = await claimSessions(store, { build, excluding, max: free });
    this.#mayBeMore = keys.length === free;
    if (closing.aborted) return 0;
    for (const key of keys) this.#begin(key);
    return Math.min(dueInMs ?? Number.POSITIVE_INFINITY, this.#leftAlone.nextAt - store.environment.monotonic());
  }

  /** Tells the host of what people are asked, where the process that asked died before it could. */
  #announce(): void {
    const { announcer, operations } = this.#services;
    if (announcer === null || this.#announcing !== null) return;
    this.#announcing = operations
      .run(() => announcer.sweep())
      .catch(() => undefined)
      .finally(() => {
        this.#announcing = null;
      });
  }

  #begin(key: SessionKey): void {
    const driving = this.#attend(key).finally(() => {
      this.#driving.delete(key.sessionId);
      if (this.#mayBeMore) this.#wake.wake();
    });
    this.#driving.set(key.sessionId, driving);
  }

  async #attend(key: SessionKey): Promise<void> {
    const { recovery, acted } = await recoverOne(this.#services, key).catch((error: unknown) =>
      this.#failed(key, error),
    );
    // A parent that sleeps is woken by its children, and must not be left alone then.
    const isAsleep = recovery.state === 'EXECUTING_TOOL';
    const pauseMs = acted || isAsleep ? this.#pauseAfter(recovery) : this.#pauseAfterNothing(key);
    if (pauseMs > 0) this.#leftAlone.add(key.sessionId, this.#services.store.environment.monotonic() + pauseMs);
    if (!acted || recovery.skipped === 'LEASE_HELD') return;
    this.#idle.delete(key.sessionId);
    this.#tell(recovery);
  }

  /** What the caller's function throws, at once or later, ends neither the worker nor the process. Nothing is waited for. */
  #tell(recovery: Recovery): void {
    const { onSession, onWarning } = this.#settings;
    (async () => onSession(recovery))().catch((error: unknown) =>
      onWarning({ code: 'WORKER_CALLBACK_FAILED', message: `onSession threw: ${textOf(error)}` }),
    );
  }

  /** What is no error of ours is a fault of this build; the session is owed again once its lease has run out. */
  #failed(key: SessionKey, error: unknown): Attention {
    const skipped: ErrorCode = isTurnlockError(error) ? error.code : 'INVARIANT_BROKEN';
    if (skipped === 'RUNTIME_CLOSED') return { recovery: { ...key, skipped }, acted: false };
    this.#settings.onWarning({ code: 'WORKER_SESSION_FAILED', message: `Session ${key.sessionId}: ${textOf(error)}` });
    return { recovery: { ...key, skipped }, acted: true };
  }

  /** How long a session is not looked at again after this came of it, in milliseconds. */
  #pauseAfter({ skipped }: Recovery): number {
    if (skipped === undefined) return 0;
    if (skipped === 'TOKEN_STALE') return 0; // somebody has it, or has cancelled it: it is not owed
    if (skipped === 'LEASE_HELD') return HELD_MS;
    const { sweepMs } = this.#services.store.limits;
    return PASSING.includes(ERROR_CODES[skipped as ErrorCode].category) ? sweepMs : LEFT_ALONE_MS;
  }

  /** The same for one that owed nothing: another worker was quicker; found again at once, it only seems to owe something. */
  #pauseAfterNothing({ sessionId }: SessionKey): number {
    if (this.#idle.has(sessionId)) return this.#services.store.limits.sweepMs;
    if (this.#idle.size >= MAX_IDLE) this.#idle.clear();
    this.#idle.add(sessionId);
    return HELD_MS;
  }

  #warnOf(error: unknown): void {
    this.#settings.onWarning({
      code: 'SWEEP_FAILED',
      message: `The worker cannot look for work and tries again: ${textOf(error)}`,
    });
  }
}

/** Whatever was thrown, also what cannot be made a text. */
function textOf(error: unknown): string {
  return isTurnlockError(error) ? `${error.code}: ${error.message}` : normaliseError(error).message;
}
