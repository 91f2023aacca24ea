import type { Runtime } from '../../../runtime/create-runtime.ts';
import type { Transcript } from './transcript.ts';

/**
 * Which recording each session of this process repeats, told by the session's external id, so that a process that was started after a
 * crash knows it as well; and which sessions have come to a place where the recording has no answer of the assistant.
 */
export class RehearsedSessions {
  readonly tenantId: string;
  readonly #byId: ReadonlyMap<string, Transcript>;
  readonly #bySession = new Map<string, Promise<Transcript>>();
  readonly #silent = new Map<string, PromiseWithResolvers<void>>();
  #runtime: Runtime | null = null;

  constructor(tenantId: string, transcripts: readonly Transcript[]) {
    this.tenantId = tenantId;
    this.#byId = new Map(transcripts.map((transcript) => [transcript.id, transcript]));
  }

  /** Agents are made before their runtime. */
  attach(runtime: Runtime): void {
    this.#runtime = runtime;
  }

  /** The runtime that the sessions live in. */
  get runtime(): Runtime {
    return this.#runtime as Runtime;
  }

  /** The recording that a session repeats. */
  transcriptOf(sessionId: string): Promise<Transcript> {
    const known = this.#bySession.get(sessionId) ?? this.#lookUp(sessionId);
    this.#bySession.set(sessionId, known);
    return known;
  }

  async #lookUp(sessionId: string): Promise<Transcript> {
    const session = await this.runtime.session({ tenantId: this.tenantId, sessionId });
    const { externalId } = await session.status();
    return this.#byId.get(externalId ?? '') as Transcript;
  }

  /** The model of `sessionId` was asked where `users` user turns had been spoken and the recording says no answer. */
  fallSilent(sessionId: string, users: number): void {
    this.#silence(sessionId, users).resolve();
  }

  /** Resolves when that has happened, in this process. */
  silent(sessionId: string, users: number): Promise<void> {
    return this.#silence(sessionId, users).promise;
  }

  #silence(sessionId: string, users: number): PromiseWithResolvers<void> {
    const key = `${sessionId} ${users}`;
    const silence = this.#silent.get(key) ?? Promise.withResolvers<void>();
    this.#silent.set(key, silence);
    return silence;
  }
}
