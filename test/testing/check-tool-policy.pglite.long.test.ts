import { readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { pglite } from '../../adapters/databases/pglite.ts';
import { scripted } from '../../adapters/models/scripted.ts';
import { createRuntime, defineAgent, done, ToolError } from '../../index.ts';
import { checkToolPolicy, type ToolPolicyCheck } from '../../testing/check-tool-policy.ts';
import type { SeenExecution } from '../../testing/subject.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { upgradeKeepsEverything } from './gallery/correct/upgrade-keeps-everything.ts';
import { rightTools } from './mutants/right-tools.ts';
import { type Books, otherTools, params, refundCheck, refundTool } from './scene.ts';
import { seatCheck, TWO_ASK } from './seats.ts';

test('a tool that pays twice when its process dies is found, with the shortest schedule and a line that plays it', async () => {
  const { ok, failure, seed } = await checkToolPolicy({ ...refundCheck(false), numRuns: 100, seed: 7 });
  expect({ ok, seed }).toEqual({ ok: false, seed: 7 });
  expect(failure?.invariant).toBe('each call is paid once');
  expect(failure?.commands).toHaveLength(2);
  expect(failure?.commands[1]).toMatch(/^a message to session \d; the model asks for refund\(/);
  expect(failure?.timeline.map(({ what }) => what)).toContainEqual(expect.stringMatching(/^the world: payments: /));
  const again = await checkToolPolicy({ ...refundCheck(false), replay: failure?.replay ?? '' });
  expect(again.runs).toBe(1);
  expect(again.failure).toMatchObject({ message: failure?.message, timeline: failure?.timeline });
  expect(failure?.text).toContain(`replay: '${failure?.replay}'`);
});

const anyAgent = defineAgent({ name: 'kit', instructions: 'Say yes.', model: scripted('yes') });

test('what the shortest run left is kept in a folder of its own, with the clock of its end, for the inspector', async () => {
  const keepIn = join(await temporaryFolder('turnlock-kept-'), 'kept');
  const replay =
    '{"form":1,"ids":7,"order":0,"commands":[{"type":"fault","fault":"timeout","point":"place","occurrence":2},{"type":"message","session":1,"process":1,"replies":[[{"tool":"refund","params":{"order":"1","cents":50}}]]}]}';
  const { failure } = await checkToolPolicy({ ...refundCheck(false), replay, keepIn });
  expect(await readdir(keepIn)).toEqual([basename(failure?.kept ?? '')]);
  expect(failure?.text).toContain(`npx turnlock inspect --database ${failure?.kept}`);
  const runtime = await createRuntime({ database: pglite(failure?.kept ?? ''), agents: [anyAgent], migrate: 'check' });
  atTestEnd(() => runtime.close());
  const session = await runtime.session({ tenantId: 'tenant-1', externalId: '1' });
  const types = (await session.transitions()).map(({ type }) => type);
  expect(types).toEqual(['user.messaged', 'model.calledTools', 'execution.started', 'tool.settled', 'model.replied']);
  await session.send('after it');
  const last = (await session.transitions()).at(-1);
  expect(last?.createdAt.getUTCFullYear()).toBe(2030);
});

const ONE_CALL =
  '{"form":1,"ids":7,"order":0,"commands":[{"type":"message","session":1,"process":1,"replies":[[{"tool":"refund","params":{"order":"1","cents":50}}]]}]}';
const neverPays = { 'nothing is paid': ({ world }: { world: Books }) => world.payments.length === 0 };

const aFile = async (): Promise<string> => {
  const file = join(await temporaryFolder('turnlock-kept-'), 'file');
  await writeFile(file, '');
  return file;
};

test.each([
  ['in whose place is a file', aFile],
  ['in whose place there can be none', async () => '/proc/turnlock'],
])('a folder %s takes nothing from the report, which says that nothing is kept', async (_, folder) => {
  const keepIn = await folder();
  const { failure } = await checkToolPolicy({ ...refundCheck(true), invariants: neverPays, replay: ONE_CALL, keepIn });
  expect(failure).toMatchObject({ invariant: 'nothing is paid', kept: null });
  const said = `what it left cannot be kept in ${keepIn}: `;
  expect(failure?.timeline.at(-1)?.what).toContain(said);
  expect(failure?.text).toContain(said);
});

test('a world that throws where it is looked at is told as far as it can be', async () => {
  const world = () => ({
    payments: [],
    odd: { [inspect.custom]: () => JSON.parse('no JSON') },
    get closed(): string {
      throw new Error('closed');
    },
  });
  const { failure } = await checkToolPolicy<Books>({
    ...refundCheck(true),
    world,
    invariants: neverPays,
    replay: ONE_CALL,
  });
  expect(failure?.invariant).toBe('nothing is paid');
});

test('a run that ends otherwise when it is played again is told as one', async () => {
  let looks = 0;
  const invariants = {
    'it is looked at once': () => {
      looks += 1;
      return looks > 1;
    },
  };
  const { failure } = await checkToolPolicy({ ...refundCheck(true), invariants, replay: ONE_CALL });
  expect(failure?.text).toContain('Played once more, below, it did not break');
});

test.each<[string, Partial<ToolPolicyCheck<Books>>]>([
  ['calls', { calls: { refnud: params }, numRuns: 1 }],
  ['calls', { calls: { refnud: params } }],
  ['tools', { tools: (() => null) as never }],
  ['world', { world: (async () => ({ payments: [] })) as never }],
])('%s that nothing can be played with are refused (%#)', async (option, part) => {
  await expect(checkToolPolicy({ ...refundCheck(true), ...part })).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringContaining(`option not accepted: ${option} of checkToolPolicy (found `),
  });
});

