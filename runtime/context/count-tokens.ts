import { TurnlockError } from '../../errors.ts';

/** How many tokens a text has. */
export type CountTokens = (text: string) => number;

/** UTF-16 units of one slice. A tokenizer takes quadratic time for a word without an end: 23 s for 200,000 times `a`. */
const SLICE = 1_000;

/**
 * `count` over `text` in slices, added up: linear time for every text. A cut inside a word counts a little more than the whole has, never
 * noticeably less.
 */
export function countInSlices(text: string, count: CountTokens): number {
  let tokens = 0;
  for (let start = 0; start < text.length; ) {
    const end = sliceEnd(text, start + SLICE);
    tokens += count(text.slice(start, end));
    start = end;
  }
  return tokens;
}

/** `end`, or one more where it would part a surrogate pair. */
function sliceEnd(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return end < text.length && unit >= 0xd800 && unit <= 0xdbff ? end + 1 : end;
}

/** A caller's count, which must be a number that can be added up. @throws DEFINITION_INVALID for anything else, and where it throws. */
export function checkedCount(count: CountTokens, agent: string): CountTokens {
  return (text) => {
    let tokens: unknown;
    let cause: unknown;
    try {
      tokens = count(text);
    } catch (thrown) {
      cause = thrown;
    }
    if (typeof tokens === 'number' && tokens >= 0 && Number.isFinite(tokens)) return tokens;
    throw new TurnlockError('DEFINITION_INVALID', {
      message: `countTokens did not count: agent ${JSON.stringify(agent)} (found ${cause === undefined ? typeof tokens : 'that it threw'}, wanted a number from 0 on)`,
      ...(cause === undefined ? {} : { cause }),
    });
  };
}
