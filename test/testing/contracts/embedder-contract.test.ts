import { expect, test } from 'vitest';
import type { Embedder } from '../../../adapters/embedders/embedder.contract.ts';
import { hashedNgrams } from '../../../adapters/models/scripted.ts';
import { embedderContract } from '../../../testing/contracts/embedder-contract.ts';
import { eachCaseCanFail } from './broken-cases.ts';

const sound = hashedNgrams({ dimensions: 16 });
const never = () => new Promise<never>(() => undefined);

/** The suite over an embedder that differs from a sound one. */
function over(change: Partial<Embedder> | (() => Partial<Embedder>)) {
  const make = () => ({ ...sound, ...(typeof change === 'function' ? change() : change) });
  return () => embedderContract({ make, patienceMs: 20 });
}

let made = 0;

/** A number that nobody had before. */
function next(): number {
  made += 1;
  return made;
}

const titles = embedderContract({ make: () => sound }).map(({ title }) => title);

eachCaseCanFail(titles, {
  'says what it is, the same from each instance': over(() => ({ modelId: `embed-${next()}` })),
  'embeds each document in its place': over({
    embed: async (texts, context) => [...(await sound.embed(texts, context))].sort(([a = 0], [b = 0]) => a - b),
  }),
  'embeds each query in its place': over({
    embed: (texts, { signal, purpose }) =>
      sound.embed(purpose === 'query' ? texts.map(() => 'query') : texts, { signal, purpose }),
  }),
  'has the same vector for a text from another instance': over(() => {
    const number = next();
    return {
      embed: (texts, context) =>
        sound.embed(
          texts.map((text) => `${text} ${number}`),
          context,
        ),
    };
  }),
  'embeds as many texts at once as it says': over({
    maxBatch: 60,
    embed: async (texts, context) => await sound.embed(texts.slice(0, 50), context),
  }),
  'has no vector for no text': over({
    embed: (texts, context) => sound.embed(texts.length === 0 ? [''] : texts, context),
  }),
  'embeds texts of every kind': over({
    embed: async (texts, context) => {
      if (texts.includes('!?')) throw new Error('no word in it');
      return await sound.embed(texts, context);
    },
  }),
  'leaves the texts as they were given': over({
    embed: (texts, context) => sound.embed((texts as string[]).reverse().toReversed(), context),
  }),
  'embeds nothing for a signal that has aborted': over({
    embed: (texts, { purpose }) => sound.embed(texts, { purpose, signal: new AbortController().signal }),
  }),
  'stops soon after its signal aborts': over({ embed: never }),
});

test('a name that is no option is refused', () => {
  expect(() => embedderContract({ make: () => sound, run: 1 } as never)).toThrow(
    expect.objectContaining({ code: 'OPTIONS_INVALID' }),
  );
});

test.each([1, 2])('an embedder that takes %i text at once is sound, and is never given more', async (maxBatch) => {
  const embed: Embedder['embed'] = async (texts, context) => {
    if (texts.length > maxBatch) throw new Error(`${texts.length} texts`);
    return await sound.embed(texts, context);
  };
  for (const { run } of over({ maxBatch, embed })()) await expect(run()).resolves.toBeUndefined();
});

test('an embedder may throw at once for a signal that has aborted', async () => {
  const embed: Embedder['embed'] = (texts, context) => {
    context.signal.throwIfAborted();
    return sound.embed(texts, context);
  };
  for (const { run } of over({ embed })()) await expect(run()).resolves.toBeUndefined();
});

test('an embedder that takes no text at all is told as such by each case that needs texts', async () => {
  const cases = over({ maxBatch: 0 })().filter(
    ({ title }) => title.startsWith('embeds texts') || title.startsWith('says'),
  );
  for (const { run } of cases) await expect(run()).rejects.toThrow('maxBatch of the embedder');
  expect(cases).toHaveLength(2);
});
