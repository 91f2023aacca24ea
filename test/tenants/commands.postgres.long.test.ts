import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { allCommands } from '../../adapters/cli/all-commands.ts';
import { runTurnlock } from '../adapters/cli/run-turnlock.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime } from '../support/runtime-open.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { withRole } from './as-least-privileged.ts';
import { withoutIds } from './outcome-of.ts';
import { rowsOf } from './tenant-rows.ts';
import { fillTenant, type Ids, madeUpIds, tenantAgent } from './tenant-world.ts';

const BY = ['--by', 'own'];

/** For each command that takes a tenant: what somebody types who may act for one tenant and knows ids of another. */
const PROBES: Readonly<Record<string, (ids: Ids, tenant: string) => string[]>> = {
  sessions: (_, tenant) => ['--tenant', tenant],
  show: ({ sessionId }, tenant) => [sessionId, '--tenant', tenant],
  find: ({ externalId }, tenant) => ['--tenant', tenant, '--external-id', externalId],
  replay: ({ sessionId }, tenant) => [sessionId, '--tenant', tenant],
  explain: ({ sessionId }, tenant) => [sessionId, '--tenant', tenant],
  fork: ({ sessionId }, tenant) => [sessionId, '--tenant', tenant, ...BY],
  release: ({ sessionId }, tenant) => [sessionId, '--tenant', tenant, ...BY],
  awaiting: ({ userId }, tenant) => ['--tenant', tenant, '--user', userId],
  approve: ({ executionId, sessionId, digest }, tenant) => [
    executionId,
    '--session',
    sessionId,
    '--tenant',
    tenant,
    '--digest',
    digest,
    ...BY,
  ],
  deny: ({ executionId, sessionId }, tenant) => [
    executionId,
    '--session',
    sessionId,
    '--tenant',
    tenant,
    '--reason',
    'no',
    ...BY,
  ],
  settle: ({ unknownExecutionId, sessionId }, tenant) => [
    unknownExecutionId,
    '--session',
    sessionId,
    '--failed',
    'no',
    '--tenant',
    tenant,
    ...BY,
  ],
  retry: ({ sessionId }, tenant) => [sessionId, '--tenant', tenant, ...BY],
  erase: ({ userId }, tenant) => ['--tenant', tenant, '--user', userId, '--cancel-runs', ...BY],
  memory: ({ userId }, tenant) => ['recall', 'known of', '--tenant', tenant, '--user', userId],
  retain: (_, tenant) => ['--tenant', tenant, '--state', 'IDLE', '--older-than', '0s', '--dry-run'],
};

/** Commands that concern the host or everybody, or talk with a person at a terminal. */
const OTHERS: Readonly<Record<string, string>> = {
  migrate: 'the schema',
  preflight: 'for operators, who see every tenant’s',
  doctor: 'the same',
  heads: 'the same',
  recover: 'what is owed, whoever it belongs to',
  worker: 'the same',
  freeze: 'for operators, who see every tenant’s',
  unfreeze: 'the same',
  budget: 'the same',
  controls: 'the same',
  chat: 'opens a session by its external id, as `createSession` does',
  inspect: 'serves pages: of the tenant that it is given, else as an operator, as the tests of the inspector try it',
  demo: 'a database of its own',
  rehearse: 'a database of its own',
};

onPostgres((database) => {
  const asRole = withRole(database);

  test('C66 every command is tried, or takes nothing of a tenant (a new one needs its entry here)', () => {
    const names = allCommands().map((command) => command.name());
    expect(names.sort()).toEqual([...Object.keys(PROBES), ...Object.keys(OTHERS)].sort());
  });

  const [a, b] = ['user/1', 'user/12'];
  let ids: Ids;
  let folder: string;
  beforeAll(async () => {
    const agent = tenantAgent();
    const runtime = await openRuntime(database(), [agent], { limits: { maxModelAttempts: 1 } });
    ids = await fillTenant(runtime, agent, a, 'secret');
    await fillTenant(runtime, agent, b, 'own');
    folder = await temporaryFolder('turnlock-tenants-');
    const agents = JSON.stringify(resolve('test/tenants/tenant-world.ts'));
    const config = `import { tenantAgent } from ${agents};\nexport default { agents: [tenantAgent()] };\n`;
    await writeFile(join(folder, 'turnlock.config.ts'), config);
  });

  test.each(Object.keys(PROBES))(
    'C66 turnlock %s as the least-privileged role: what is another tenant’s is answered like what is not',
    async (name) => {
      const before = await rowsOf(database(), a);
      const ends = [ids, madeUpIds()].map(async (those) => {
        const args = [name, ...PROBES[name]!(those, b), '--json'];
        const end = await runTurnlock(folder, args, { TURNLOCK_DATABASE_URL: asRole().url });
        return withoutIds(those, end);
      });
      const [anothers, nobodys] = await Promise.all(ends);
      expect(anothers).toBe(nobodys);
      expect(anothers).not.toContain('secret');
      expect(anothers).not.toContain('OPTIONS_INVALID');
      expect(await rowsOf(database(), a)).toBe(before);
    },
  );
});
