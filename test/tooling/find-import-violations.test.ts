import { describe, expect, test } from 'vitest';
import { findImportViolations } from '../../scripts/find-import-violations.ts';

function check(sources: Record<string, string>): string[] {
  return findImportViolations(new Map(Object.entries(sources)), new Set(['index.ts', 'machines/index.ts']));
}

describe('direction', () => {
  test.each([
    ['errors.ts', './machines/session-state.ts'],
    ['machines/a.ts', '../persistence/b.ts'],
    ['persistence/a.ts', '../runtime/b.ts'],
    ['persistence/a.ts', '../adapters/databases/postgres.ts'],
    ['runtime/a.ts', '../adapters/databases/postgres.ts'],
    ['runtime/a.ts', '../adapters/models/scripted.ts'],
    ['adapters/databases/a.ts', '../../persistence/commit-event.ts'],
    ['adapters/models/a.ts', '../../persistence/commit-event.ts'],
    ['adapters/tools/a.ts', '../../machines/session.machine.ts'],
    ['migrations/a.ts', '../limits.ts'],
    ['runtime/a.ts', '../test/support/child.ts'],
    ['index.ts', './testing/index.ts'],
    ['adapters/cli/main.ts', '../../bench/commit.bench.ts'],
    ['index.ts', './examples/first-agent/agent.ts'],
    ['test/a.ts', '../examples/first-agent/agent.ts'],
    ['examples/first-agent/agent.ts', '../../index.ts'],
  ])('%s must not import %s', (path, specifier) => {
    expect(check({ [path]: `import { x } from '${specifier}';` })).toEqual([
      expect.stringContaining('must not import'),
    ]);
  });

  test.each([
    ['machines/a.ts', `import { x } from '../errors.ts';`],
    ['persistence/a.ts', `import { x } from '../machines/b.ts';`],
    ['runtime/a.ts', `import { x } from '../persistence/b.ts';`],
    ['runtime/a.ts', `import type { X } from '../adapters/models/model.contract.ts';`],
    ['adapters/tools/a.ts', `import type { X } from '../../machines/b.ts';`],
    ['adapters/tools/a.ts', `import { type X, type Y } from '../../machines/b.ts';`],
    ['adapters/databases/a.ts', `import { x } from '../../persistence/entities/session.entity.ts';`],
    ['adapters/cli/main.ts', `import { x } from '../../runtime/b.ts';`],
    ['examples/first-agent/agent.ts', `import { x } from 'turnlock/machines';`],
  ])('%s may say %s', (path, source) => {
    expect(check({ [path]: source })).toEqual([]);
  });

  test('every form of import is seen', () => {
    const forms = [
      `import '../runtime/a.ts';`,
      `import x, { y } from '../runtime/b.ts';`,
      `import {\n  x,\n  type Y,\n} from '../runtime/c.ts';`,
      `const x = await import('../runtime/d.ts');`,
      `import type X from '../runtime/e.ts';`,
    ];
    expect(check({ 'machines/a.ts': forms.join('\n') })).toHaveLength(forms.length);
  });

  test('an import in a comment is none', () => {
    expect(check({ 'machines/a.ts': `/*\nimport { x } from '../runtime/a.ts';\n*/` })).toEqual([]);
  });

  test('a file outside every layer is named', () => {
    expect(check({ 'utils/a.ts': '' })).toEqual([expect.stringContaining('belongs to no layer')]);
  });
});

describe('packages', () => {
  test.each([
    ['machines/a.ts', `import { readFile } from 'node:fs/promises';`],
    ['migrations/a.ts', `import pg from 'pg';`],
    ['runtime/a.ts', `import { MikroORM } from '@mikro-orm/core';`],
    ['limits.ts', `import { z } from 'zod';`],
  ])('%s must not say %s', (path, source) => {
    expect(check({ [path]: source })).toEqual([expect.stringContaining('must not import the package')]);
  });

  test('the types of a database package may be named anywhere', () => {
    expect(check({ 'runtime/a.ts': `import type { Pool } from 'pg';` })).toEqual([]);
  });
});

describe('barrels and cycles', () => {
  test('only an entry point re-exports', () => {
    expect(check({ 'machines/index.ts': `export { x } from './a.ts';` })).toEqual([]);
    expect(check({ 'machines/all.ts': `export * from './a.ts';` })).toEqual([expect.stringContaining('re-exports')]);
  });

  test('a cycle is named from end to end', () => {
    const cycle = { 'machines/a.ts': `import { b } from './b.ts';`, 'machines/b.ts': `import { a } from './a.ts';` };
    expect(check(cycle)).toEqual(['cycle: machines/a.ts -> machines/b.ts -> machines/a.ts']);
  });

  test('entities may reference each other, and nothing else through them', () => {
    const entities = {
      'persistence/entities/a.ts': `import { b } from './b.ts';`,
      'persistence/entities/b.ts': `import { a } from './a.ts';`,
    };
    expect(check(entities)).toEqual([]);
    const through = {
      'persistence/c.ts': `import { a } from './entities/d.ts';`,
      'persistence/entities/d.ts': `import { c } from '../c.ts';`,
    };
    expect(check(through)).toEqual([expect.stringMatching(/^cycle/)]);
  });

  test('types alone make no cycle', () => {
    const types = {
      'machines/a.ts': `import { b } from './b.ts';`,
      'machines/b.ts': `import type { A } from './a.ts';`,
    };
    expect(check(types)).toEqual([]);
  });
});
