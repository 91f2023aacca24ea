import { TurnlockError } from '../../errors.ts';
import { type Embedder, MAX_DIMENSIONS } from './embedder.contract.ts';
import { hashOf } from './hash-of.ts';

const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** Scripts that leave no space between words: there a word is one or two characters of what stands together. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Characters from which on a word counts fully: the shortest words are mostly those that every text has. */
const FULL_CHARACTERS = 6;

/** A word has several places, so that another with which it shares one by chance is not near it. */
const WORD_MARKS = ['1', '2', '3'];

/**
 * An embedder without a model, for tests, examples and the embedded database: local, at once, and the same vectors everywhere and always.
 *
 * Texts lie near each other when they share words, or groups of 3 to 5 letters within words: `refund` is near `refunds`, and not far from
 * `refnud`. It knows no meaning: `car` and `automobile` are as far apart as any two words. For meaning use a model, by `aiSdkEmbedder`.
 *
 * The words and groups of a text are hashed into `dimensions` numbers (Weinberger and others, "Feature Hashing for Large Scale Multitask
 * Learning", 2009); the vector has length 1, and no text, not even an empty one, has a vector of zeros.
 *
 * @param options `dimensions`: numbers of each vector, from 16 to 2,000; with fewer of them more words that have nothing in common fall
 * together. Default 256.
 * @throws OPTIONS_INVALID for options of another kind.
 */
export function hashedNgrams(options: { dimensions?: number } = {}): Embedder {
  const { dimensions = 256 } = options ?? {};
  if (!Number.isInteger(dimensions) || dimensions < 16 || dimensions > MAX_DIMENSIONS) {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `option not accepted: dimensions of hashedNgrams (wanted a whole number from 16 to ${MAX_DIMENSIONS})`,
    });
  }
  return {
    modelId: 'hashed-ngrams-1',
    dimensions,
    async embed(texts, { signal }) {
      return texts.map((text) => {
        signal.throwIfAborted();
        return vectorOf(text, dimensions);
      });
    },
  };
}

function vectorOf(text: string, dimensions: number): number[] {
  const vector = new Float64Array(dimensions);
  for (const [word, count] of wordsOf(text)) addWord(vector, word, 1 + Math.log(count));
  // Nothing to go by, or words that took each other away: a place of its own for the text as it is.
  if (vector.every((number) => number === 0)) addFeature(vector, hashOf(text, 0, text.length), 1);
  const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
  return Array.from(vector, (number) => number / length);
}

/** Each word with how often the text has it. */
function wordsOf(text: string): Map<string, number> {
  const words = new Map<string, number>();
  for (const [word] of text.normalize('NFKC').toLowerCase().matchAll(WORD)) words.set(word, (words.get(word) ?? 0) + 1);
  return words;
}

/** The word as a whole weighs as much as all groups of its letters together. */
function addWord(vector: Float64Array, word: string, times: number): void {
  const unspaced = UNSPACED.test(word);
  const weight = times * (unspaced ? 1 : Math.min(1, word.length / FULL_CHARACTERS));
  const padded = unspaced ? word : `<${word}>`;
  const sizes = unspaced ? [1, 2] : [3, 4, 5];
  for (const mark of WORD_MARKS) {
    addFeature(vector, hashOf(mark + word, 0, word.length + 1), weight / Math.sqrt(WORD_MARKS.length));
  }
  const groups = sizes.reduce((sum, size) => sum + Math.max(0, padded.length - size + 1), 0);
  for (const size of sizes) {
    for (let start = 0; start + size <= padded.length; start += 1) {
      addFeature(vector, hashOf(padded, start, start + size), weight / Math.sqrt(groups));
    }
  }
}

/** Half of the features count negatively, so that those which fall together by chance do not add up. */
function addFeature(vector: Float64Array, hash: number, weight: number): void {
  const place = (hash >>> 1) % vector.length;
  vector[place] = (vector[place] ?? 0) + (hash & 1 ? -weight : weight);
}
