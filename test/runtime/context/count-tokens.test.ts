import { expect, test } from 'vitest';
import { checkedCount, countInSlices } from '../../../runtime/context/count-tokens.ts';
import { loadTokenizer, tokenizerFrom } from '../../../runtime/context/load-tokenizer.ts';

test('a text is counted in slices that part no character, and all of it is counted', () => {
  const slices: string[] = [];
  const text = `${'a'.repeat(999)}${'\u{1F600}'.repeat(700)}end`;
  const units = countInSlices(text, (slice) => slices.push(slice) && slice.length);
  expect(units).toBe(text.length);
  expect(slices.join('')).toBe(text);
  expect(slices.length).toBeGreaterThan(2);
  for (const slice of slices) expect(slice.isWellFormed()).toBe(true);
  expect(countInSlices('', () => 1)).toBe(0);
});

test('the tokenizer counts text as o200k_base has it, also a word without an end and what is special to it', async () => {
  const count = await loadTokenizer();
  expect(count('hello world')).toBe(2);
  expect(count('')).toBe(0);
  expect(count('<|endoftext|>')).toBeGreaterThan(1);
  expect(count('\uD800')).toBeGreaterThan(0);
  expect(count('a'.repeat(200_000))).toBeGreaterThan(20_000);
  expect(await loadTokenizer()).toBe(count);
});

test('without the package the refusal says what to install and what to give in its place', async () => {
  const loading = tokenizerFrom(() => Promise.reject(new Error('Cannot find package')));
  await expect(loading).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringContaining('gpt-tokenizer'),
    hint: expect.stringContaining('npm install gpt-tokenizer'),
  });
});

test.each([[-1], [Number.NaN], [Number.POSITIVE_INFINITY], ['7'], [undefined]])(
  'a count of the caller that is %s is refused and names the agent',
  (counted) => {
    const count = checkedCount(() => counted as number, 'support');
    expect(() => count('x')).toThrow(expect.objectContaining({ code: 'DEFINITION_INVALID' }));
    expect(() => count('x')).toThrow('"support"');
  },
);

test('a count of the caller that throws is refused, with its cause', () => {
  const cause = new Error('no vocabulary');
  const count = checkedCount(() => {
    throw cause;
  }, 'support');
  expect(() => count('x')).toThrow(expect.objectContaining({ code: 'DEFINITION_INVALID', cause }));
  expect(checkedCount((text) => text.length, 'support')('four')).toBe(4);
});
