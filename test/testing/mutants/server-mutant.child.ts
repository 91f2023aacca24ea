import { join } from 'node:path';
import { parentChannel } from '../../support/child-channel.ts';
import type { ServerMutant } from './server-mutants.ts';

/** What is to be played: a copy of the sources, a server, and the plans. */
export interface ServerPlay extends Pick<ServerMutant, 'replays' | 'schema'> {
  folder: string;
  url: string;
}

const { say, hear } = parentChannel();
for (;;) {
  const { folder, url, replays, schema = [] } = (await hear('play')) as unknown as ServerPlay;
  const { checkToolPolicy } = (await import(
    join(folder, 'testing/check-tool-policy.ts')
  )) as typeof import('../../../testing/check-tool-policy.ts');
  const { refundCheck } = (await import(join(folder, 'test/testing/scene.ts'))) as typeof import('../scene.ts');
  let broken: string | null = null;
  for (const replay of replays) {
    const { failure } = await checkToolPolicy({
      ...refundCheck(true),
      sessions: { tenants: 1, users: 1 },
      database: { url },
      prepare: async (query) => {
        for (const statement of schema) await query(statement);
      },
      replay,
    });
    broken = failure?.invariant ?? null;
    if (broken !== null) break;
  }
  await say('played', { broken });
}
