import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { PGlite } from '@electric-sql/pglite';
import { beforeAll, describe, expect, test } from 'vitest';
import { pglite } from '../../../adapters/databases/pglite.ts';
import { createRuntime, LIMITS, type RunResult, type Runtime, systemEnvironment } from '../../../index.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runTurnlock } from './run-turnlock.ts';
import { supportAgent } from './support-agent.ts';

const run = promisify(execFile);

/** What a terminal would act upon: nothing of the kind may reach standard output. */
const DANGEROUS = /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

const ODD_TENANT = "o'dd\u001b[31m \u202etenant\n";
const ODD_TEXT = '\u001b]0;title\u0007 \u009b31m \u202egnp.exe\nsecond line\ttab \u{1f469}\u200d\u{1f469} \u6f22\u5b57';
const ODD_USER = '\u001b[2J%s$x</script>';
const ODD_EXTERNAL_ID = `\u0085${'\u6f22'.repeat(254)}`;

let folder = '';
let awaiting: RunResult;
let alsoAwaiting: RunResult;
let owedSessionId = '';

function open(agent = supportAgent({ hangs: 'tool' })): Promise<Runtime> {
  const limits = { graceMs: 0, leaseMs: 1_000, heartbeatMs: 100 };
  return createRuntime({ database: pglite(join(folder, 'data')), agents: [agent], limits });
}

async function session(runtime: Runtime) {
  return runtime.createSession({
    agent: 'support',
    tenantId: ODD_TENANT,
    userId: ODD_USER,
    externalId: `${ODD_EXTERNAL_ID}`,
    metadata: { 'k\u001b': ['\u202e', '</b>', null] },
  });
}

function turnlock(...args: string[]) {
  return runTurnlock(folder, args);
}

const linesOf = (text: string) => text.trimEnd().split('\n');

beforeAll(async () => {
  folder = await temporaryFolder('turnlock-cli-');
  await writeFile(
    join(folder, 'turnlock.config.ts'),
    `export { config as default } from ${JSON.stringify(resolve('test/adapters/cli/support.config.ts'))};\n`,
  );
  const first = await turnlock('migrate', '--json');
  expect(first, first.stderr).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(first.stdout)).toMatchObject({
    upToDate: true,
    leftToRun: [],
    applied: [expect.stringContaining('initial')],
  });

  await using hanging = await open();
  awaiting = await (await (await session(hanging)).send(ODD_TEXT)).result();
  expect(awaiting.state).toBe('AWAITING_INPUT');
  const other = await hanging.createSession({ agent: 'support', tenantId: 'acme', userId: 'ann' });
  alsoAwaiting = await (await other.send('hello')).result();
  await hanging.close();

  await using draining = await open(supportAgent({ hangs: 'model' }));
  const owed = await draining.createSession({ agent: 'support', tenantId: 'acme', userId: 'ann' });
  owedSessionId = owed.sessionId;
  await owed.send('owed');
});

describe('sessions and show', () => {
  test('C39: a list with every odd value is harmless for a terminal', async () => {
    const { code, stdout } = await turnlock('sessions');
    expect(code).toBe(0);
    expect(stdout).not.toMatch(DANGEROUS);
    expect(linesOf(stdout)).toHaveLength(4);
    expect(stdout).toContain(String.raw`o'dd\u001b[31m \u202etenant\n`);
    expect(stdout).toContain('AWAITING_INPUT');
  });

  test('C39: JSON lines hold the odd values exactly', async () => {
    const { code, stdout } = await turnlock('sessions', '--tenant', ODD_TENANT, '--state', 'awaiting_input', '--json');
    expect(code).toBe(0);
    expect(stdout).not.toMatch(DANGEROUS);
    expect(linesOf(stdout).map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        sessionId: awaiting.sessionId,
        tenantId: ODD_TENANT,
        userId: ODD_USER,
        externalId: ODD_EXTERNAL_ID,
        state: 'AWAITING_INPUT',
        agent: 'support',
      }),
    ]);
  });

  test('show finds the tenant, tells the whole story, and how to go on', async () => {
    const { code, stdout } = await turnlock('show', awaiting.sessionId);
    expect(code).toBe(0);
    expect(stdout).not.toMatch(DANGEROUS);
    const [call] = awaiting.awaiting;
    for (const part of [
      'user.messaged',
      'IDLE → PLANNING',
      'tool.outcomeUnknown',
      'RUNNING, attempt 1, nonRepeatable',
    ]) {
      expect(stdout).toContain(part);
    }
    expect(stdout).toContain(call?.idempotencyKey);
    expect(stdout).toMatch(
      new RegExp(`turnlock settle ${call?.executionId} --run-again --session ${awaiting.sessionId}`),
    );
  });

  test('show --json is one document with what is stored', async () => {
    const { stdout } = await turnlock('show', awaiting.sessionId, '--tenant', ODD_TENANT, '--json');
    const shown = JSON.parse(stdout);
    expect(Object.keys(shown)).toEqual(['session', 'waiting', 'turns', 'executions', 'transitions']);
    expect(shown.session).toMatchObject({ state: 'AWAITING_INPUT', tenantId: ODD_TENANT, lease: null, problem: null });
    expect(shown.session.metadata).toEqual({ 'k\u001b': ['\u202e', '</b>', null] });
    expect(shown.turns.map((turn: { content: string }) => turn.content)).toEqual([ODD_TEXT, ODD_TEXT]);
    expect(shown.executions).toEqual([
      expect.objectContaining({ params: { orderId: 42, note: ODD_TEXT }, status: 'RUNNING', unknownReason: 'timeout' }),
    ]);
    expect(shown.waiting).toEqual([expect.objectContaining({ reason: 'unknown', commands: expect.any(Array) })]);
    expect(shown.transitions.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2, 3]);
  });

  test('a reader that has seen enough is no error', async () => {
    const main = resolve('adapters/cli/main.ts');
    const { stdout, stderr } = await run(
      'bash',
      [
        '-c',
        `"$0" "$1" show ${awaiting.sessionId} --full | head -n 1; echo "\${PIPESTATUS[0]}"`,
        process.execPath,
        main,
      ],
      { cwd: folder },
    );
    expect([linesOf(stdout)[1], stderr]).toEqual(['0', '']);
  });
});

