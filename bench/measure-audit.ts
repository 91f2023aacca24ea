import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import pg from 'pg';
import { type Environment, systemEnvironment } from '../environment.ts';
import { exportAudit } from '../persistence/audit/export-audit.ts';
import { replaySession, verifySession } from '../persistence/audit/verify-session.ts';
import { forkSession } from '../persistence/fork/fork-session.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import type { Store } from '../persistence/session-transaction.ts';
import type { AuditOptions } from './audit-options.ts';
import { openStore } from './bench-store.ts';
import { seedSession } from './seed-session.ts';
import { median } from './statistics.ts';

/** What one thing costs in one session. */
export interface AuditCost {
  /** Milliseconds, the middle one of the samples. */
  ms: number;
  statements: number;
  /** Bytes on the heap that are held at most while it runs, beyond those before it. */
  held: number;
}

/** Of one session. */
export interface SessionCost {
  transitions: number;
  findings: number;
  verify: AuditCost;
  replay: AuditCost;
  export: AuditCost;
  fork: AuditCost;
}

/** Measures a short and a long session, in this process, which must have been started with `--expose-gc`. */
export async function measureAudit(
  owner: pg.Client,
  url: string,
  options: AuditOptions,
): Promise<{ short: SessionCost; long: SessionCost }> {
  const [short, long] = [await seed(owner, options.short), await seed(owner, options.long)];
  await owner.query('ANALYZE');
  return withStore(url, systemEnvironment, async (store) => {
    const measuring = { store, url, samples: options.samples };
    await sessionCost({ ...measuring, samples: 1 }, short); // what is loaded and made once is no cost
    return { short: await sessionCost(measuring, short), long: await sessionCost(measuring, long) };
  });
}

interface Measuring {
  store: Store;
  url: string;
  samples: number;
}

/** A store on one connection of its own. */
async function withStore<Result>(
  url: string,
  environment: Environment,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const pool = new pg.Pool({ connectionString: url, max: 1, application_name: 'turnlock-bench' });
  try {
    return await work(await openStore(pool, environment));
  } finally {
    await pool.end();
  }
}

function seed(owner: pg.Client, runs: number): Promise<SessionKey> {
  return seedSession(owner, { tenantId: 'bench', agentName: 'bench', runs });
}

async function sessionCost(measuring: Measuring, key: SessionKey): Promise<SessionCost> {
  const { transitions, findings } = await verifySession(measuring.store, key);
  return {
    transitions,
    findings: findings.length,
    verify: await costOf(measuring, (used) => verifySession(used, key)),
    replay: await costOf(measuring, (used) => replaySession(used, key)),
    export: await costOf(measuring, async (used) => {
      for await (const _row of exportAudit(used, key, transitions));
    }),
    fork: await costOf(measuring, (used) =>
      forkSession(used, {
        origin: key,
        sessionId: randomUUID(),
        atTurn: null,
        externalId: null,
        metadata: null,
        by: 'bench',
      }),
    ),
  };
}

/** Statements between two looks at the heap: each look collects all garbage, which takes time of its own. */
const LOOK_EVERY = 10;

async function costOf(
  { store, url, samples }: Measuring,
  work: (store: Store) => Promise<unknown>,
): Promise<AuditCost> {
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const startedAt = performance.now();
    await work(store);
    times.push(performance.now() - startedAt);
  }
  let statements = 0;
  let most = 0;
  const before = await heapInUse();
  const faultPoint = async (_point: string, { statement }: { statement?: string }): Promise<void> => {
    if (statement === undefined) return;
    statements += 1;
    if (statements % LOOK_EVERY === 0) most = Math.max(most, await heapInUse());
  };
  await withStore(url, { ...systemEnvironment, faultPoint }, work);
  return { ms: median(times), statements, held: Math.max(0, most - before) };
}

async function heapInUse(): Promise<number> {
  await turn();
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().heapUsed;
}
