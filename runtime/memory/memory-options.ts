import { checkEmbedder, type Embedder } from '../../adapters/embedders/embedder.contract.ts';
import { checkOptions } from '../check-options.ts';
import { optionRefused } from '../check-query.ts';

/** What a runtime remembers by. */
export interface MemoryOptions {
  /**
   * Makes the vectors of memories and of what is looked for. They are kept where the database has the extension `vector` and `turnlock migrate
   * --embedding-dimensions` has made their table (on PGlite, and with `migrate: 'auto'`, the runtime makes it). Default: searches go by text alone.
   */
  embedder?: Embedder;
  /**
   * The text search configuration of memories that name none, by which words are found: `english`, `german`, …; those of PostgreSQL, and your
   * own in the schema `turnlock`. Default `simple`: every word as it is written, in any language.
   */
  language?: string;
  /**
   * Where vectors of another model or size are kept than the embedder makes. `refuse`: `createRuntime` throws EMBEDDING_MISMATCH. `textOnly`: it
   * is a warning; searches go by text, and what is remembered waits for `turnlock memory reembed`. Default `refuse`.
   */
  whenMismatched?: 'refuse' | 'textOnly';
}

/** {@link MemoryOptions} as a runtime holds them. */
export interface CheckedMemoryOptions {
  embedder: Embedder | null;
  language: string;
  whenMismatched: 'refuse' | 'textOnly';
}

const OPTIONS = ['embedder', 'language', 'whenMismatched'];

/** Characters of a name in PostgreSQL. */
const NAME_CHARACTERS = 63;

/** @throws OPTIONS_INVALID. */
export function checkMemoryOptions(given: MemoryOptions = {}): CheckedMemoryOptions {
  const { embedder, language = 'simple', whenMismatched = 'refuse' } = checkOptions(given, 'memory', OPTIONS);
  if (embedder !== undefined) checkEmbedder(embedder);
  if (whenMismatched !== 'refuse' && whenMismatched !== 'textOnly') {
    throw optionRefused('whenMismatched', 'refuse or textOnly');
  }
  return { embedder: embedder ?? null, language: checkLanguage(language), whenMismatched };
}

/** @throws OPTIONS_INVALID for what is no name. Whether the database has it is seen when something is stored. */
export function checkLanguage(language: string): string {
  if (typeof language === 'string' && /^[^\0]+$/.test(language) && [...language].length <= NAME_CHARACTERS) {
    return language;
  }
  throw optionRefused('language', 'the name of a text search configuration');
}
