import { expect, test } from 'vitest';
import { auditViolationsOf, MAX_MORE_HELD } from '../../bench/audit-report.ts';
import type { SessionCost } from '../../bench/measure-audit.ts';

const cost = { ms: 10, statements: 16, held: 1_000_000 };
const session = (more: Partial<SessionCost> = {}): SessionCost => ({
  ...{ transitions: 1_000, findings: 0, verify: cost, replay: cost, export: cost, fork: cost, ...more },
});
const held = { ...cost, held: cost.held + MAX_MORE_HELD };

test('sessions that are whole, in which time and statements of what is paged grow and memory does not, are as promised', () => {
  const grown = { ...held, ms: 1_000, statements: 900 };
  expect(
    auditViolationsOf({ short: session(), long: session({ verify: grown, replay: grown, export: grown }) }),
  ).toEqual([]);
});

test.each([
  ['findings', { findings: 1 }],
  ['verify holds', { verify: { ...held, held: held.held + 1 } }],
  ['replay holds', { replay: { ...held, held: held.held + 1 } }],
  ['export holds', { export: { ...held, held: held.held + 1 } }],
  ['a fork is 17 statements', { fork: { ...cost, statements: 17 } }],
])('%s: one violation', (what, more) => {
  expect(auditViolationsOf({ short: session(), long: session(more) })).toEqual([expect.stringContaining(what)]);
});
