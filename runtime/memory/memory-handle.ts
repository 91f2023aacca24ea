import { isTurnlockError, TurnlockError } from '../../errors.ts';
import {
  type CallerTransaction,
  checkCallerTransaction,
  rememberInTransaction,
} from '../../persistence/caller-transaction.ts';
import { contentDigest } from '../../persistence/keys/content-digest.ts';
import { forgetMemories } from '../../persistence/memory/forget-memories.ts';
import { hasMemory } from '../../persistence/memory/has-memory.ts';
import { insertMemory, type MemoryOwner, type NewMemory } from '../../persistence/memory/new-memory.ts';
import { type FoundMemory, newestMemories } from '../../persistence/memory/recall-memories.ts';
import { writeEmbedded } from '../../persistence/memory/write-embedded.ts';
import { inPatientTransaction } from '../../persistence/patient-transaction.ts';
import { readSession } from '../../persistence/read-session-by-key.ts';
import { checkUuid } from '../../persistence/values/check-uuid.ts';
import { checkOptions } from '../check-options.ts';
import { optionRefused } from '../check-query.ts';
import { operate, type Services } from '../services.ts';
import {
  checkForget,
  checkList,
  checkRecall,
  checkRemembered,
  type ForgetOptions,
  type ListMemoriesOptions,
  type RecallOptions,
  type Remembered,
} from './check-memory.ts';
import { type Recalled, searchMemories } from './search-memories.ts';

/** How something is remembered. */
export interface RememberOptions {
  /** A transaction of the caller's, in which the memory is inserted and nothing else: it is there once that commits. Its role needs `turnlock_client`. */
  transaction?: CallerTransaction;
  /**
   * `after`: its vector is made in background once it is stored, by this process or a worker; until then it is found by its words. `before`: the
   * embedder is asked first, and vector and memory are stored together; where it fails nothing is. Default `after`.
   */
  embed?: 'after' | 'before';
}

/**
 * What the agents of one user remember: made by `runtime.memory`, for one tenant and one user. There is no way from it to another's memories.
 *
 * A memory never changes: another one supersedes it. Superseded and expired ones are not found.
 */
export class Memory {
  readonly tenantId: string;
  readonly userId: string;
  readonly #services: Services;

  constructor(services: Services, { tenantId, userId }: MemoryOwner) {
    this.#services = services;
    this.tenantId = tenantId;
    this.userId = userId;
  }

