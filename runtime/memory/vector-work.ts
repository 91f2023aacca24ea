import type { Embedder } from '../../adapters/embedders/embedder.contract.ts';
import { isTurnlockError } from '../../errors.ts';
import {
  type EmbedTask,
  findEmbedTasks,
  readContents,
  type VectorStore,
  writeEmbeddings,
} from '../../persistence/memory/embedding-rows.ts';
import { claimMemoryTasks, failTask } from '../../persistence/memory/memory-tasks.ts';
import type { MemoryOwner } from '../../persistence/memory/new-memory.ts';
import type { QueryVector } from '../../persistence/memory/recall-memories.ts';
import { releaseTask } from '../../persistence/memory/release-task.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import type { Operations } from '../operations.ts';
import { embedTexts } from './embed-texts.ts';

/** What makes vectors. */
export interface VectorWorkSettings {
  store: Store;
  embedder: Embedder;
  vectors: VectorStore;
  operations: Operations;
  /** Aborts when the runtime closes: then nothing new is asked, and what was claimed is given back. */
  closing: AbortSignal;
  onWarning: (warning: { code: string; message: string }) => void;
}

/** Texts that one call of an embedder holds, where it does not say less. */
const MAX_BATCH = 64;

/** Milliseconds for which a batch is claimed, beside the time that its embedder has. */
const CLAIMED_BESIDE_MS = 30_000;

/**
 * Makes the vectors that are owed: at once for what this process has remembered, and whatever is due for a worker. Never inside a transaction:
 * texts are read, then embedded with no connection held, then the vectors are stored with the end of their tasks. A process that dies in between
 * leaves the tasks to whoever claims them next. Nothing of it rejects; `close` waits for it.
 */
export class VectorWork {
  readonly #settings: VectorWorkSettings;
  /** Owed by what this process has remembered, and not begun. */
  #waiting: { owner: MemoryOwner; memoryId: string }[] = [];
  #running: Promise<void> | null = null;
  #sweeping: Promise<void> | null = null;
  /** Whether the last query could not be embedded: it is told once. */
  #isQueryFailing = false;
  #isReplaced = false;

  constructor(settings: VectorWorkSettings) {
    this.#settings = settings;
  }

