import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import type { Session } from '../../../index.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime } from '../../support/runtime-open.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { onCallAgent } from './on-call.config.ts';
import { runTurnlock } from './run-turnlock.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

onPostgres((database) => {
  let folder = '';
  /** In the order in which they were made: COMPLETED, IDLE, waiting for a person; the user of the last one is `ana`. */
  let sessions: Session[];

  const turnlock = (...args: string[]) =>
    runTurnlock(folder, [...args, '--json'], { TURNLOCK_DATABASE_URL: database().url });
  const errorOf = ({ code, stderr }: { code: number | null; stderr: string }) => [code, JSON.parse(stderr).error.code];
  const idsLeft = async () =>
    (await database().query('SELECT session_id AS id FROM turnlock.agent_sessions ORDER BY created_at, id')).map(
      ({ id }) => id,
    );

  beforeAll(async () => {
    folder = await temporaryFolder('turnlock-retention-');
    const from = pathToFileURL(resolve('test/adapters/cli/on-call.config.ts')).href;
    const policies = `[{ state: 'COMPLETED', olderThanMs: ${30 * DAY_MS} }]`;
    await writeFile(
      join(folder, 'turnlock.config.ts'),
      `import { config } from '${from}';\nexport default { ...config, retention: ${policies} };\n`,
    );
    await writeFile(join(folder, 'without.config.ts'), `export { config as default } from '${from}';\n`);
    const agent = onCallAgent();
    const runtime = await openRuntime(database(), [agent]);
    const open = (userId: string) => runtime.createSession({ agent: agent.name, tenantId: 'acme', userId });
    sessions = [await open('bob'), await open('bob'), await open('ana')];
    await sessions[0]!.complete({ by: 'bob' });
    await (await sessions[1]!.send('hello')).result();
    await (await sessions[2]!.send('pay')).result();
    await database().moveClock(31 * DAY_MS);
  });

  test('retain removes what the policies of the configuration say, and a dry run says so before', async () => {
    const expected = {
      sessions: [{ tenantId: 'acme', state: 'COMPLETED', sessions: 1 }],
      kept: 0,
      claims: 0,
      memories: 0,
      reads: 0,
    };
    const heads = (await turnlock('heads', '--tenant', 'acme')).stdout;
    const madeUp = { tenantId: 'acme', sessionId: randomUUID(), sequence: 1, hash: 'a'.repeat(64) };
    await writeFile(join(folder, 'heads.jsonl'), heads);
    await writeFile(join(folder, 'more.jsonl'), `${heads}${JSON.stringify(madeUp)}\n`);
    const dry = await turnlock('retain', '--dry-run');
    expect([dry.code, JSON.parse(dry.stdout)]).toEqual([0, { dryRun: true, ...expected }]);
    expect(await idsLeft()).toHaveLength(3);
    const done = await turnlock('retain', '--batch', '1', '--reads-older-than', '30d');
    expect([done.code, JSON.parse(done.stdout)]).toEqual([0, { dryRun: false, ...expected }]);
    expect(await idsLeft()).toEqual(sessions.slice(1).map(({ sessionId }) => sessionId));
    // A removal that is noted explains a session that is gone; nothing explains another.
    const explained = await turnlock('heads', '--check', 'heads.jsonl');
    expect(explained.code).toBe(0);
    expect(explained.stdout).toContain('"is":"removed"');
    const unexplained = await turnlock('heads', '--check', 'more.jsonl');
    expect(unexplained.code).toBe(1);
    expect(unexplained.stdout).toContain('"is":"gone"');
  });

  test('retain takes policies of the command line, and refuses what says half of one', async () => {
    const ends = await Promise.all([
      turnlock('retain', '--state', 'IDLE', 'FAILED', '--older-than', '30d', '--tenant', 'acme', '--dry-run'),
      turnlock('retain', '--state', 'IDLE', '--dry-run'),
      turnlock('retain', '--config', 'without.config.ts', '--dry-run'),
      turnlock('retain', '--reads-older-than', '29d', '--dry-run'),
      turnlock('retain', '--state', 'COMPLETED', '--older-than', '29d', '--dry-run'),
      turnlock('retain', '--tenant', 'x'.repeat(65), '--dry-run'),
    ]);
    const [given, ...refused] = ends;
    expect(JSON.parse(given.stdout)).toMatchObject({ sessions: [{ state: 'IDLE', sessions: 1 }] });
    expect(refused.map(errorOf)).toEqual([
      [2, 'OPTIONS_INVALID'],
      [2, 'CONFIG_INVALID'],
      [2, 'OPTIONS_INVALID'],
      [2, 'OPTIONS_INVALID'],
      [2, 'OPTIONS_INVALID'],
    ]);
    const said = await turnlock(
      ...['retain', '--state', 'COMPLETED', '--older-than', '29d', '--instead-of-configured', '--dry-run'],
    );
    expect(said.code).toBe(0);
  });

  test('erase ends with 1 and names what is left, and with 0 once its run was cancelled', async () => {
    const { sessionId } = sessions[2]!;
    const asked = ['erase', '--tenant', 'acme', '--user', 'ana', '--by', 'request 1'];
    const left = await turnlock(...asked);
    expect([left.code, JSON.parse(left.stdout)]).toMatchObject([
      1,
      { sessions: 0, left: [{ sessionId, state: 'AWAITING_INPUT' }] },
    ]);
    const dry = await turnlock(...asked, '--cancel-runs', '--dry-run');
    expect([dry.code, JSON.parse(dry.stdout)]).toMatchObject([0, { dryRun: true, sessions: 1, left: [] }]);
    const done = await turnlock(...asked, '--cancel-runs');
    expect([done.code, JSON.parse(done.stdout)]).toMatchObject([0, { dryRun: false, sessions: 1, left: [] }]);
    const shown = await turnlock('show', sessionId, '--tenant', 'acme');
    expect(shown.stdout).not.toContain('"order":7');
    expect(JSON.parse(shown.stdout)).toMatchObject({
      session: { state: 'COMPLETED', userId: `erased ${sessionId}` },
      turns: [{ role: 'user', content: '' }, { role: 'assistant' }, { role: 'tool', content: '' }],
    });
  });
});
