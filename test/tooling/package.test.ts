import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import lock from '../../package-lock.json' with { type: 'json' };
import { entrySources } from '../../scripts/entry-sources.ts';

test('every entry point has a source', () => {
  expect([...entrySources(manifest)].filter((path) => !existsSync(path))).toEqual([]);
});

test('every development version is exact, every peer is a range', () => {
  expect(
    Object.values(manifest.devDependencies).filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
  ).toEqual([]);
  expect(Object.values(manifest.peerDependencies).filter((range) => /^\d/.test(range))).toEqual([]);
});

test('the lock is of this manifest', () => {
  const { dependencies, devDependencies, peerDependencies } = lock.packages[''];
  expect({ dependencies, devDependencies, peerDependencies }).toEqual({
    dependencies: manifest.dependencies,
    devDependencies: manifest.devDependencies,
    peerDependencies: manifest.peerDependencies,
  });
});
