import { expect, test } from 'vitest';
import type { ContractCase } from '../../../testing/contracts/contract-case.ts';

/** A test for each case of a suite. */
export function contractTests(cases: readonly ContractCase[]): void {
  test.for(cases)('$title', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
}
