import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ToolPolicyReport } from '../../testing/report/tool-policy-report.ts';
import { codeGuards } from '../invariants/code/code-guards.ts';
import { copySources } from '../invariants/code/patched-sources.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { spawnChild } from '../support/child.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { Play } from './mutants/mutant.child.ts';
import { type Mutant, mutants } from './mutants/mutants.ts';

/** What the kit and the check need, beside what the scenes of the guards need. */
const KIT = ['testing', 'test/testing/mutants', 'adapters/cli/shell-quote.ts'];

const PATIENCE_MS = 240_000;

/** The sources without the guard of `mutant`. */
function withoutGuard({ guard }: Mutant, folder: string): string {
  const { takeOut } = codeGuards.find(({ name }) => name === guard)!;
  copySources(folder, [takeOut], KIT);
  return folder;
}

describe('the kit, with tools that are right and one guard of Turnlock’s code taken out', () => {
  const seen: { guarded: ToolPolicyReport; without: ToolPolicyReport }[] = [];

  // One process for all of them: what they have in common is loaded once.
  beforeAll(async () => {
    const folder = await temporaryFolder('turnlock-mutants-');
    atTestEnd(() => rmSync(folder, { recursive: true, force: true }));
    const child = spawnChild('test/testing/mutants/mutant.child.ts');
    const play = async (asked: Play): Promise<ToolPolicyReport> => {
      child.send({ type: 'play', ...asked });
      return (await child.next('played', { timeoutMs: PATIENCE_MS })).report as ToolPolicyReport;
    };
    const whole = join(folder, 'whole');
    copySources(whole, [], KIT);
    for (const [place, mutant] of mutants.entries()) {
      const { tools, options } = mutant;
      const without = await play({ tools, options, folder: withoutGuard(mutant, join(folder, `${place}`)) });
      // The runs that found it, and no more: played with the guard they find nothing.
      const guarded = await play({ tools, options: { ...options, numRuns: without.runs }, folder: whole });
      seen.push({ guarded, without });
    }
  }, 600_000);

  test.each(mutants.map((mutant, place) => ({ ...mutant, place })))(
    'finds that $guard is gone, and nothing where it is there',
    ({ breaks, options, place }) => {
      const { guarded, without } = seen[place]!;
      expect(without.failure).toMatchObject({ invariant: breaks });
      expect(without.runs).toBeLessThanOrEqual(options.numRuns ?? 0);
      expect(guarded).toMatchObject({ ok: true, runs: without.runs, seed: options.seed, failure: null });
    },
  );
});