const CRASH = '{"type":"fault","fault":"crash","point":"place","occurrence":2},';
const CRASH_IN_CALL = ONE_CALL.replace('[', `[${CRASH}`);

test.each<[string, () => unknown, string]>([
  ['says nothing', () => undefined, 'found undefined, wanted a truth'],
  ['gives a text', () => 'failed', 'found a string, wanted a truth'],
  ['gives no truth', () => ({ outcome: 'maybe' }), 'found "maybe", wanted a truth'],
  [
    'gives what cannot be stored',
    () => ({ outcome: 'succeeded', output: 5n }),
    'refund: value cannot be stored: /output',
  ],
  [
    'gives too much',
    () => ({ outcome: 'succeeded', output: 'x'.repeat(2 ** 21) }),
    'refund: value is too large: /output',
  ],
  ['gives another output', () => ({ outcome: 'succeeded', output: 5 }), 'refund: output does not fit'],
  ['never answers', () => new Promise(() => undefined), 'found no answer within 5 seconds, wanted a truth'],
])('who settles and %s is named, and nothing is held', async (_, settle, message) => {
  const tools: ToolPolicyCheck<Books>['tools'] = (books, process) => [
    { ...refundTool(books, process, true), effect: 'nonRepeatable', outputSchema: z.object({ order: z.string() }) },
  ];
  const check = { ...refundCheck(true), tools, replay: CRASH_IN_CALL };
  await expect(checkToolPolicy({ ...check, people: { settle: settle as never } })).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringMatching(new RegExp(`^option not accepted: people.settle of checkToolPolicy.*${message}`)),
  });
  const people = { settle: () => ({ outcome: 'succeeded', output: { order: '1' } }) as const };
  expect(await checkToolPolicy({ ...check, people })).toMatchObject({ ok: true });
});

/** The check of a refund tool that asks `reconcile` how a call ended. */
function reconciledCheck(reconcile: () => unknown): ToolPolicyCheck<Books> {
  const tools: ToolPolicyCheck<Books>['tools'] = (books, process) => [
    { ...refundTool(books, process, true), effect: 'reconcilable', reconcile: async () => reconcile() as never },
  ];
  return { ...refundCheck(true), tools };
}

test.each<[string, () => unknown, string]>([
  ['nothing', () => undefined, 'undefined'],
  ['a text', () => 'yes', "'yes'"],
  ['no verdict', () => ({ type: 'maybe' }), "{ type: 'maybe' }"],
  ['what cannot be stored', () => done(5n), "{ output: 5n, type: 'done' }: value cannot be stored: /output"],
])('a tool whose reconcile gives %s is found, and told by its name', async (_, reconcile, gave) => {
  const { failure } = await checkToolPolicy({ ...reconciledCheck(reconcile), replay: CRASH_IN_CALL });
  expect(failure).toMatchObject({
    invariant: 'reconcile answers with done(…), notDone() or cannotTell(…)',
    message: expect.stringContaining(`reconcile of refund gave ${gave}`),
  });
});

