import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Patch } from './code-guards.ts';

/** What a scene needs of the repository. */
const NEEDED = [
  ...[
    'adapters/databases',
    'adapters/embedders',
    'adapters/models',
    'adapters/tools',
    'machines',
    'migrations',
    'persistence',
    'runtime',
  ],
  ...['index.ts', 'errors.ts', 'limits.ts', 'environment.ts', 'package.json'],
  ...[
    'test/invariants/code',
    'test/support/child-channel.ts',
    'test/support/runtime-script.ts',
    'test/support/wait-for.ts',
  ],
];

/**
 * Copies the sources into `folder`, with `patches` made there. `more`: what else is needed, beside what the scenes need.
 *
 * @throws when a patch does not fit exactly once: the guard has moved.
 */
export function copySources(folder: string, patches: readonly Patch[], more: readonly string[] = []): void {
  for (const path of [...NEEDED, ...more]) cpSync(path, join(folder, path), { recursive: true });
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  for (const { file, from, to } of patches) {
    const path = join(folder, file);
    const parts = readFileSync(path, 'utf8').split(from);
    if (parts.length !== 2) throw new Error(`patch of ${file} fits ${parts.length - 1} times, wanted once: ${from}`);
    writeFileSync(path, parts.join(to));
  }
}
