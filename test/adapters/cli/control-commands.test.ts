import { expect, test } from 'vitest';
import { budgetCommand } from '../../../adapters/cli/control-commands.ts';
import { runBudget, runFreeze } from '../../../adapters/cli/run-controls.ts';

function parsed(option: string, text: string): unknown {
  return budgetCommand()
    .options.find(({ long }) => long === option)
    ?.parseArg?.(text, undefined);
}

test('amounts of money are millionths, the others whole numbers, and none ends a budget', () => {
  expect(['99.5', '0.000001', '7', '0', 'none'].map((text) => parsed('--money', text))).toEqual([
    ...[99_500_000, 1, 7_000_000, 0, 'none'],
  ]);
  expect(['12', '0', 'none'].map((text) => parsed('--calls', text))).toEqual([12, 0, 'none']);
});

test.each([
  ['--calls', '-1'],
  ['--calls', '1.5'],
  ['--calls', '1e3'],
  ['--tokens', ''],
  ['--tokens', '99999999999999999'],
  ['--money', '0.0000001'],
  ['--money', '1,5'],
  ['--money', '.5'],
])('%s %j is refused', (option, text) => {
  expect(() => parsed(option, text)).toThrow(/^Wanted/);
});

test('what a freeze or a budget is about must be said', async () => {
  const refused = { code: 'OPTIONS_INVALID' };
  await expect(runFreeze({ tenant: 'acme' })).rejects.toMatchObject(refused);
  await expect(runBudget({ tool: 'refund' })).rejects.toMatchObject(refused);
  await expect(runBudget({ calls: 1 })).rejects.toMatchObject(refused);
});
