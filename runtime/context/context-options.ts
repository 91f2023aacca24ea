import type { Model } from '../../adapters/models/model.contract.ts';
import type { RememberedKind } from '../../adapters/tools/memory.contract.ts';
import type { CountTokens } from './count-tokens.ts';

/** The budget of what an agent's models are given, and how what does not fit is summarised. */
export interface ContextOptions {
  /**
   * Tokens of everything that a model is given with one call: instructions, tools, memories and turns. A whole number from 200 on. Where the
   * instructions, the tools, the last message and the last answer with its results have more, these alone are given all the same.
   * Counted by a vocabulary that may not be that of your model, so stay some tenths below what it takes.
   */
  maxTokens: number;
  /** Tokens of the newest turns that no summary takes the place of, 0 to half of `maxTokens`. Default a quarter of `maxTokens`. */
  keepTokens?: number;
  /** Writes the summaries. Default: the agent's own model. */
  summaryModel?: Model;
  /** What the summary shall keep: text that stands after what the summariser is told in any case. Default: nothing more is said. */
  summaryInstructions?: string;
  /** Counts the tokens of a text: must be quick, and must not fail. Default: by the package gpt-tokenizer, an optional peer, as `o200k_base`. */
  countTokens?: CountTokens;
}

/** {@link ContextOptions} as an agent holds them. */
export interface AgentContext {
  readonly maxTokens: number;
  readonly keepTokens: number;
  /** `null`: the agent's own. */
  readonly summaryModel: Model | null;
  readonly summaryInstructions: string | null;
  /** `null`: the package's. */
  readonly countTokens: CountTokens | null;
}

/** What is recalled for a message before its run asks the model. */
export interface AgentRecallOptions {
  /** Tokens that the recalled memories may have. A whole number from 1 on; default 1 000. */
  maxTokens?: number;
  /** How many memories are recalled at most: a whole number from 1 to 100, default 8. */
  limit?: number;
  /** Which kinds are recalled. Default: all. */
  kinds?: readonly RememberedKind[];
}

/** {@link AgentRecallOptions} as an agent holds them. */
export interface AgentRecall {
  readonly maxTokens: number;
  readonly limit: number;
  /** `null`: all. */
  readonly kinds: readonly RememberedKind[] | null;
}

/** Refuses an option of the agent unless it holds: `(holds, option, wanted)`. */
type Check = (holds: boolean, option: string, wanted: string) => void;

const CONTEXT = ['maxTokens', 'keepTokens', 'summaryModel', 'summaryInstructions', 'countTokens'];
const RECALL = ['maxTokens', 'limit', 'kinds'];

const MIN_TOKENS = 200;
const MAX_TOKENS = 100_000_000;

/** `null` where the agent has no budget. */
export function checkContext(given: ContextOptions | undefined, check: Check): AgentContext | null {
  if (given === undefined) return null;
  checkNames(given, 'context', CONTEXT, check);
  const { maxTokens, summaryModel = null, summaryInstructions = null, countTokens = null } = given;
  check(isWhole(maxTokens, MIN_TOKENS, MAX_TOKENS), 'context.maxTokens', `a whole number from ${MIN_TOKENS} on`);
  const { keepTokens = Math.floor(maxTokens / 4) } = given;
  const half = Math.floor(maxTokens / 2);
  check(isWhole(keepTokens, 0, half), 'context.keepTokens', `a whole number from 0 to ${half}`);
  const isModel = typeof summaryModel?.generate === 'function' && typeof summaryModel.modelId === 'string';
  check(summaryModel === null || isModel, 'context.summaryModel', 'a model');
  const isText = summaryInstructions === null || typeof summaryInstructions === 'string';
  check(isText, 'context.summaryInstructions', 'text');
  check(countTokens === null || typeof countTokens === 'function', 'context.countTokens', 'a function');
  return { maxTokens, keepTokens, summaryModel, summaryInstructions, countTokens };
}

/** `null` where nothing is recalled. */
export function checkRecall(
  given: boolean | AgentRecallOptions | undefined,
  kindsThere: readonly string[],
  check: Check,
): AgentRecall | null {
  if (given === undefined || given === false) return null;
  const options = given === true ? {} : given;
  checkNames(options, 'recall', RECALL, check);
  const { maxTokens = 1_000, limit = 8, kinds = null } = options;
  check(isWhole(maxTokens, 1, MAX_TOKENS), 'recall.maxTokens', 'a whole number from 1 on');
  check(isWhole(limit, 1, 100), 'recall.limit', 'a whole number from 1 to 100');
  const isKinds = Array.isArray(kinds) && kinds.length > 0 && kinds.every((kind) => kindsThere.includes(kind));
  check(kinds === null || isKinds, 'recall.kinds', `one or more of ${kindsThere.join(', ')}`);
  return { maxTokens, limit, kinds };
}

function checkNames(given: unknown, option: string, names: readonly string[], check: Check): void {
  check(typeof given === 'object' && given !== null && !Array.isArray(given), option, 'an object');
  const unknown = Object.keys(given as object).find((name) => !names.includes(name));
  check(unknown === undefined, `${option}.${unknown}`, `only ${names.join(', ')}`);
}

function isWhole(value: unknown, min: number, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}
