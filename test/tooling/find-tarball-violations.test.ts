import { expect, test } from 'vitest';
import {
  findTarballViolations,
  MAX_UNPACKED_BYTES,
  type PackedManifest,
} from '../../scripts/find-tarball-violations.ts';
import { findMachinePath } from '../../scripts/find-text-violations.ts';

const manifest = {
  exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' }, './package.json': './package.json' },
  bin: { turnlock: './dist/main.js' },
  sideEffects: false,
};
const files = {
  'CHANGELOG.md': '',
  LICENSE: '',
  'README.md': '',
  'package.json': '',
  'dist/index.js': '',
  'dist/index.d.ts': '',
  'dist/main.js': '#!/usr/bin/env node\n',
};

function check(more: Record<string, string>, changed: Partial<PackedManifest> = {}): string[] {
  const all = new Map(Object.entries({ ...files, ...more }));
  return findTarballViolations(all, { ...manifest, ...changed }, findMachinePath);
}

test('what belongs into a package passes', () => {
  expect(check({ 'dist/a/b.js': '', 'dist/a/b.d.ts': '' })).toEqual([]);
});

test.each([
  'index.ts',
  'dist/index.js.map',
  'dist/test/a.js',
  'dist/a.test.js',
  'dist/scripts/a.js',
  'dist/a.ts',
  'examples/a.js',
  '.npmrc',
])('%s does not belong into it', (path) => {
  expect(check({ [path]: '' })).toEqual([`${path} does not belong into the package`]);
});

test.each<[string, string]>([
  [`const root = '${['', 'home', 'ana'].join('/')}';`, 'names a path of a machine'],
  [`const a = 1;\n${['//#', 'sourceMappingURL=a.js.map'].join(' ')}`, 'names a source map'],
])('%s is found', (text, sentence) => {
  expect(check({ 'dist/a.js': text })).toEqual([expect.stringContaining(sentence)]);
});

test('an entry leads to files that are there, and its types come first', () => {
  const { types, default: code } = manifest.exports['.'];
  expect(check({}, { exports: { './x': './dist/x.js' } })).toEqual(['./x leads to ./dist/x.js, which is not there']);
  expect(check({}, { exports: { '.': { default: code, types } } })).toEqual([
    '. has the conditions default, types, wanted types, default',
  ]);
});

test('a command that Node cannot run, side effects and too many bytes are found', () => {
  expect(check({ 'dist/main.js': '' })).toEqual([expect.stringContaining('is a command')]);
  expect(check({}, { sideEffects: true })).toEqual([expect.stringContaining('sideEffects')]);
  expect(check({ 'dist/a.js': 'x'.repeat(MAX_UNPACKED_BYTES) })).toEqual([expect.stringContaining('unpacked')]);
});

test('what a package must have is missed', () => {
  const all = new Map(Object.entries(files).filter(([path]) => path !== 'LICENSE'));
  expect(findTarballViolations(all, manifest, findMachinePath)).toEqual(['LICENSE is missing']);
});
