import { expect, inject, test } from 'vitest';
import { spawnChild } from '../../support/child.ts';

const PROGRAM = 'test/testing/harness/plain-program.ts';

test.each([
  ['opens and closes a harness on a server', 'server', [], 'closed'],
  ['opens one on a server and forgets to close it', 'server', ['forgets'], 'open'],
  ['forgets one in which a process waits for the run of a dead one', 'server', ['waits'], 'open'],
  ['forgets one in which a process follows the session of a dead one', 'server', ['follows'], 'open'],
  ['opens one on a server whose tables cannot be made', 'server', ['fails'], 'no tables'],
  ['opens one on PGlite whose tables cannot be made', 'pglite', ['fails'], 'no tables'],
])('a program that does nothing else %s, and ends by itself', async (_, where, rest, outcome) => {
  const database = where === 'pglite' ? where : inject('postgresUrl');
  const child = spawnChild(PROGRAM, { args: [database, ...rest] });
  expect(await child.next('over')).toMatchObject({ outcome });
  expect(await child.exited).toEqual({ code: 0, signal: null });
});
