import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { API_PAGE, readApi, writeApi } from '../../scripts/check-api.ts';
import { readPublicNames } from '../../scripts/read-public-names.ts';

const page = readFileSync(API_PAGE, 'utf8');

test('docs/api.md lists every public name as its source has it; after a change run npm run docs:api', () => {
  expect(page).toBe(writeApi(page, readApi()));
});

test('what is loaded from an entry point is what the page lists as no type', async () => {
  const values = (names: readonly { name: string; kind: string }[]) =>
    names.filter(({ kind }) => kind !== 'type').map(({ name }) => name);
  const api = readApi();
  const loaded = {
    '.': await import('../../index.ts'),
    './machines': await import('../../machines/index.ts'),
    './persistence': await import('../../persistence/index.ts'),
    './migrations': await import('../../migrations/index.ts'),
  };
  for (const [entry, module] of Object.entries(loaded)) {
    expect(Object.keys(module).sort(), entry).toEqual(values(api.get(entry) ?? []).sort());
  }
});

test('a public name without a doc comment is an error that names it', () => {
  const silent = { name: 'quiet', kind: 'constant', path: 'a.ts', says: null, signature: null } as const;
  expect(() => writeApi('', new Map([['.', [silent]]]))).toThrow('quiet in a.ts');
  expect(() => writeApi('', new Map([['./new', []]]))).toThrow('./new');
});

describe('the names of an entry', () => {
  const read = (sources: Record<string, string>) => readPublicNames('index.ts', (path) => sources[path] as string);
  const name = (source: string) => read({ 'index.ts': source })[0];

  test.each<[string, string, string]>([
    ['class', 'class', 'export class A {}'],
    ['constant', 'constant', 'export const A = 1;'],
    ['interface', 'type', 'export interface A { a: 1 }'],
    ['type', 'type', 'export type A = 1;'],
    ['abstract class', 'class', 'export abstract class A {}'],
  ])('a %s is a %s', (_form, kind, source) => {
    expect(name(`/** It is. */\n${source}`)).toEqual({
      name: 'A',
      kind,
      path: 'index.ts',
      says: 'It is.',
      signature: null,
    });
  });

  test('are followed to where they are declared, also under another name', () => {
    const sources = {
      'index.ts': `export { type B, a as c } from './x/y.ts';\nexport type { D } from './x/y.ts';`,
      'x/y.ts': '/** First. */\nexport const a = 1;\n/** Second. */\nexport type B = 1;\nexport type D = 2;',
    };
    expect(read(sources).map(({ name, path, says }) => [name, path, says])).toEqual([
      ['B', 'x/y.ts', 'Second.'],
      ['D', 'x/y.ts', null],
      ['c', 'x/y.ts', 'First.'],
    ]);
  });

  test('are types where they are exported as types alone', () => {
    const sources = {
      'index.ts': `export type { A } from './a.ts';\nexport { type B, C } from './a.ts';`,
      'a.ts': 'export class A {}\nexport class B {}\nexport class C {}',
    };
    expect(read(sources).map(({ kind }) => kind)).toEqual(['type', 'type', 'class']);
  });

  test.each<[string, string | null]>([
    ['/** One sentence. Another. */', 'One sentence.'],
    ['/** Version 5.3 of {@link B}, see e.g. there. More. */', 'Version 5.3 of `B`, see e.g. there.'],
    ['/**\n * Over\n * two lines\n *\n * and a paragraph.\n */', 'Over two lines'],
    ['/**\n * One of:\n * - this;\n * - that.\n */', 'One of.'],
    ['/** @internal */', null],
    ['// no doc comment', null],
    ['/** Of something else. */\nconst b = 1;', null],
  ])('%s says %s', (comment, says) => {
    expect(name(`${comment}\nexport const A = 1;`)?.says).toBe(says);
  });

  test.each([
    [
      'export async function A(a: string, { b }: { b: 1 } = {}): Promise<void> { }',
      'function A(a: string, { b }: { b: 1 } = {}): Promise<void>',
    ],
    ['export function A(): { a: 1 }[] {\n  return [];\n}', 'function A(): { a: 1 }[]'],
    [
      'export function A<T extends { a: 1 }>(\n  a: T, // first\n  b: (c: T) => { d: 1 },\n): () => { e: 1 } {',
      'function A<T extends { a: 1 }>(a: T, b: (c: T) => { d: 1 }): () => { e: 1 }',
    ],
  ])('%s has its signature', (source, signature) => {
    expect(name(`/** It does. */\n${source}`)?.signature).toBe(signature);
  });

  test.each(['export * from "./a.ts";', 'export default 1;', 'export { a };'])('%s is refused', (source) => {
    expect(() => name(source)).toThrow(source.slice(0, 8));
  });

  test('that are declared nowhere are an error', () => {
    expect(() => read({ 'index.ts': `export { gone } from './a.ts';`, 'a.ts': '' })).toThrow('gone');
  });
});
