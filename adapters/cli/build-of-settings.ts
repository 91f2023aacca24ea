import type { Build } from '../../persistence/build.ts';
import { checkAgents } from '../../runtime/check-agents.ts';
import { buildOf } from '../../runtime/services.ts';
import type { Settings } from './read-settings.ts';

/** What the agents of the configuration can go on with; `undefined` where it has none. */
export function buildOfSettings({ agents = [] }: Pick<Settings, 'agents'>): Build | undefined {
  return agents.length === 0 ? undefined : buildOf(checkAgents(agents));
}
