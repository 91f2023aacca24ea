import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { settleCommands } from '../../../adapters/cli/settle-commands.ts';
import { readSettlement } from '../../../adapters/cli/settle-options.ts';
import { shellQuote } from '../../../adapters/cli/shell-quote.ts';
import { isTurnlockError } from '../../../errors.ts';

const call = {
  executionId: '11111111-1111-4111-8111-111111111111',
  sessionId: '22222222-2222-4222-8222-222222222222',
  tenantId: 'acme',
  reason: 'unknown',
  digest: 'd1',
} as const;

test.each([
  'acme',
  "it's",
  'a b',
  '$(reboot)',
  '`x`',
  'a\nb',
  '\u001b[31m',
  '\u202e',
  'tab\t\\n',
  '漢字',
  "'\u0001'",
  '--by',
])('C39: a shell reads %j as one word', (text) => {
  const echoed = execFileSync('bash', ['-c', `printf %s ${shellQuote(text)}`], {
    encoding: 'utf8',
    env: { LC_ALL: 'C.UTF-8' },
  });
  expect(echoed).toBe(text);
  expect(shellQuote(text)).not.toMatch(/[\p{Cc}\u202e]/u);
});

test('an unknown outcome can be settled in three ways', () => {
  expect(settleCommands(call, {})).toEqual([
    `turnlock settle ${call.executionId} --succeeded 'OUTPUT_AS_JSON' --session ${call.sessionId} --tenant acme --by WHO`,
    `turnlock settle ${call.executionId} --failed 'REASON' --session ${call.sessionId} --tenant acme --by WHO`,
    `turnlock settle ${call.executionId} --run-again --session ${call.sessionId} --tenant acme --by WHO`,
  ]);
});

test('what never started is not run again', () => {
  expect(settleCommands({ ...call, reason: 'approval' }, {}).join()).not.toContain('--run-again');
});

test('what waits for approval is approved with the digest that was shown, denied, or settled by hand', () => {
  const [approve, deny, ...settle] = settleCommands({ ...call, reason: 'approval' }, {});
  const where = `--session ${call.sessionId} --tenant acme --by WHO`;
  expect(approve).toBe(`turnlock approve ${call.executionId} --digest d1 ${where}`);
  expect(deny).toBe(`turnlock deny ${call.executionId} --reason 'REASON' ${where}`);
  expect(settle).toHaveLength(2);
});

test('the role that the policy wants and the question that is answered stand in the commands', () => {
  const asked = { ...call, reason: 'approval', approvalId: 'q1' } as const;
  const where = `--session ${call.sessionId} --tenant acme --role cfo --by WHO`;
  const settle = `turnlock settle ${call.executionId}`;
  expect(settleCommands({ ...asked, approvers: { roles: ['cfo', 'board'] } }, {})).toEqual([
    `turnlock approve ${call.executionId} --digest d1 --approval q1 ${where}`,
    `turnlock deny ${call.executionId} --reason 'REASON' --approval q1 ${where}`,
    `${settle} --succeeded 'OUTPUT_AS_JSON' --approval q1 ${where}`,
    `${settle} --failed 'REASON' --approval q1 ${where}`,
  ]);
});

test('the place of the database is repeated, its password is not', () => {
  const [first] = settleCommands(call, { config: 'my config.ts', database: 'postgres://ann:secret@host/db' });
  expect(first).toContain(`--config 'my config.ts' --database "$TURNLOCK_DATABASE_URL"`);
  expect(settleCommands(call, { database: './data' })[0]).toContain('--database ./data');
});

test.each([
  [{ succeeded: true }, { outcome: 'succeeded', output: null }],
  [{ succeeded: '{"id":1}' }, { outcome: 'succeeded', output: { id: 1 } }],
  [{ failed: 'no' }, { outcome: 'failed', reason: 'no' }],
  [{ runAgain: true }, { outcome: 'runAgain' }],
] as const)('%j is settled as %j', (options, settlement) => {
  expect(readSettlement({ session: 's', by: 'ann', ...options })).toEqual({ ...settlement, by: 'ann' });
});

test.each([{}, { succeeded: true, failed: 'no' }, { runAgain: true, succeeded: '1' }, { succeeded: '{' }] as const)(
  '%j is no outcome',
  (options) => {
    const refusal = refusalOf(() => readSettlement({ session: 's', by: 'ann', ...options }));
    expect(isTurnlockError(refusal, 'OUTCOME_INVALID')).toBe(true);
  },
);

function refusalOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
