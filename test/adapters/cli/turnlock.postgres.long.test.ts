import { expect, test } from 'vitest';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { createRuntime } from '../../../index.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { withClient } from '../../support/with-client.ts';
import { runTurnlock } from './run-turnlock.ts';
import { supportAgent } from './support-agent.ts';

const errorOf = ({ code, stderr }: { code: number | null; stderr: string }) => [code, JSON.parse(stderr).error.code];

test('an empty database is checked, migrated from the script, and found up to date', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  const folder = await temporaryFolder('turnlock-cli-');
  const turnlock = (...args: string[]) =>
    runTurnlock(folder, ['migrate', '--json', ...args], { TURNLOCK_DATABASE_URL: url });
  expect(errorOf(await turnlock('--check'))).toEqual([3, 'SCHEMA_MISSING']);
  const { sql } = JSON.parse((await turnlock('--sql')).stdout) as { sql: string };
  await withClient(url, (client) => client.query(sql));
  expect(await turnlock('--check')).toMatchObject({ code: 0, stderr: '' });
  expect(errorOf(await turnlock('--grant-to', 'nobody'))).toEqual([2, 'OPTIONS_INVALID']);
});

test('who may look across tenants needs no --tenant, others are told what to do', async () => {
  const { url, name } = await freshDatabase();
  const folder = await temporaryFolder('turnlock-cli-');
  const runtime = await createRuntime({
    database: postgres(url),
    agents: [supportAgent()],
    onWarning: () => undefined,
  });
  const { sessionId } = await runtime.createSession({ agent: 'support', tenantId: 'acme', userId: 'ann' });
  await runtime.close();

  const found = await runTurnlock(folder, ['show', sessionId, '--json', '--database', url]);
  expect(found.code, found.stderr).toBe(0);
  expect(JSON.parse(found.stdout).session).toMatchObject({ tenantId: 'acme', state: 'IDLE', version: 0 });
  await withClient(url, async (client) => {
    const { rows } = await client.query('select function_name, criteria from turnlock.agent_operator_reads');
    expect(rows).toEqual([{ function_name: 'find_sessions', criteria: { sessionId, foundIn: ['acme'] } }]);
  });
  expect(errorOf(await runTurnlock(folder, ['sessions', '--json', '--database', url]))).toEqual([2, 'OPTIONS_INVALID']);

  const role = `${name}_user`;
  await withClient(url, (client) => client.query(`create role "${role}" login password 'x'`));
  try {
    const granted = await runTurnlock(folder, ['migrate', '--grant-to', role, '--database', url]);
    expect(granted.code, granted.stderr).toBe(0);
    expect(granted.stderr).not.toContain('RLS_BYPASSED'); // who migrates owns the tables
    const theirs = Object.assign(new URL(url), { username: role, password: 'x' }).href;
    const refused = await runTurnlock(folder, ['show', sessionId, '--json', '--database', theirs]);
    expect(errorOf(refused)).toEqual([3, 'PRIVILEGE_MISSING']);
    const named = await runTurnlock(folder, ['show', sessionId, '--tenant', 'acme', '--database', theirs]);
    expect(named.code, named.stderr).toBe(0);
  } finally {
    await withClient(url, (client) => client.query(`drop owned by "${role}"; drop role "${role}"`));
  }
});
