import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createRuntime } from '../../../index.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runTurnlock } from './run-turnlock.ts';
import { supportAgent } from './support-agent.ts';

onPostgres((database) => {
  test('sessions --stranded lists what is newer than the agents of the configuration, and says what', async () => {
    const folder = await temporaryFolder('turnlock-stranded-');
    const turnlock = (...args: string[]) => runTurnlock(folder, args, { TURNLOCK_DATABASE_URL: database().url });
    const newer = { ...supportAgent(), version: 7 };
    const runtime = await createRuntime({ database: database().adapter(), agents: [newer] });
    const { sessionId } = await runtime.createSession({ agent: 'support', tenantId: 'acme', userId: 'ana' });
    await runtime.close();
    const without = await turnlock('sessions', '--stranded', '--tenant', 'acme');
    expect(without).toMatchObject({ code: 2, stdout: '' });
    expect(without.stderr).toContain('CONFIG_INVALID');

    await writeFile(
      join(folder, 'turnlock.config.ts'),
      `export { config as default } from ${JSON.stringify(resolve('test/adapters/cli/support.config.ts'))};\n`,
    );
    const table = await turnlock('sessions', '--stranded', '--tenant', 'acme');
    expect(table, table.stderr).toMatchObject({ code: 0, stderr: '' });
    expect(table.stdout).toContain('NEWER');
    expect(table.stdout).toMatch(new RegExp(`${sessionId}.*agent 7`));
    const json = await turnlock('sessions', '--stranded', '--tenant', 'acme', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ sessionId, stranded: 'agent', agentVersion: 7 });
    const idle = await turnlock('sessions', '--stranded', '--tenant', 'acme', '--state', 'failed');
    expect(idle.stderr).toContain('No sessions.');
  });
});
