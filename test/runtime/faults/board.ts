import pg from 'pg';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { createRuntime } from '../../../index.ts';
import type { Limits } from '../../../limits.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';
import { terminateBackends } from '../../support/terminate-backends.ts';
import { agentsOf, MAKE_SHOP } from './agents.ts';
import { Outside, stageOf } from './outside.ts';
import { type Board, HEARTBEAT_MS } from './play-cell.ts';
import { SimulatedProcesses } from './simulated-process.ts';

const LIMITS: Partial<Limits> = { graceMs: 0, modelBackoffMs: 0, reconcileBackoffMs: 0, maxRecoveries: 1_000 };

/** A lease that no jump of a clock ends. */
const MORTAL: Partial<Limits> = { leaseMs: 36_000_000, heartbeatMs: HEARTBEAT_MS };

/** Opens two runtimes on the database and runs `work`; meanwhile the second one goes on with whatever is owed. */
export async function onBoard(
  database: RuntimeDatabase,
  connections: number,
  work: (board: Board) => Promise<void>,
): Promise<void> {
  await database.query(MAKE_SHOP);
  const processes = new SimulatedProcesses();
  const outsides = new Map<string, Outside>();
  const agents = agentsOf(stageOf(outsides, processes));
  const common = { agents, migrate: 'check', onWarning: () => undefined } as const;
  // It is never closed: what died in it never ends.
  const pool = new pg.Pool({ connectionString: database.url, max: connections, application_name: 'mortal' });
  const limits = { ...LIMITS, ...MORTAL };
  const mortal = await createRuntime({ ...common, database: postgres(pool), environment: processes, limits });
  await using healing = await createRuntime({ ...common, database: postgres(database.url), limits: LIMITS });
  let isOver = false;
  const sweeping = (async () => {
    while (!isOver) {
      await healing.recover();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  const open = (name: string) => {
    const outside = new Outside();
    outsides.set(name, outside);
    return outside;
  };
  try {
    await work({ database, processes, mortal, healing, open });
  } finally {
    isOver = true;
    await sweeping;
    await terminateBackends(database, 'mortal');
  }
}
