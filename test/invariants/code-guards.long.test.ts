import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { atTestEnd } from '../support/at-test-end.ts';
import { spawnChild } from '../support/child.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type CodeGuard, codeGuards } from './code/code-guards.ts';
import { copySources } from './code/patched-sources.ts';

/** What a scene is played with: a copy of the sources, patched where it must be, and a database of its own. */
async function prepare({ scene }: CodeGuard, folder: string) {
  const code = join(folder, 'test/invariants/code');
  const { url } = await freshDatabase({ toleratesOpenConnections: true });
  return { scene, url, scenes: join(code, 'scenes.ts'), stage: join(code, 'process.ts') };
}

describe('the guards of the code', () => {
  const seen: { withGuard: unknown; without: unknown }[] = [];

  // One process for all of them: what they have in common is loaded once.
  beforeAll(async () => {
    const folder = await temporaryFolder('turnlock-guards-');
    atTestEnd(() => rmSync(folder, { recursive: true, force: true }));
    const plays = [];
    const whole = join(folder, 'whole');
    copySources(whole, []);
    for (const [index, guard] of codeGuards.entries()) {
      const { inFront, takeOut } = guard;
      const [guarded, without] = [inFront ? join(folder, `${index}-with`) : whole, join(folder, `${index}-without`)];
      if (inFront) copySources(guarded, [inFront]);
      copySources(without, inFront ? [inFront, takeOut] : [takeOut]);
      plays.push(await prepare(guard, guarded), await prepare(guard, without));
    }
    const child = spawnChild('test/invariants/code/scene.child.ts', { args: [JSON.stringify(plays)] });
    const next = async () => (await child.next('played', { timeoutMs: 60_000 })).seen;
    for (const _ of codeGuards) seen.push({ withGuard: await next(), without: await next() });
  }, 180_000);

  test.each(codeGuards.map((guard, index) => ({ ...guard, index })))(
    'with $name its promise holds, without it it is seen broken',
    ({ holds, breaks, index }) => {
      expect(seen[index]).toEqual({ withGuard: holds, without: breaks });
      expect(holds).not.toEqual(breaks);
    },
  );
});
