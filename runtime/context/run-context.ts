import type { ModelTurn } from '../../adapters/models/model.contract.ts';
import type { ToolRecalled } from '../../adapters/tools/memory.contract.ts';
import { isTurnlockError } from '../../errors.ts';
import type { ShownMemoryContent } from '../../machines/event-content.ts';
import { findSummary, type SessionSummaryText } from '../../persistence/memory/read-summary.ts';
import { type HistoryTurn, readHistory } from '../../persistence/read-history.ts';
import { readWindow } from '../../persistence/read-window.ts';
import type { DriveContext } from '../drive-context.ts';
import type { CountTokens } from './count-tokens.ts';
import { dueSummary } from './due-summary.ts';
import { fittingMemories } from './fitting-memories.ts';
import { fittingSummary } from './fitting-summary.ts';
import { type ShownMemory, withMemories } from './memory-block.ts';
import { leastTokens, selectWindow } from './select-window.ts';
import { turnText } from './turn-text.ts';

/** What a model is given of a session, for one attempt. */
export interface GivenContext {
  instructions: string;
  turns: ModelTurn[];
  /** The first turn of those without a hole. */
  windowFrom: number;
  memories: ShownMemoryContent[];
}

/** Bytes that are read for each token of a budget: few texts have more. */
export const BYTES_PER_TOKEN = 8;

/** Tokens by which providers part one turn, or one tool, from the next. */
const OVERHEAD = 4;

/** What the models of one run are given: read, recalled, counted and fitted into the agent's budget. */
export class RunContext {
  readonly #drive: DriveContext;
  /** By turn: they never change. */
  readonly #tokens = new Map<number, number>();
  #fixed: { instructions: string; tokens: number } | null = null;
  #summary: SessionSummaryText | null = null;
  /** The turn up to which this run has owed a summary that is not there yet. */
  #owed: number | null = null;
  /** `null`: nothing was recalled yet. */
  #recalled: readonly ShownMemory[] | null = null;

  constructor(drive: DriveContext) {
    this.#drive = drive;
  }

  /** The turns that the run may need: all, or of an agent with a budget those that the budget can hold, from its summary's end on. */
  async read(runId: string): Promise<HistoryTurn[]> {
    const { store, session, limits, agent } = this.#drive;
    const { tenantId, sessionId } = session;
    const key = { tenantId, sessionId, runId };
    if (agent.context == null) return readHistory(store, key, limits.leaseMs);
    const maxBytes = agent.context.maxTokens * BYTES_PER_TOKEN;
    return readWindow(
      store,
      key,
      async (em) => {
        this.#summary = await findSummary(em, key);
        return { after: this.#summary?.coversToTurn ?? -1, maxBytes };
      },
      limits.leaseMs,
    );
  }

  /** Recalls once in a run what is remembered for its message. Where that fails nothing is shown. */
  async recall(turns: readonly ModelTurn[], signal: AbortSignal): Promise<void> {
    const { agent, countTokens, memory } = this.#drive;
    if (this.#recalled !== null || agent.recall == null || countTokens === null) return;
    const message = turns.findLast(({ role }) => role === 'user')?.text ?? '';
    const found = await memory.recallFor(message, agent.recall, signal);
    const own = this.#summary?.memoryId;
    const shown = found.filter(({ memoryId }) => memoryId !== own).map(toShown);
    this.#recalled =
      withoutThrowing(() => fittingMemories(shown, agent.recall?.maxTokens ?? 0, countTokens).memories) ?? [];
  }

  /** What fits of `turns`. Without a budget all of them. */
  give(instructions: string, turns: ModelTurn[]): GivenContext {
    const { agent, countTokens } = this.#drive;
    const recalled = this.#recalled ?? [];
    if (agent.context == null || countTokens === null) return given(instructions, recalled, { turns, leftOut: null });
    const tokensOf = this.#tokensOf(countTokens);
    const room = agent.context.maxTokens - this.#fixedTokens(instructions, countTokens);
    const coversToTurn = this.#summary?.coversToTurn ?? -1;
    const forMemories = room - leastTokens({ turns, coversToTurn, tokensOf });
    const summary = this.#summary === null ? [] : fittingSummary(summaryShown(this.#summary), forMemories, countTokens);
    const fitting = fittingMemories([...summary, ...recalled], forMemories, countTokens);
    const window = selectWindow({ turns, coversToTurn, maxTokens: room - fitting.tokens, tokensOf });
    return given(instructions, fitting.memories, window);
  }

  /** Owes a summary where one is due, once until it is there. Never throws: a count that fails, fails the next model call. */
  noteDue(turns: readonly ModelTurn[], rests: boolean): void {
    withoutThrowing(() => this.#noteDue(turns, rests));
  }

  #noteDue(turns: readonly ModelTurn[], rests: boolean): void {
    const { agent, countTokens } = this.#drive;
    if (agent.context == null || countTokens === null) return;
    const coversToTurn = this.#summary?.coversToTurn ?? -1;
    if (this.#owed !== null && coversToTurn < this.#owed) return;
    const { maxTokens, keepTokens } = agent.context;
    const tokensOf = this.#tokensOf(countTokens);
    const due = dueSummary({ turns, coversToTurn, maxTokens, keepTokens, rests, tokensOf });
    if (due === null) return;
    this.#owed = due;
    this.#drive.oweSummary(due);
  }

  #tokensOf(countTokens: CountTokens): (turn: ModelTurn) => number {
    return (turn) => {
      const known = this.#tokens.get(turn.turnIndex);
      if (known !== undefined) return known;
      const tokens = countTokens(turnText(turn)) + OVERHEAD;
      this.#tokens.set(turn.turnIndex, tokens);
      return tokens;
    };
  }

  /** Tokens of what is given with every request of the run. */
  #fixedTokens(instructions: string, countTokens: CountTokens): number {
    if (this.#fixed?.instructions !== instructions) {
      const { tools, output } = this.#drive.agent;
      const texts = [...tools.values()].map(({ name, description, inputJsonSchema }) =>
        JSON.stringify({ name, description, inputJsonSchema }),
      );
      if (output !== null) texts.push(JSON.stringify(output.jsonSchema));
      const tokens = [instructions, ...texts].reduce((sum, text) => sum + countTokens(text) + OVERHEAD, 0);
      this.#fixed = { instructions, tokens };
    }
    return this.#fixed.tokens;
  }
}

function summaryShown({ memoryId, content }: SessionSummaryText): ShownMemory {
  return { memoryId, kind: 'summary', why: 'summary', content };
}

function toShown({ memoryId, kind, content, createdAt, score }: ToolRecalled): ShownMemory {
  return { memoryId, kind, why: 'recalled', content, createdAt, score };
}

/** What `count` comes to; `null` where a count of the caller fails: it fails the next model call, which says so. */
function withoutThrowing<Result>(count: () => Result): Result | null {
  try {
    return count();
  } catch (error) {
    if (isTurnlockError(error, 'DEFINITION_INVALID')) return null;
    throw error;
  }
}

function given(
  instructions: string,
  memories: readonly ShownMemory[],
  { turns, leftOut }: { turns: ModelTurn[]; leftOut: { to: number } | null },
): GivenContext {
  return {
    instructions: withMemories(instructions, memories),
    turns,
    windowFrom: leftOut === null ? (turns[0]?.turnIndex ?? 0) : leftOut.to + 1,
    memories: memories.map((memory) => {
      const { memoryId, kind, why } = memory;
      return { memoryId, kind, why, ...(memory.why === 'recalled' ? { score: memory.score } : {}) };
    }),
  };
}
