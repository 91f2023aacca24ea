import { beforeAll, expect, test } from 'vitest';
import { scripted } from '../../../adapters/models/scripted.ts';
import { createRuntime, defineAgent, type StoredTurn } from '../../../index.ts';
import type { DatabaseAdapter } from '../../../persistence/database.contract.ts';
import { ODD_TEXTS } from '../../support/odd-texts.ts';
import { REFUSED, STORED_VALUES } from '../../support/odd-values.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type CommandEnd, runTurnlock } from './run-turnlock.ts';

/** What a terminal would act upon, reorder or cannot show. A line's end is what separates lines. */
const UNSAFE = /(?!\n)[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;

/** Texts that can be part of an id, end to end. */
const ID = ODD_TEXTS.filter(({ given, stored }) => given === stored && given.length < 30)
  .map(({ given }) => given)
  .join('');

/** Who settles a call of it. */
const BY = 'ann\u001b[31m \u202e😀';

/** A database that a runtime has to itself, and how the command line is told of it. */
export interface CliDatabase {
  adapter: DatabaseAdapter;
  args: readonly string[];
}

/** C39: a session that holds every odd value, through the command line. */
export function describeOddValues(open: (folder: string) => Promise<CliDatabase>): void {
  let folder = '';
  let args: readonly string[] = [];
  let history: StoredTurn[] = [];
  let sessionId = '';
  let executionId = '';
  const tenantId = [...ID].slice(0, 64).join('');
  const asked = { tenantId, userId: [...ID].slice(20, 84).join(''), externalId: [...ID].slice(0, 255).join('') };
  const turnlock = (...command: string[]): Promise<CommandEnd> => runTurnlock(folder, [...command, ...args]);

  beforeAll(async () => {
    folder = await temporaryFolder('turnlock-odd-');
    const database = await open(folder);
    args = database.args;
    const outputs = [...STORED_VALUES, ...REFUSED.filter(({ isAwaitable }) => isAwaitable)];
    const echo = looseTool('echo', ({ n }) => outputs[n as number]!.make());
    const fail = looseTool('fail', ({ text }) => {
      throw new Error(text as string);
    });
    const wait = looseTool('wait', () => new Promise(() => undefined), { effect: 'nonRepeatable', timeoutMs: 700 });
    const texts = ODD_TEXTS.map(({ given }) => given);
    const calls = outputs.map((value, n) => call('echo', { n, value: n < STORED_VALUES.length ? value.make() : null }));
    const script = eachRun(
      ...[0, 50, 100].map((from) => ({ text: texts.join('\n'), toolCalls: calls.slice(from, from + 50) })),
      { toolCalls: texts.map((text) => call('fail', { text }, { providerCallId: text })) },
      { toolCalls: texts.map((text) => call(text, undefined, { invalidInput: text })) },
      { parts: [{ type: 'custom', part: texts }], toolCalls: [call('wait', { texts })] },
    );
    const agent = defineAgent({ name: 'odd', model: scripted(script), instructions: 'x', tools: [echo, fail, wait] });
    const limits = { graceMs: 0, maxMetadataBytes: 1024 * 1024 };
    await using runtime = await createRuntime({
      database: database.adapter,
      agents: [agent],
      migrate: 'auto',
      limits,
      onWarning: () => undefined,
    });
    const metadata = { all: STORED_VALUES.map((value) => value.make()) };
    const session = await runtime.createSession({ agent: 'odd', ...asked, metadata });
    const { state, awaiting } = await (await session.send(texts.join('\n'), { metadata })).result();
    expect(state).toBe('AWAITING_INPUT');
    executionId = awaiting[0]!.executionId;
    await (await session.settle(executionId, { outcome: 'succeeded', output: texts, by: BY })).result();
    history = await session.history();
    sessionId = session.sessionId;
  }, 120_000);

  test('C39 show prints all of it, and no character of it reaches the terminal that acts on one', async () => {
    const { code, stdout, stderr } = await turnlock('show', sessionId, '--tenant', tenantId, '--full');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).not.toMatch(UNSAFE);
    for (const part of ['ok 😀👩‍👩‍👧🏳️‍🌈', String.raw`a\u0000b`, String.raw`\u001b[31m`, 'a Map', executionId]) {
      expect(stdout).toContain(part);
    }
  });

  test('C39 show --json is one document that holds every value as it is stored', async () => {
    const { code, stdout } = await turnlock('show', sessionId, '--tenant', tenantId, '--json');
    expect(code).toBe(0);
    expect(stdout).not.toMatch(UNSAFE);
    const shown = JSON.parse(stdout);
    const stored = STORED_VALUES.map(({ fate }) => fate.stored);
    expect(shown.session).toMatchObject({ ...asked, metadata: { all: stored } });
    const turns: StoredTurn[] = shown.turns;
    expect(turns.map(({ content, parts, metadata }) => ({ content, parts, metadata }))).toEqual(
      history.map(({ content, parts, metadata }) => ({ content, parts, metadata })),
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
        settledBy: BY,
        output: ODD_TEXTS.map(({ stored }) => stored),
        normalised: expect.arrayContaining(['/params/texts/0', '/output/0', '/output/2']),
      },
    ]);
  });
}