describe('settle and recover', () => {
  test('C39: a call settled with odd JSON goes on to the reply, and is not settled twice', async () => {
    const [call] = awaiting.awaiting;
    const args = [
      'settle',
      `${call?.executionId}`,
      '--session',
      awaiting.sessionId,
      '--tenant',
      ODD_TENANT,
      '--by',
      'ann\u001b',
    ];
    const { code, stdout } = await turnlock(
      ...args,
      '--succeeded',
      '{"id":"\\u001b","cut":["\\u0000","\\ud83d","😀"]}',
      '--json',
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      isDriven: true,
      state: 'IDLE',
      reply: 'The tool said {"id":"\\u001b","cut":["\uFFFD","\uFFFD","😀"]}',
    });
    const again = await turnlock(...args, '--run-again');
    expect(again.code).toBe(4);
    expect(linesOf(again.stderr)[0]).toMatch(/^EXECUTION_SETTLED: .*found SUCCESS by ann\\u001b at/);
  });

  test('without the agent a call is settled, its output unchecked as is said, and the rest is left to who has it', async () => {
    const args = [
      `${alsoAwaiting.awaiting[0]?.executionId}`,
      '--session',
      alsoAwaiting.sessionId,
      '--by',
      'ann',
      '--json',
    ];
    await writeFile(join(folder, 'bare.mjs'), 'export default {};\n');
    const place = ['--config', 'bare.mjs', '--database', 'data'];
    const { code, stdout } = await turnlock('settle', ...args, '--succeeded', '"by hand"', ...place);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ isDriven: false, isOutputChecked: false },
      ...{ state: 'PLANNING', sessionId: alsoAwaiting.sessionId },
    });
  });

  test('recover brings what is owed to rest', async () => {
    const first = await turnlock('recover');
    expect(first.code).toBe(0);
    const lines = [owedSessionId, alsoAwaiting.sessionId].map((sessionId) => `${sessionId}  acme  IDLE`);
    expect(linesOf(first.stdout).sort()).toEqual(lines.sort());
  });
});

describe('what is refused', () => {
  test('a schema that is too new or missing', async () => {
    const raw = await PGlite.create(join(folder, 'data'));
    await raw.query("insert into turnlock.migrations (name) values ('migration-29990101000000-future')");
    await raw.close();
    const tooNew = await turnlock('migrate', '--check', '--json');
    expect(tooNew.code).toBe(3);
    expect(JSON.parse(tooNew.stderr).error).toMatchObject({ code: 'SCHEMA_TOO_NEW', category: 'version' });
    const missing = await turnlock('migrate', '--check', '--database', './nowhere');
    expect([missing.code, missing.stdout]).toEqual([3, '']);
    expect(missing.stderr).toMatch(/^DATA_DIRECTORY_INVALID: database does not exist: .*\nhint: /);
  });

  test('a folder that another process has', async () => {
    const database = await pglite(join(folder, 'other')).connect({ environment: systemEnvironment, limits: LIMITS });
    const { code, stderr } = await turnlock('sessions', '--database', 'other');
    await database.close();
    expect([code, stderr.split(':')[0]]).toEqual([3, 'DATA_DIRECTORY_IN_USE']);
    expect(stderr).toContain(`process ${process.pid}`);
  });

  test.each([
    [['sessions', '--limit', '0'], "option '--limit <number>' argument '0' is invalid"],
    [['bogus'], "unknown command 'bogus'"],
    [['session'], "unknown command 'session' (Did you mean sessions?)"],
    [['migrate', '--database', 'postgres//ana:hunter2@host/db'], 'what looks like a mistyped URL'],
    [['show'], "missing required argument 'session'"],
    [['settle', 'x', '--session', 'y'], "required option '--by <who>' not specified"],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await turnlock(...args, '--json');
    expect([code, stdout]).toEqual([2, '']);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining(message),
    });
  });

  test('a stray rejection of a configuration, in one line without a stack', async () => {
    await writeFile(
      join(folder, 'stray.mjs'),
      "void Promise.reject(new RangeError('stray\\u001b'));\nawait new Promise(() => setTimeout(() => {}, 1e6));\n",
    );
    const { code, stderr } = await turnlock('recover', '--config', 'stray.mjs');
    expect(code).toBe(70);
    expect(stderr).toContain(String.raw`unexpected error: RangeError: stray\u001b.`);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
