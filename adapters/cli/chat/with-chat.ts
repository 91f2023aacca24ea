import { systemEnvironment } from '../../../environment.ts';
import { resolveLimits } from '../../../limits.ts';
import type { Store } from '../../../persistence/session-transaction.ts';
import { createRuntime, type Runtime } from '../../../runtime/create-runtime.ts';
import { readSettings } from '../read-settings.ts';
import { shareDatabase } from '../shared-database.ts';
import type { Terminal } from '../terminal.ts';
import { warnOn } from '../with-runtime.ts';
import { CHAT_FOLDER, type ChatOptions } from './chat-options.ts';
import { type ChosenAgent, chooseAgent } from './choose-agent.ts';

/** A runtime with the agent to talk to, and a look into its tables. */
export interface OpenChat {
  readonly chosen: ChosenAgent;
  readonly runtime: Runtime;
  readonly store: Store;
  /** The database in words, without secrets. */
  readonly place: string;
  /** The options with the database that was chosen, for commands that are shown. */
  readonly given: ChatOptions;
}

/** Finds agent and database, starts what the agent needs, opens the runtime, runs `work`, and closes it all. */
export async function withChat<Result>(
  options: ChatOptions,
  terminal: Terminal,
  work: (open: OpenChat) => Promise<Result>,
): Promise<Result> {
  const { place, ...settings } = await readSettings(options, { agents: true, mustExist: false, fallback: CHAT_FOLDER });
  const isServer = settings.database.kind === 'postgres';
  const folder = ((isServer ? undefined : place) ?? CHAT_FOLDER).replace(/\/+$/, '');
  await using chosen = await chooseAgent(options, settings, `${folder}-payments.jsonl`);
  await using shared = shareDatabase(settings.database);
  const environment = settings.environment ?? systemEnvironment;
  const limits = resolveLimits({ ...settings.limits, ...chosen.limits });
  await using runtime = await createRuntime({
    onWarning: warnOn(terminal),
    ...settings,
    database: shared.adapter,
    agents: [chosen.agent],
    limits,
  });
  const database = await shared.adapter.connect({ environment, limits });
  return await work({
    chosen,
    runtime,
    store: { database, environment, limits },
    place: isServer ? 'a PostgreSQL server' : (place ?? 'the database of the configuration'),
    given: place === undefined ? options : { ...options, database: place },
  });
}
