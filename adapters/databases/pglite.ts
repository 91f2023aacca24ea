import type { ConnectOptions, Database, DatabaseAdapter } from '../../persistence/database.contract.ts';
import { migrationSet } from './migration-set.ts';
import { openOrm } from './open-orm.ts';
import { loadPglite, openPglite } from './open-pglite.ts';
import { type PgliteOptions, pgliteOptions } from './pglite-options.ts';
import { PgliteSource } from './pglite-source.ts';
import { pgliteWakeUps } from './pglite-wake-ups.ts';
import { readServerFacts } from './server-facts.ts';

export type { PgliteOptions } from './pglite-options.ts';

import { toolTransaction } from './tool-transaction.ts';

const SCHEMA = 'turnlock';

/**
 * PostgreSQL inside this process: no server to install. The rows live in a directory, or in memory when none is named.
 *
 * One process has the directory at a time; a second one is refused, and one that died is replaced at once. Acknowledged commits survive
 * the death of the process, not a loss of power: nothing is forced to the disk. All transactions take turns on one connection.
 *
 * @throws OPTIONS_INVALID for options that exclude each other or a place that is no path.
 * @example
 * const runtime = await createRuntime({ database: pglite('.turnlock'), agents: [support] });
 */
export function pglite(given?: string | PgliteOptions): DatabaseAdapter {
  const options = pgliteOptions(given);
  return { kind: 'pglite', connect: (how) => connect(options, how) };
}

async function connect(options: PgliteOptions, { environment }: ConnectOptions): Promise<Database> {
  const loaded = await loadPglite();
  const { pglite, tookOverDeadHolder, end } = await openPglite(loaded, options, () => environment.uuid());
  const source = new PgliteSource(pglite, loaded.protocol, end);
  try {
    const orm = await openOrm({ source, environment, schema: SCHEMA });
    await readServerFacts(orm, SCHEMA);
    return {
      kind: 'pglite',
      orm,
      schema: SCHEMA,
      runtimeRole: 'turnlock_runtime',
      singleConnection: true,
      tookOverDeadHolder,
      migrations: migrationSet(SCHEMA),
      wakeUps: pgliteWakeUps(pglite, SCHEMA),
      reviewSetup: async () => [],
      unhurried: (work) => work(),
      toolTransaction: (em) => toolTransaction(em, em),
      async close() {
        await orm.close();
        await source.close();
      },
    };
  } catch (error) {
    await source.close();
    throw error;
  }
}
