import { beforeAll, expect, test } from 'vitest';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime } from '../../support/runtime-open.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { withReader } from '../../tenants/as-least-privileged.ts';
import { onCallAgent } from './on-call.config.ts';
import { runTurnlock } from './run-turnlock.ts';

onPostgres((database) => {
  const asReader = withReader(database);
  const asWatch = withReader(database, 'turnlock_operator');
  let folder = '';
  let sessionId = '';
  let executionId = '';

  const turnlock = (url: string, ...args: string[]) =>
    runTurnlock(folder, [...args, '--json'], { TURNLOCK_DATABASE_URL: url });

  beforeAll(async () => {
    folder = await temporaryFolder('turnlock-reader-');
    const agent = onCallAgent();
    const runtime = await openRuntime(database(), [agent]);
    const session = await runtime.createSession({
      agent: agent.name,
      tenantId: 'acme',
      userId: 'ana',
      externalId: 'e',
    });
    await (await session.send('pay')).result();
    ({ sessionId } = session);
    executionId = (await session.status()).awaiting[0]!.executionId;
  });

  test('who only looks has every command that looks, within a tenant, and with the rights of operators across them', async () => {
    const own = [
      ...['show', 'explain', 'replay', 'doctor'].map((name) => [name, sessionId]),
      ...[['find', '--external-id', 'e'], ['sessions'], ['awaiting'], ['heads']],
    ].map((args) => [...args, '--tenant', 'acme']);
    const all = [
      ['show', sessionId],
      ['find', '--external-id', 'e'],
      ['doctor', '--all', '--quick'],
    ];
    for (const [url, commands] of [
      [asReader().url, own],
      [asWatch().url, all],
    ] as const) {
      const ends = await Promise.all(commands.map((args) => turnlock(url, ...args)));
      // What the tests' server is like makes a warning of doctor's.
      for (const [place, { code, stderr }] of ends.entries()) {
        expect(commands[place]![0] === 'doctor' ? [0, 6] : [0], `${commands[place]} ${stderr}`).toContain(code);
      }
    }
  });

  test('what writes, or looks further than it may, is refused, and nothing speaks of the rights of a service', async () => {
    const by = ['--by', 'ann'];
    const ends = await Promise.all(
      [
        ['show', sessionId],
        ['settle', executionId, '--session', sessionId, '--tenant', 'acme', '--failed', 'no', ...by],
        ['fork', sessionId, '--tenant', 'acme', ...by],
        ['retain', '--state', 'FAILED', '--older-than', '1d'],
        ['erase', '--tenant', 'acme', '--user', 'ana', ...by],
      ].map((args) => turnlock(asReader().url, ...args)),
    );
    expect(ends.map(({ code, stderr }) => [code, JSON.parse(stderr).error.code])).toEqual(
      ends.map(() => [3, 'PRIVILEGE_MISSING']),
    );
    const hints = ends.map(({ stderr }) => JSON.parse(stderr).error.hint);
    expect(hints.join()).not.toContain('--grant-to');
    // To name a tenant helps who looks, not who acts.
    expect(hints.map((hint) => hint.includes('Name the tenant'))).toEqual([true, false, false, false, false]);
  });
});