  /**
   * Stores a memory: durable, and found by its words, once this resolves. With `sessionId` by a commit of that session of the user, whose audit
   * then names it; with `transaction` in yours. With a `memoryId`, a repeat with the same content stores nothing and answers with the memory of then.
   *
   * @throws MEMORY_CONFLICT when the user has a memory of this id with another content, or what it supersedes was superseded before.
   * @throws MEMORY_NOT_FOUND when the user has not all of what it supersedes. SESSION_NOT_FOUND, also for a session of another user.
   * EVENT_ILLEGAL for a completed session. EMBEDDING_FAILED with `embed: 'before'`.
   * @throws OPTIONS_INVALID, also for a language that the database does not have. VALUE_INVALID, VALUE_TOO_LARGE, PRIVILEGE_MISSING,
   * RUNTIME_CLOSED, DATABASE_UNREACHABLE, COMMIT_UNKNOWN.
   */
  async remember(
    memory: Remembered & { sessionId?: string },
    options: RememberOptions = {},
  ): Promise<{ memoryId: string; repeated: boolean }> {
    const { transaction, embed = 'after' } = checkOptions(options, 'remember', ['transaction', 'embed']);
    if (embed !== 'after' && embed !== 'before') throw optionRefused('embed', 'after or before');
    const { store, memory: settings } = this.#services;
    const { environment, limits } = store;
    const checked = checkRemembered(memory, { environment, limits, language: settings.language });
    const { sessionId } = memory;
    if ([transaction, sessionId, embed === 'before' ? embed : undefined].filter((way) => way !== undefined).length > 1)
      throw optionRefused('transaction', 'none beside sessionId, and neither beside embed: before');
    return operate(this.#services, async () => {
      if (transaction !== undefined) {
        return rememberInTransaction(checkCallerTransaction(transaction), this.#owner, checked);
      }
      if (embed === 'before') return this.#rememberEmbedded(checked);
      const { memoryId } = checked;
      if (sessionId !== undefined) {
        return { memoryId, repeated: await this.#commit(checkUuid(sessionId, 'sessionId'), checked) };
      }
      const repeated = await this.#insert(checked);
      if (!repeated) settings.vectorWork?.soon(this.#owner, [memoryId]);
      return { memoryId, repeated };
    });
  }

  /**
   * The user's memories that fit the query best: by words and, where vectors are kept, by meaning, fused by reciprocal rank. The query is embedded
   * before, with no connection held; where that fails or takes longer than `limits.embedTimeoutMs`, words alone count and `onWarning` hears of it.
   *
   * @throws EMBEDDING_FAILED with `by: 'vector'`, when the embedder fails. OPTIONS_INVALID, also for `by: 'vector'` where the runtime has no vectors.
   * @throws VALUE_INVALID, VALUE_TOO_LARGE, RUNTIME_CLOSED, DATABASE_UNREACHABLE.
   */
  async recall(options: RecallOptions): Promise<Recalled> {
    const checked = checkRecall(options, this.#services.store.limits);
    return operate(this.#services, () => searchMemories(this.#services, this.#owner, checked));
  }

  /**
   * Deletes memories of the user, for good: these, or all that fit; with their vectors. What they had superseded stays superseded. What models were
   * told of them stays in the history of sessions. Answers with how many there were.
   *
   * @throws OPTIONS_INVALID, VALUE_INVALID, RUNTIME_CLOSED, DATABASE_UNREACHABLE.
   */
  async forget(options: ForgetOptions): Promise<{ forgotten: number }> {
    const checked = checkForget(options);
    return operate(this.#services, async () => ({
      forgotten: await forgetMemories(this.#services.store, this.#owner, checked),
    }));
  }

  /**
   * The user's memories, newest first, page by page.
   *
   * @throws OPTIONS_INVALID, also where `after` was forgotten meanwhile. VALUE_INVALID, RUNTIME_CLOSED, DATABASE_UNREACHABLE.
   */
  async list(options: ListMemoriesOptions = {}): Promise<FoundMemory[]> {
    const checked = checkList(options);
    const { after } = checked;
    return operate(this.#services, async () => {
      const page = await newestMemories(this.#services.store, this.#owner, checked);
      if (after === undefined || page.length > 0 || (await hasMemory(this.#services.store, this.#owner, after)))
        return page;
      // Where it stood is known no more: an empty page would look like the last one.
      throw optionRefused('after', 'the id of a memory that the user still has');
    });
  }

  get #owner(): MemoryOwner {
    return { tenantId: this.tenantId, userId: this.userId };
  }

  /** A repeat of our own, after an answer that was lost, is none of the caller's. */
  async #insert(memory: NewMemory): Promise<boolean> {
    const { tenantId } = this;
    return inPatientTransaction(this.#services.store, { tenantId }, async (em, attempt) => {
      const { repeated } = await insertMemory(em, this.#owner, memory);
      return repeated && attempt === 1;
    });
  }

  async #rememberEmbedded(memory: NewMemory): Promise<{ memoryId: string; repeated: boolean }> {
    const { store, memory: settings } = this.#services;
    const { vectorWork } = settings;
    if (vectorWork === null) throw optionRefused('embed', 'after, where the runtime keeps no vectors');
    const embedding = await vectorWork.embedDocument(memory.content);
    const repeated = await writeEmbedded(store, this.#owner, memory, { vectors: vectorWork.vectors, embedding });
    return { memoryId: memory.memoryId, repeated };
  }

  /** What is there is repeated, or another one, as it is without a session. What the session stored and was forgotten since is stored anew. */
  async #commit(sessionId: string, memory: NewMemory): Promise<boolean> {
    const { tenantId, userId } = this;
    const { store, live } = this.#services;
    const { session } = await readSession(store, { tenantId, sessionId });
    if (session.userId !== userId) throw sessionNotFound(this, sessionId);
    const { memoryId, kind, content, metadata, expiresAt } = memory;
    const commitAs = async (eventId: string): Promise<boolean> => {
      const request = {
        ...{ tenantId, sessionId, eventId, cause: 'user' as const, claim: { type: 'none' as const } },
        event: { type: 'memory.stored' as const, memoryIds: [memoryId] },
        contentDigest: contentDigest({ kind, content, metadata, expiresAt: expiresAt?.getTime() ?? null }),
        memories: [memory],
      };
      const { repeated } = await live.use(this.#services, session, (actor) => actor.commit(request));
      return repeated;
    };
    if (await hasMemory(store, this.#owner, memoryId)) return this.#insert(memory);
    const wasCommitted = await commitAs(`memory:${memoryId}`).catch((error: unknown) => {
      if (isTurnlockError(error, 'MESSAGE_CONFLICT')) return true;
      throw error;
    });
    if (!wasCommitted) return false;
    if (await hasMemory(store, this.#owner, memoryId)) return this.#insert(memory);
    return commitAs(`memory:${memoryId}:${store.environment.uuid()}`);
  }
}

function sessionNotFound({ tenantId, userId }: MemoryOwner, sessionId: string): TurnlockError {
  return new TurnlockError('SESSION_NOT_FOUND', {
    message: `session not found: ${sessionId} (wanted one of user ${JSON.stringify(userId)} of tenant ${JSON.stringify(tenantId)})`,
    details: { sessionId, tenantId, userId },
  });
}
