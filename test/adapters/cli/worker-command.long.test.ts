import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { allRest, leaveOwed, rowsOf } from '../../runtime/worker/owed.ts';
import { onPostgres, type RuntimeDatabase } from '../../support/runtime-database.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';
import { runTurnlock, startTurnlock } from './run-turnlock.ts';
import { chargingAgent } from './worker-agent.ts';

/** Signals a worker and resolves once it says that it stops. */
async function drain(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  let told = '';
  child.stderr!.on('data', (chunk) => {
    told += chunk;
  });
  child.kill(signal);
  await waitFor(() => told.includes('Stopping'), { for: 'the worker to say that it stops' });
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

onPostgres((database) => {
  /** A folder with a configuration, in which the agent's tool waits for `go`. */
  async function setUp({ url }: RuntimeDatabase) {
    const folder = await temporaryFolder('turnlock-worker-');
    const paths = ['adapters/databases/postgres.ts', 'test/adapters/cli/worker-agent.ts'].map((path) =>
      JSON.stringify(resolve(path)),
    );
    await writeFile(
      join(folder, 'turnlock.config.ts'),
      `import { postgres } from ${paths[0]};
import { chargingAgent } from ${paths[1]};
const url = ${JSON.stringify(url)};
export default { database: postgres(url, { listen: url }), agents: [chargingAgent(${JSON.stringify(folder)})], limits: { sweepMs: 100 } };
`,
    );
    const read = (name: string) =>
      existsSync(join(folder, name)) ? linesOf(readFileSync(join(folder, name), 'utf8')) : [];
    const agent = chargingAgent(folder);
    return {
      work: (...args: string[]) => startTurnlock(folder, ['worker', ...args]),
      leave: async () => (await leaveOwed(database(), agent))[0]!,
      begun: (count: number) =>
        waitFor(() => read('begun').length >= count, { for: `${count} calls`, timeoutMs: 30_000 }),
      go: () => writeFile(join(folder, 'go'), ''),
      acts: () => read('acts'),
      folder,
    };
  }

  test('C12 a rolling restart: SIGTERM drains, nothing new is claimed, and the next worker goes on at once', async () => {
    const { work, leave, begun, go, acts } = await setUp(database());
    const first = await leave();
    const old = work('--concurrency', '2');
    await begun(1);
    await drain(old.child, 'SIGTERM');
    const second = await leave();
    const next = work('--json');
    await begun(2);
    expect(await rowsOf(database(), [first, second])).toMatchObject([
      { state: 'EXECUTING_TOOL', takeovers: 1 },
      { state: 'EXECUTING_TOOL', takeovers: 1 },
    ]);
    await go();
    const drained = await old.ended;
    expect(drained.code, drained.stderr).toBe(143);
    expect(drained.stdout).toBe(`${first.sessionId}  tenant  handed over\n`);
    await allRest(database(), [first, second], 'IDLE', { timeoutMs: 30_000 });
    expect(await rowsOf(database(), [first, second])).toMatchObject([
      { takeovers: 2, recoveries: 0 },
      { takeovers: 1, recoveries: 0 },
    ]);
    expect(acts().sort()).toEqual([first.sessionId, second.sessionId].sort());
    next.child.kill('SIGINT');
    const { code, stdout, stderr } = await next.ended;
    expect([code, stderr]).toEqual([130, '']);
    const byId = (one: { sessionId: string }, other: { sessionId: string }) =>
      one.sessionId < other.sessionId ? -1 : 1;
    expect(
      linesOf(stdout)
        .map((line) => JSON.parse(line))
        .sort(byId),
    ).toEqual(
      [first, second]
        .map(({ sessionId }) => ({ sessionId, tenantId: 'tenant', state: 'IDLE', skipped: null }))
        .sort(byId),
    );
  });

  test('a second signal ends a worker at once', async () => {
    const { work, leave, begun } = await setUp(database());
    const session = await leave();
    const { child, ended } = work();
    await begun(1);
    await drain(child, 'SIGTERM');
    child.kill('SIGTERM');
    expect((await ended).code).toBeNull();
    expect(await rowsOf(database(), [session])).toMatchObject([{ state: 'EXECUTING_TOOL' }]);
  });

  test.each(['0', 'many'])('--concurrency %s is refused', async (concurrency) => {
    const { folder } = await setUp(database());
    const { code, stderr } = await runTurnlock(folder, ['worker', '--json', '--concurrency', concurrency]);
    expect([code, JSON.parse(stderr).error.code]).toEqual([2, 'OPTIONS_INVALID']);
  });
});
