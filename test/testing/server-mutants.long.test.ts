import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { codeGuards } from '../invariants/code/code-guards.ts';
import { copySources } from '../invariants/code/patched-sources.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { spawnChild } from '../support/child.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { serverMutants } from './mutants/server-mutants.ts';

/** What the kit and the check need, beside what the scenes of the guards need. */
const KIT = ['testing', 'test/testing/scene.ts', 'test/testing/mutants', 'adapters/cli/shell-quote.ts'];

const PATIENCE_MS = 150_000;

describe('the kit on a server, with a tool that is right and a guard that only shows where transactions overlap', () => {
  const seen: { guarded: unknown; without: unknown }[] = [];

  beforeAll(async () => {
    const folder = await temporaryFolder('turnlock-server-mutants-');
    atTestEnd(() => rmSync(folder, { recursive: true, force: true }));
    const child = spawnChild('test/testing/mutants/server-mutant.child.ts');
    for (const [place, { guard, replays, schema }] of serverMutants.entries()) {
      const { takeOut, inFront } = codeGuards.find(({ name }) => name === guard)!;
      const front = inFront === undefined ? [] : [inFront];
      const play = async (name: string, patches: typeof front): Promise<unknown> => {
        const copy = join(folder, `${place}-${name}`);
        copySources(copy, patches, KIT);
        child.send({ type: 'play', folder: copy, url: inject('postgresUrl'), replays, schema });
        return (await child.next('played', { timeoutMs: PATIENCE_MS })).broken;
      };
      seen.push({ guarded: await play('guarded', front), without: await play('without', [...front, takeOut]) });
    }
  }, 400_000);

  test.each(serverMutants.map((mutant, place) => ({ ...mutant, place })))(
    'finds that $guard is gone',
    ({ holds, breaks, place }) => {
      expect(seen[place]).toEqual({ guarded: holds, without: breaks });
      expect(holds).not.toBe(breaks);
    },
  );
});