  /** Makes the vectors of what was just remembered, in background. */
  soon(owner: MemoryOwner, memoryIds: readonly string[]): void {
    const { operations, closing } = this.#settings;
    if (closing.aborted) return;
    const { tenantId, userId } = owner;
    this.#waiting.push(...memoryIds.map((memoryId) => ({ owner: { tenantId, userId }, memoryId })));
    if (this.#running !== null) return;
    this.#running = operations
      .run(() => this.#workOff())
      .catch((error: unknown) => this.#warn(error))
      .finally(() => {
        this.#running = null;
      });
  }

  /**
   * Makes what is due, of any tenant, one batch after the other until nothing is, or `signal` aborts. Answers with how many vectors were made.
   */
  async sweep({ signal, onBatch }: { signal: AbortSignal; onBatch?: (made: number) => void }): Promise<number> {
    return this.#settings.operations.run(async () => {
      const ends = AbortSignal.any([signal, this.#settings.closing]);
      for (let sum = 0; ; ) {
        const tasks = ends.aborted ? [] : await this.#claim();
        if (tasks.length === 0) return sum;
        const made = await this.#make(tasks, ends);
        sum += made;
        onBatch?.(made);
      }
    });
  }

  /** {@link VectorWork.sweep} for a worker: one at a time; what goes wrong is a warning, and is tried again at the next look. */
  sweepSoon(signal: AbortSignal): void {
    if (this.#sweeping !== null || this.#isReplaced) return;
    this.#sweeping = this.sweep({ signal })
      .then(
        () => undefined,
        (error: unknown) => this.#warn(error),
      )
      .finally(() => {
        this.#sweeping = null;
      });
  }

  /** Resolves when no sweep of a worker is under way. */
  async swept(): Promise<void> {
    await this.#sweeping;
  }

  /**
   * The vector of what is looked for; `null`, and a warning, where the embedder failed or was late: then text alone is searched. `null` as soon as
   * `signal` aborts, as nobody waits for it any more.
   */
  async queryVector(text: string, signal: AbortSignal = this.#settings.closing): Promise<QueryVector | null> {
    try {
      const vector = await this.embedQuery(text, signal);
      this.#isQueryFailing = false;
      return vector;
    } catch (error) {
      // Tools that are out while the runtime closes come to their end: they search by text.
      if (this.#settings.closing.aborted || signal.aborted) return null;
      if (!this.#isQueryFailing) this.#warn(error, 'Searches go by text alone for the time being');
      this.#isQueryFailing = true;
      return null;
    }
  }

  /** The same, for who needs it. @throws EMBEDDING_FAILED. */
  async embedQuery(text: string, signal: AbortSignal = this.#settings.closing): Promise<QueryVector> {
    const ends = AbortSignal.any([this.#settings.closing, signal]);
    const [values] = await embedTexts({ ...this.#embedding(), signal: ends }, [text], 'query');
    return { ...this.#settings.vectors, values: values! };
  }

  /** The vector of a text that is about to be remembered. @throws EMBEDDING_FAILED. */
  async embedDocument(text: string): Promise<readonly number[]> {
    const [values] = await embedTexts(this.#embedding(), [text], 'document');
    return values!;
  }

  get vectors(): VectorStore {
    return this.#settings.vectors;
  }

  #embedding() {
    const { embedder, store, closing: signal } = this.#settings;
    return { embedder, environment: store.environment, timeoutMs: store.limits.embedTimeoutMs, signal };
  }

  async #workOff(): Promise<void> {
    const { store, closing } = this.#settings;
    while (this.#waiting.length > 0 && !closing.aborted) {
      const { owner } = this.#waiting[0]!;
      const isOwn = (one: { owner: MemoryOwner }) =>
        one.owner.tenantId === owner.tenantId && one.owner.userId === owner.userId;
      const batch = this.#waiting.filter(isOwn).slice(0, this.#batchSize());
      this.#waiting = this.#waiting.filter((one) => !batch.includes(one));
      const ids = await findEmbedTasks(
        store,
        owner,
        batch.map(({ memoryId }) => memoryId),
      );
      if (ids.length > 0) await this.#make(await this.#claim(ids), closing);
    }
  }

  #batchSize(): number {
    return Math.min(this.#settings.embedder.maxBatch ?? MAX_BATCH, MAX_BATCH);
  }

  async #claim(taskIds?: readonly string[]): Promise<EmbedTask[]> {
    const { store, closing } = this.#settings;
    if (closing.aborted || this.#isReplaced) return [];
    const tasks = await claimMemoryTasks(store, {
      max: this.#batchSize(),
      kinds: ['embed'],
      agents: [],
      leaseMs: store.limits.embedTimeoutMs + CLAIMED_BESIDE_MS,
      ...(taskIds === undefined ? {} : { taskIds }),
    });
    return tasks as EmbedTask[];
  }

  /** How many vectors came of it. Where a batch is refused for good, each text is asked for alone: one that is refused must not keep the others. */
  async #make(tasks: readonly EmbedTask[], signal: AbortSignal): Promise<number> {
    const { store } = this.#settings;
    const contents = await readContents(store, tasks);
    const there = tasks.filter(({ taskId }) => contents.has(taskId));
    if (there.length === 0) return 0;
    try {
      const texts = there.map(({ taskId }) => contents.get(taskId) as string);
      const embeddings = await embedTexts({ ...this.#embedding(), signal }, texts, 'document');
      return await this.#store(there, embeddings);
    } catch (error) {
      if (signal.aborted) {
        for (const task of there) await releaseTask(store, task);
        return 0;
      }
      if (!isTurnlockError(error, 'EMBEDDING_FAILED')) throw error;
      if (!error.retryable && there.length > 1) {
        let made = 0;
        for (const task of there) made += await this.#make([task], signal);
        return made;
      }
      this.#warn(error);
      for (const task of there) await failTask(store, task, error.code);
      return 0;
    }
  }

  async #store(tasks: readonly EmbedTask[], embeddings: readonly (readonly number[])[]): Promise<number> {
    const { store, vectors, onWarning } = this.#settings;
    const made = tasks.map((task, place) => ({ task, embedding: embeddings[place]! }));
    if (await writeEmbeddings(store, vectors, made)) return made.length;
    this.#isReplaced = true;
    for (const task of tasks) await releaseTask(store, task);
    onWarning({
      code: 'EMBEDDING_MISMATCH',
      message: `Vectors of another model than ${vectors.modelId} are kept by now: this process makes none any more until it is started anew.`,
    });
    return 0;
  }

  #warn(error: unknown, consequence = 'It is tried again later'): void {
    if (this.#settings.closing.aborted) return;
    const code = isTurnlockError(error) ? error.code : 'INVARIANT_BROKEN';
    const told = isTurnlockError(error) ? error.message : 'an unexpected error.';
    this.#settings.onWarning({ code, message: `${consequence}: ${told}` });
  }
}
