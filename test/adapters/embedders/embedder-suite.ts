import { expect, test } from 'vitest';
import {
  checkEmbedder,
  checkEmbeddings,
  type EmbedContext,
  type Embedder,
} from '../../../adapters/embedders/embedder.contract.ts';
import { ODD_TEXTS } from '../../support/odd-texts.ts';

/** What every embedder does. `make` gives one whose provider answers properly. */
export function embedderSuite(make: () => Embedder | Promise<Embedder>): void {
  test('says what it is, the same each time', async () => {
    const [one, other] = [await make(), await make()];
    expect(() => checkEmbedder(one)).not.toThrow();
    expect([other.modelId, other.dimensions]).toEqual([one.modelId, one.dimensions]);
  });

  test.each(['document', 'query'] as const)('embeds each %s in its place', async (purpose) => {
    const embedder = await make();
    const texts = ['refund of an order', 'the weather in Paris', 'refund of an order'];
    const [first, second, third] = await embeddedBy(embedder, texts, purpose);
    expect(third).toEqual(first);
    expect(second).not.toEqual(first);
    expect(await embeddedBy(embedder, ['the weather in Paris'], purpose)).toEqual([second]);
  });

  test('the same text has the same vector from another instance', async () => {
    expect(await embeddedBy(await make(), ['refund'])).toEqual(await embeddedBy(await make(), ['refund']));
  });

  test('a whole batch, and more than a batch', async () => {
    const embedder = await make();
    const texts = Array.from({ length: Math.min(embedder.maxBatch ?? 100, 200) + 1 }, (_, index) => `text ${index}`);
    const embeddings = await embeddedBy(embedder, texts);
    expect(embeddings.at(-1)).toEqual((await embeddedBy(embedder, texts.slice(-1)))[0]);
  });

  test('no text: no vector', async () => {
    expect(await embeddedBy(await make(), [])).toEqual([]);
  });

  test('texts of every kind', async () => {
    const texts = ['', ' ', '!?', '😀', ...ODD_TEXTS.map(({ given }) => given)];
    expect(await embeddedBy(await make(), texts)).toHaveLength(texts.length);
  });

  test('leaves the texts as they were given', async () => {
    const texts = Object.freeze(['one', 'two']);
    await embeddedBy(await make(), texts as string[]);
    expect(texts).toEqual(['one', 'two']);
  });

  test('nothing comes of a call that was given up', async () => {
    const reason = new Error('nobody waits');
    const call = (await make()).embed(['one'], { signal: AbortSignal.abort(reason), purpose: 'query' });
    await expect(call).rejects.toBe(reason);
  });
}

/** The vectors, once they are what was promised. */
async function embeddedBy(
  embedder: Embedder,
  texts: readonly string[],
  purpose: EmbedContext['purpose'] = 'document',
): Promise<readonly (readonly number[])[]> {
  const embeddings = await embedder.embed(texts, { signal: new AbortController().signal, purpose });
  checkEmbeddings(embeddings, { ...embedder, count: texts.length });
  return embeddings;
}
