import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll } from 'vitest';
import { pglite } from '../../../adapters/databases/pglite.ts';
import { createRuntime } from '../../../index.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { describeKills } from './kill-suite.ts';
import { workerAgent } from './worker-agent.ts';

let migrated: string;
beforeAll(async () => {
  migrated = await mkdtemp(join(tmpdir(), 'turnlock-kill-template-'));
  atTestEnd(() => rm(migrated, { recursive: true, force: true }));
  const agents = [workerAgent({ act: () => undefined, stopAt: async () => undefined })];
  await (await createRuntime({ database: pglite(join(migrated, 'data')), agents })).close();
});

describeKills(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'turnlock-kill-data-'));
  atTestEnd(() => rm(folder, { recursive: true, force: true }));
  const directory = join(folder, 'data');
  await cp(join(migrated, 'data'), directory, { recursive: true });
  return { location: { directory }, adapter: () => pglite(directory) };
});
