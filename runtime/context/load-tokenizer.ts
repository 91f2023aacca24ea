import { TurnlockError } from '../../errors.ts';
import { type CountTokens, countInSlices } from './count-tokens.ts';

/** The part of the tokenizer that counts. */
interface Tokenizer {
  countTokens(text: string, options: { disallowedSpecial: Set<string> }): number;
}

let loaded: Promise<CountTokens> | null = null;

/** A text may hold what the tokenizer has a special meaning for: it is text here, and nothing of it is refused. */
const NONE = new Set<string>();

/**
 * Counts by the vocabulary `o200k_base` of the optional package gpt-tokenizer. Loaded once in a process: it takes a quarter of a second and
 * some 80 MB.
 *
 * @throws OPTIONS_INVALID when the package is not installed.
 */
export function loadTokenizer(): Promise<CountTokens> {
  loaded ??= tokenizerFrom(() => import('gpt-tokenizer/encoding/o200k_base'));
  return loaded;
}

/** The count of what `load` loads. @throws OPTIONS_INVALID when that fails. */
export async function tokenizerFrom(load: () => Promise<Tokenizer>): Promise<CountTokens> {
  try {
    const { countTokens } = await load();
    return (text) => countInSlices(text, (slice) => countTokens(slice, { disallowedSpecial: NONE }));
  } catch (cause) {
    throw new TurnlockError('OPTIONS_INVALID', {
      message:
        'agent not accepted: its tokens cannot be counted (found no package gpt-tokenizer, wanted it installed or `countTokens`)',
      hint: 'Run `npm install gpt-tokenizer`, or give the agent `context: { countTokens }`.',
      cause,
    });
  }
}
