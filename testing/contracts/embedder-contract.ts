import {
  checkEmbedder,
  checkEmbeddings,
  type EmbedContext,
  type Embedder,
} from '../../adapters/embedders/embedder.contract.ts';
import { checkOptions } from '../../runtime/check-options.ts';
import { must, shown } from './contract-broken.ts';
import { type ContractCase, contractCases } from './contract-case.ts';
import { STORABLE_ODD_TEXTS } from './odd-texts.ts';
import { endOf, PATIENCE_MS } from './patience.ts';

/** What {@link embedderContract} takes. */
export interface EmbedderContract {
  /** Makes the embedder, several times: each is of one model, and its provider answers properly. */
  make: () => Embedder | Promise<Embedder>;
  /** Milliseconds after which a call that still goes on counts as one that does not stop. Default 10 000. */
  patienceMs?: number;
}

/** Texts of one batch, at most: embedders may say that they take more. */
const MAX_BATCH = 200;

/** Vectors at least as near as this are of one text: providers compute in parallel, and round now so and now so. */
const SAME = 0.999;

/** As what is embedded: what is blank is not. */
const TEXTS = ['!?', '😀', ...STORABLE_ODD_TEXTS.map(({ text }) => text).filter((text) => text.trim() !== '')];

/**
 * What a runtime relies on of an embedder, as cases for any runner of tests: vectors of the promised form for whatever texts, each in its
 * place, the same for the same text from every instance, and an end when the signal aborts. Nothing is said of what the vectors mean.
 *
 * @throws OPTIONS_INVALID for a name that is no option.
 */
export function embedderContract(contract: EmbedderContract): ContractCase[] {
  const { make, patienceMs = PATIENCE_MS } = checkOptions(contract, 'embedderContract', ['make', 'patienceMs']);
  const inPlace = (purpose: EmbedContext['purpose']) => async () => {
    const embedder = await make();
    const texts = ['refund of an order', 'the weather in Paris', 'refund of an order'];
    const [first, second, third] = await embeddedBy(embedder, texts, purpose);
    must(isSame(first, third), 'two vectors for one text of a batch');
    must(!isSame(first, second), 'one vector for two texts of a batch');
    const [alone] = await embeddedBy(embedder, ['the weather in Paris'], purpose);
    must(isSame(alone, second), 'another vector for a text alone than within a batch');
  };
  return contractCases('an embedder', {
    'says what it is, the same from each instance': async () => {
      const [one, other] = [await make(), await make()];
      checkEmbedder(one);
      must(one.modelId === other.modelId, `the model ids ${shown(one.modelId)} and ${shown(other.modelId)}`);
      must(one.dimensions === other.dimensions, `${one.dimensions} dimensions, and ${other.dimensions}`);
    },
    'embeds each document in its place': inPlace('document'),
    'embeds each query in its place': inPlace('query'),
    'has the same vector for a text from another instance': async () => {
      const [one] = await embeddedBy(await make(), ['refund']);
      const [other] = await embeddedBy(await make(), ['refund']);
      must(isSame(one, other), 'two vectors');
    },
    'embeds as many texts at once as it says': async () => {
      const embedder = await make();
      const texts = Array.from({ length: batchOf(embedder) }, (_, place) => `text ${place}`);
      const all = await embeddedBy(embedder, texts);
      const [last] = await embeddedBy(embedder, texts.slice(-1));
      must(isSame(all.at(-1), last), 'another vector for the last text of the batch than for the same alone');
    },
    'has no vector for no text': async () => {
      await embeddedBy(await make(), []);
    },
    'embeds texts of every kind': async () => {
      const embedder = await make();
      await embeddedBy(embedder, TEXTS);
    },
    'leaves the texts as they were given': async () => {
      await embeddedBy(await make(), Object.freeze(['one', 'two']));
    },
    'embeds nothing for a signal that has aborted': async () => {
      const embedder = await make();
      const call = (async () => embedder.embed(['one'], { signal: AbortSignal.abort(), purpose: 'query' }))();
      const end = await endOf(call, { patienceMs, what: 'the call' });
      must(end.status === 'rejected', `an answer: ${shown(end)}`);
    },
    'stops soon after its signal aborts': async () => {
      const embedder = await make();
      const aborting = new AbortController();
      const call = embedder.embed(['one'], { signal: aborting.signal, purpose: 'query' });
      aborting.abort();
      await endOf(call, { patienceMs, what: 'the call' });
    },
  });
}

/** How many texts it takes at once. @throws OPTIONS_INVALID for an embedder that no runtime takes. */
function batchOf(embedder: Embedder): number {
  checkEmbedder(embedder);
  return Math.min(embedder.maxBatch ?? MAX_BATCH, MAX_BATCH);
}

/** The vectors, once they have the promised form; as a runtime asks, never for more texts at once than the embedder takes. */
async function embeddedBy(
  embedder: Embedder,
  texts: readonly string[],
  purpose: EmbedContext['purpose'] = 'document',
): Promise<readonly (readonly number[])[]> {
  const { signal } = new AbortController();
  const batch = batchOf(embedder);
  const all: (readonly number[])[] = [];
  for (let at = 0; at === 0 || at < texts.length; at += batch) {
    const some = texts.length <= batch ? texts : texts.slice(at, at + batch);
    const embeddings = await embedder.embed(some, { signal, purpose });
    checkEmbeddings(embeddings, { ...embedder, count: some.length });
    all.push(...embeddings);
  }
  return all;
}

/** Whether two vectors point in the same direction, as near as floats can say. */
function isSame(one: readonly number[] = [], other: readonly number[] = []): boolean {
  const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, place) => sum + x * (b[place] ?? 0), 0);
  return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other)) >= SAME;
}
