import { beforeAll, expect, test } from 'vitest';
import type { StoredTurn } from '../../../index.ts';
import type { DatabaseAdapter } from '../../../persistence/database.contract.ts';
import { type OddSession, storeOddSession } from '../../support/odd-session.ts';
import { ODD_TEXTS } from '../../support/odd-texts.ts';
import { STORED_VALUES } from '../../support/odd-values.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type CommandEnd, runTurnlock } from './run-turnlock.ts';

/** What a terminal would act upon, reorder or cannot show. A line's end is what separates lines. */
const UNSAFE = /(?!\n)[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;

/** A database that a runtime has to itself, and how the command line is told of it. */
export interface CliDatabase {
  adapter: DatabaseAdapter;
  args: readonly string[];
}

/** C39: a session that holds every odd value, through the command line. */
export function describeOddValues(open: (folder: string) => Promise<CliDatabase>): void {
  let folder = '';
  let args: readonly string[] = [];
  let odd: OddSession;
  const turnlock = (...command: string[]): Promise<CommandEnd> => runTurnlock(folder, [...command, ...args]);

  beforeAll(async () => {
    folder = await temporaryFolder('turnlock-odd-');
    const database = await open(folder);
    args = database.args;
    odd = await storeOddSession(database.adapter);
  }, 120_000);

  test('C39 show prints all of it, and no character of it reaches the terminal that acts on one', async () => {
    const { code, stdout, stderr } = await turnlock('show', odd.sessionId, '--tenant', odd.tenantId, '--full');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).not.toMatch(UNSAFE);
    for (const part of ['ok 😀👩‍👩‍👧🏳️‍🌈', String.raw`a\u0000b`, String.raw`\u001b[31m`, 'a Map', odd.executionId]) {
      expect(stdout).toContain(part);
    }
  });

  test('C39 show --json is one document that holds every value as it is stored', async () => {
    const { code, stdout } = await turnlock('show', odd.sessionId, '--tenant', odd.tenantId, '--json');
    expect(code).toBe(0);
    expect(stdout).not.toMatch(UNSAFE);
    const shown = JSON.parse(stdout);
    const { tenantId, userId, externalId } = odd;
    const stored = STORED_VALUES.map(({ fate }) => fate.stored);
    expect(shown.session).toMatchObject({ tenantId, userId, externalId, metadata: { all: stored } });
    const turns: StoredTurn[] = shown.turns;
    expect(turns.map(({ content, parts, metadata }) => ({ content, parts, metadata }))).toEqual(
      odd.history.map(({ content, parts, metadata }) => ({ content, parts, metadata })),
    );
    const named = (tool: string) => shown.executions.filter(({ toolName }: { toolName: string }) => toolName === tool);
    const echoed = named('echo').slice(0, stored.length);
    expect(echoed.map(({ output }: { output: unknown }) => output)).toEqual(stored);
    expect(echoed.map(({ params }: { params: { value: unknown } }) => params.value)).toEqual(stored);
    const messages = ODD_TEXTS.map(({ stored }) => (stored.trim() === '' ? 'Error without a message' : stored));
    const failed = new Set(named('fail').map(({ error }: { error: { message: string } }) => error.message));
    expect(failed).toEqual(new Set(messages));
    expect(named('wait')).toMatchObject([
      {
        status: 'SUCCESS',
        settledBy: odd.settledBy,
        output: ODD_TEXTS.map(({ stored }) => stored),
        normalised: expect.arrayContaining(['/params/texts/0', '/output/0', '/output/2']),
      },
    ]);
  });
}