test('calls of which nobody ever hears how they ended are given up one after the other, and come to rest', async () => {
  const message =
    '{"type":"message","session":1,"process":1,"isOvertaken":true,"replies":[[{"tool":"refund","params":{"order":"1","cents":50}}]]}';
  const replay = `{"form":1,"ids":7,"order":0,"commands":[${message},${message},${message}]}`;
  const check = reconciledCheck(() => new Promise(() => undefined));
  const tools: ToolPolicyCheck<Books>['tools'] = (books, process) =>
    check.tools(books, process).map((tool) => ({
      ...tool,
      execute: async () => {
        throw new ToolError('no answer', { outcome: 'unknown' });
      },
    }));
  const people = { settle: () => ({ outcome: 'failed' }) as const };
  const { failure } = await checkToolPolicy({ ...check, tools, people, replay });
  expect(failure?.text).toBeUndefined();
});

test('of a rolling deploy, what the old build cannot go on with comes to rest, also where the new one died', async () => {
  const message = (order: string, currency: string) =>
    `{"type":"message","session":1,"process":2,"replies":[[{"tool":"pay_in_cash","params":{"orderId":"${order}","currency":"${currency}","cents":20,"note":null}}]]}`;
  const dies = '{"type":"fault","fault":"crash","point":"commitSent","occurrence":1}';
  const replay = `{"form":1,"ids":23,"order":0,"commands":[${message('1', 'EUR')},${dies},${message('2', 'JPY')}]}`;
  const { failure, played } = await checkToolPolicy({ ...upgradeKeepsEverything.check, replay });
  expect(failure?.text).toBeUndefined();
  expect(played.tools.pay_in_cash?.succeeded).toBe(2);
});

test('nothing is found where the bank knows the key', async () => {
  expect(await checkToolPolicy({ ...refundCheck(true), numRuns: 12, seed: 7 })).toMatchObject({
    ok: true,
    runs: 12,
    seed: 7,
    failure: null,
  });
});

test('one seed gives the same runs, id by id, with tools of every kind', async () => {
  const play = async () => {
    const seen: SeenExecution[][] = [];
    const { failure } = await checkToolPolicy<Books>({
      world: () => ({ payments: [] }),
      tools: (books, process) => [refundTool(books, process, true), ...otherTools(process)],
      calls: { refund: params, book: params, charge: params },
      people: { settle: () => ({ outcome: 'succeeded', output: null }) },
      invariants: {
        'it is seen': ({ executions }) => {
          seen.push([...executions]);
        },
      },
      numRuns: 10,
      seed: 3,
    });
    expect(failure?.text).toBeUndefined();
    return seen;
  };
  const first = await play();
  expect(first).toHaveLength(10);
  expect(first.flat().length).toBeGreaterThan(10);
  expect(await play()).toEqual(first);
});

test('tables of the user are there for transactional tools, and empty at the begin of each run', async () => {
  const seen: string[][] = [];
  const { invariants, ...check } = seatCheck('none');
  const report = await checkToolPolicy({
    ...check,
    invariants: {
      ...invariants,
      'it is seen': ({ executions }) => {
        seen.push(executions.map(({ output }) => String(output)));
      },
    },
    numRuns: 8,
    seed: 3,
  });
  expect(report.failure?.text).toBeUndefined();
  // Two seats in all: more are taken only where the table is empty again.
  expect(seen.flat().filter((output) => output.startsWith('has ')).length).toBeGreaterThan(2);
  expect(await checkToolPolicy({ ...check, invariants, replay: TWO_ASK })).toMatchObject({ ok: true });
});

test('of two late results none is forgotten, whichever commit is the last one of the process that takes them', async () => {
  const { people: _, ...check } = rightTools(['act']);
  const replies = [['a', 'b'].map((what) => ({ tool: 'act', params: { what } }))];
  const found: unknown[] = [];
  for (let occurrence = 1; occurrence <= 9; occurrence += 1) {
    const commands = [
      { type: 'fault', fault: 'stall', point: 'place', occurrence: 2, returnsEarly: true },
      { type: 'message', session: 1, process: 1, replies },
      { type: 'cancel', session: 1 },
      { type: 'fault', fault: 'crash', point: 'afterCommit', occurrence },
      { type: 'jump', ms: 0 },
    ];
    const replay = JSON.stringify({ form: 1, ids: 5, order: 0, commands });
    const { failure } = await checkToolPolicy({ ...check, sessions: { tenants: 1, users: 1 }, replay });
    found.push(failure?.invariant ?? null);
  }
  expect(found).toEqual(Array(9).fill(null));
});
