import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import type { Session } from '../../../index.ts';
import { corrupt } from '../../runtime/doctor/corruptions.ts';
import { openMortal } from '../../support/runtime-crash.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession } from '../../support/runtime-open.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { onCallAgent } from './on-call.config.ts';
import { type CommandEnd, runTurnlock } from './run-turnlock.ts';

/** An id that a shell must not take apart. */
const TENANT = `it's $(acme)`;

onPostgres((database) => {
  let folder = '';

  beforeAll(async () => {
    folder = await temporaryFolder('turnlock-on-call-');
    const from = pathToFileURL(resolve('test/adapters/cli/on-call.config.ts')).href;
    await writeFile(join(folder, 'turnlock.config.ts'), `export { config as default } from '${from}';\n`);
    await writeFile(join(folder, 'next.config.ts'), `export { nextConfig as default } from '${from}';\n`);
  });

  const env = () => ({ TURNLOCK_DATABASE_URL: database().url });
  const turnlock = (...args: string[]) => runTurnlock(folder, args, env());

  /** Runs a line that was printed, in a shell, as a person pastes it. */
  async function paste(line: string): Promise<CommandEnd> {
    const { PATH, HOME } = process.env;
    const main = resolve('adapters/cli/main.ts');
    const script = `turnlock() { '${process.execPath}' '${main}' "$@"; }\n${line}`;
    const child = spawn('bash', ['--norc', '-c', script], {
      cwd: folder,
      env: { PATH, HOME, ...env() },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((done) => child.once('close', done));
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { code, stdout, stderr };
  }

  const fill = (line: string) =>
    line.replace('WHO', 'ann').replace(`'OUTPUT_AS_JSON'`, `'"by hand"'`).replace(`'REASON'`, `'it is late'`);

  /** What `turnlock explain` says first. */
  async function explained({ sessionId }: Session): Promise<{ kind: string; commands: string[] }> {
    const { code, stdout, stderr } = await turnlock('explain', sessionId, '--json');
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout).waitsFor[0];
  }

  const open = async (agent = onCallAgent()) => {
    const runtime = await openRuntime(database(), [agent]);
    return { runtime, session: await openSession(runtime, agent, { tenantId: TENANT, metadata: { orderId: 42 } }) };
  };

  test('what explain prints unblocks the session when it is pasted: an approval, a refusal, a settlement', async () => {
    for (const [place, state] of [
      [0, 'IDLE'],
      [1, 'IDLE'],
      [2, 'IDLE'],
    ] as const) {
      const { session } = await open();
      await (await session.send('pay')).result();
      const { kind, commands } = await explained(session);
      expect(kind).toBe('approval');
      const { code, stderr } = await paste(fill(commands[place]!));
      expect(code, stderr).toBe(0);
      expect((await session.status()).state).toBe(state);
    }
  });

  test('… a failed run, a silent worker, a session that nobody goes on with, one of a newer build, one that is garbage', async () => {
    const broken = await open(onCallAgent({ isBroken: true }));
    await (await broken.session.send('hello')).result();
    const failed = await explained(broken.session);
    expect(failed.kind).toBe('failed');
    expect((await paste(fill(failed.commands[0]!))).code).toBe(0);
    expect((await broken.session.status()).state).toBe('IDLE');

    const agent = onCallAgent();
    const { runtime, plan } = await openMortal(database(), [agent], [{ point: 'insideEffect', fault: 'crash' }]);
    const session = await openSession(runtime, agent, { tenantId: TENANT });
    void session.send('hello').catch(() => undefined);
    await plan.struck;
    await database().moveClock(11_000);
    const silent = await explained(session);
    expect(silent.kind).toBe('lease');
    const released = await paste(fill(silent.commands[0]!));
    expect([released.code, released.stdout]).toEqual([0, expect.stringContaining('Released')]);
    const owed = await explained(session);
    expect(owed.kind).toBe('worker');
    expect((await paste(fill(owed.commands[0]!))).code).toBe(0);
    await database().moveClock(-11_000);

    const next = await open(onCallAgent({ next: true }));
    await (await next.session.send('pay')).result();
    const stranded = await explained(next.session);
    expect(stranded.kind).toBe('stranded');
    const garbage = await open();
    await (await garbage.session.send('hello')).result();
    const { sessionId } = garbage.session;
    await corrupt(
      database(),
      [`UPDATE turnlock.agent_sessions SET snapshot = '[]' WHERE session_id = $1`],
      [sessionId],
    );
    const quarantined = await explained(garbage.session);
    expect(quarantined.kind).toBe('quarantined');
    const forked = await paste(`${fill(quarantined.commands[0]!)} --json`);
    const fork = await garbage.runtime.session({ tenantId: TENANT, sessionId: JSON.parse(forked.stdout).sessionId });
    expect(await (await fork.send('hello')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });

    const line = stranded.commands[0]!.replace('CONFIG_OF_THAT_BUILD', './next.config.ts');
    expect((await paste(line)).code).toBe(0);
  });

  test('explain and find print what a person reads', async () => {
    const { session } = await open();
    await (await session.send('pay')).result();
    const { stdout } = await turnlock('explain', session.sessionId, '--tenant', TENANT);
    expect(stdout).toMatch(/^session [0-9a-f-]{36} {2}AWAITING_INPUT for \d+ s\n/);
    expect(stdout).toContain('waits for approval of pay {"order":7}');
    expect(stdout).toContain(`--tenant 'it'\\''s $(acme)' --by WHO`);
    const found = await turnlock('find', '--metadata', 'orderId=42', '--json');
    expect(
      found.stdout
        .trim()
        .split('\n')
        .map((row) => JSON.parse(row).sessionId),
    ).toContain(session.sessionId);
    const none = await turnlock('find', '--tenant', TENANT, '--metadata', 'orderId="42"');
    expect([none.code, none.stdout]).toEqual([0, '']);
    expect((await turnlock('find', '--user', 'user')).code).toBe(2);
  });

  test('preflight ends with 1 where the next build would void an approval, and with 0 for the present one', async () => {
    const other = await openSession(await openRuntime(database(), [onCallAgent()]), onCallAgent(), {
      tenantId: 'other',
    });
    await (await other.send('pay')).result();
    const present = await turnlock('preflight', '--tenant', 'other');
    expect([present.code, present.stdout]).toEqual([0, expect.stringContaining('The build goes on with all of them.')]);
    const next = await turnlock('preflight', '--tenant', 'other', '--config', 'next.config.ts', '--json');
    expect(next.code, next.stderr).toBe(1);
    expect(JSON.parse(next.stdout).problems).toMatchObject([{ problem: 'approvalVoided', count: 1 }]);
  });

  test('doctor ends with 6 for warnings and with 1 for errors, and says both', async () => {
    const agent = onCallAgent();
    const tenantId = 'examined';
    const session = await openSession(await openRuntime(database(), [agent]), agent, { tenantId });
    await (await session.send('pay')).result();
    // The tests' server flushes nothing, and the tests own the tables: warnings.
    const warned = await turnlock('doctor', session.sessionId, '--tenant', tenantId);
    expect([warned.code, warned.stdout]).toEqual([6, expect.stringContaining('warning FSYNC_OFF')]);
    expect(warned.stderr).toContain('Looked at 1 session: errors: 0, warnings: 2.');
    await corrupt(
      database(),
      [`UPDATE turnlock.agent_turns SET content = 'other' WHERE session_id = $1`],
      [session.sessionId],
    );
    const wrong = await turnlock('doctor', '--all', '--json', '--page-size', '3');
    expect(wrong.code, wrong.stderr).toBe(1);
    const findings = wrong.stdout
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row));
    const own = findings.filter(({ sessionId }) => sessionId === session.sessionId);
    expect(own).toMatchObject([
      { code: 'CHAIN_BROKEN', severity: 'error', commands: [expect.stringMatching(/^turnlock explain/)] },
      {},
    ]);
    const quick = await turnlock('doctor', '--tenant', tenantId, '--quick');
    expect(quick.code).toBe(6);
  });
});
