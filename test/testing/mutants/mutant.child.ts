import { join } from 'node:path';
import { parentChannel } from '../../support/child-channel.ts';
import type { Mutant } from './mutants.ts';

/** What is to be played: a copy of the sources, and the check. */
export type Play = Pick<Mutant, 'tools' | 'options'> & { folder: string };

const { say, hear } = parentChannel();
for (;;) {
  const { folder, tools, options } = (await hear('play')) as unknown as Play;
  const { checkToolPolicy } = (await import(
    join(folder, 'testing/check-tool-policy.ts')
  )) as typeof import('../../../testing/check-tool-policy.ts');
  const { rightTools } = (await import(
    join(folder, 'test/testing/mutants/right-tools.ts')
  )) as typeof import('./right-tools.ts');
  const report = await checkToolPolicy({ ...rightTools(tools), ...options });
  await say('played', { report });
}
