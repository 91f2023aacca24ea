import type { ToolRecalled, ToolRecallQuery, ToolRemembered } from '../../adapters/tools/memory.contract.ts';
import { isTurnlockError } from '../../errors.ts';
import type { MemoryOwner, NewMemory } from '../../persistence/memory/new-memory.ts';
import { refuseReentrance } from '../../persistence/reentrance.ts';
import { checkOptions } from '../check-options.ts';
import type { AgentRecall } from '../context/context-options.ts';
import type { Services } from '../services.ts';
import { checkRecall, checkRemembered } from './check-memory.ts';
import { searchMemories } from './search-memories.ts';

/** Characters of a message by which is recalled: a long one is about many things. */
const MAX_QUERY_CHARACTERS = 2_000;

/** What is remembered of the user of one session that is driven here. It works on while the runtime closes, as tools that are out do. */
export class SessionMemory {
  readonly #services: Services;
  readonly #owner: MemoryOwner;

  constructor(services: Services, { tenantId, userId }: MemoryOwner) {
    this.#services = services;
    this.#owner = { tenantId, userId };
  }

  /** What a tool remembers, checked and normalised. @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE. */
  checked(memory: ToolRemembered): NewMemory {
    const { store, memory: settings } = this.#services;
    const { environment, limits } = store;
    const given = checkOptions(memory, 'remember', ['kind', 'content', 'metadata', 'expiresAt']);
    return checkRemembered(given, { environment, limits, language: settings.language });
  }

  /** See `ToolMemory.recall`. */
  async recall(asked: ToolRecallQuery, signal?: AbortSignal): Promise<ToolRecalled[]> {
    refuseReentrance();
    const query = checkOptions(asked, 'recall', ['query', 'kinds', 'limit']);
    const { memories } = await searchMemories(
      this.#services,
      this.#owner,
      checkRecall(query, this.#services.store.limits),
      signal,
    );
    return memories.map(({ memoryId, kind, content, score, createdAt, metadata }) => {
      return { memoryId, kind, content, score, createdAt, metadata };
    });
  }

  /** What fits a message, for its run to be shown. Never rejects: what fails is a warning. A run that `signal` stops waits for no embedder. */
  async recallFor(message: string, { limit, kinds }: AgentRecall, signal: AbortSignal): Promise<ToolRecalled[]> {
    const query = message.slice(0, MAX_QUERY_CHARACTERS).toWellFormed();
    try {
      return await this.recall({ query, limit, ...(kinds === null ? {} : { kinds }) }, signal);
    } catch (error) {
      const code = isTurnlockError(error) ? error.code : 'INVARIANT_BROKEN';
      const message = `Nothing could be recalled for a run, which goes on without: ${code}`;
      this.#services.signals.warn({ code: 'RECALL_FAILED', message });
      return [];
    }
  }
}
