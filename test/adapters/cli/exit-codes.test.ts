import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { EXIT_CODES, exitCodeOf } from '../../../adapters/cli/exit-codes.ts';
import { ERROR_CODES, type ErrorCode, TurnlockError } from '../../../errors.ts';

const codes = Object.keys(ERROR_CODES) as ErrorCode[];

test.each<[ErrorCode, number]>([
  ['MODEL_FAILED', 1],
  ['LIMIT_RECOVERIES', 1],
  ['OPTIONS_INVALID', 2],
  ['CONFIG_INVALID', 2],
  ['SESSION_NOT_FOUND', 2],
  ['DATABASE_UNREACHABLE', 3],
  ['DATABASE_LOGIN_REFUSED', 3],
  ['DATA_DIRECTORY_IN_USE', 3],
  ['PRIVILEGE_MISSING', 3],
  ['SCHEMA_MISSING', 3],
  ['SCHEMA_TOO_NEW', 3],
  ['EVENT_ILLEGAL', 4],
  ['EXECUTION_SETTLED', 4],
  ['COMMIT_UNKNOWN', 5],
  ['INVARIANT_BROKEN', 70],
])('%s ends the command with %d', (code, exit) => {
  expect(exitCodeOf(new TurnlockError(code, { message: 'x' }))).toBe(exit);
});

test('every error ends the command with a code that is not 0, and what is no error of ours is a bug', () => {
  const exits = codes.map((code) => exitCodeOf(new TurnlockError(code, { message: 'x' })));
  expect(exits).not.toContain(EXIT_CODES.ok);
  expect(exitCodeOf(new TypeError('x'))).toBe(EXIT_CODES.bug);
});

test('the page of the command line lists every exit code', async () => {
  const page = await readFile('docs/cli.md', 'utf8');
  const listed = [...page.matchAll(/^\| `(\d+)` \|/gm)].map(([, code]) => Number(code));
  expect(listed).toEqual(expect.arrayContaining(Object.values(EXIT_CODES)));
});
