import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readLabels } from '../../../bench/recall/read-labels.ts';

const { memories, queries } = readLabels();

test('every label names memories of the user who asks, each once', () => {
  const userOf = new Map(memories.map(({ id, user }) => [id, user]));
  expect(userOf.size).toBe(memories.length);
  expect(new Set(queries.map(({ id }) => id)).size).toBe(queries.length);
  for (const { id, user, relevant } of queries) {
    expect(relevant.length, id).toBeGreaterThan(0);
    expect(new Set(relevant).size, id).toBe(relevant.length);
    expect(new Set(relevant.map((one) => userOf.get(one))), id).toEqual(new Set([user]));
  }
});

test('the labels are those that were made before the first search was run', () => {
  const digests = ['memories', 'queries'].map((name) => {
    const file = new URL(`../../../bench/recall/${name}.jsonl`, import.meta.url);
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  });
  expect(digests).toMatchInlineSnapshot(`
    [
      "11ca8521342801a7f3e9b533846fb6c7ede02cf0d262d2539a33e8561ffaeccc",
      "c4ae0c0073d288e707ebe56e52c4e322c880aa6afec7a9096ac73e8951b4b95e",
    ]
  `);
});
