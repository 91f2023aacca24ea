import { expect, test } from 'vitest';
import { ContractBroken } from '../../../testing/contracts/contract-broken.ts';
import type { ContractCase } from '../../../testing/contracts/contract-case.ts';

/**
 * For each case of a suite one adapter that breaks its promise: `broken[title]` gives the suite over that one, and the case of that title must
 * reject with what was promised and seen.
 */
export function eachCaseCanFail(
  titles: readonly string[],
  broken: Readonly<Record<string, () => ContractCase[] | Promise<ContractCase[]>>>,
): void {
  test('there is a broken one for each case', () => {
    expect(Object.keys(broken).sort()).toEqual([...titles].sort());
  });

  test.each(titles)('one that does not is found: %s', async (title) => {
    const cases = await broken[title]?.();
    const error: unknown = await cases
      ?.find((one) => one.title === title)
      ?.run()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ContractBroken);
    expect(error).toMatchObject({ promised: title, message: expect.stringContaining('(found ') });
  });
}
