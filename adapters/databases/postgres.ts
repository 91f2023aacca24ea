import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { ClientConfig } from 'pg';
import type {
  ConnectOptions,
  Database,
  DatabaseAdapter,
  DatabaseWarning,
} from '../../persistence/database.contract.ts';
import { Listener } from './listener.ts';
import { migrationSet } from './migration-set.ts';
import { openOrm } from './open-orm.ts';
import { PoolSource } from './pool-source.ts';
import { choosePool, isOrm, type PostgresSource } from './postgres-pool.ts';
import { checkServerVersion, readServerFacts, warningsOf } from './server-facts.ts';
import { toolTransaction } from './tool-transaction.ts';

export type { PostgresSource } from './postgres-pool.ts';

const SCHEMA = 'turnlock';

/** What `postgres` takes beside its source. */
export interface PostgresOptions {
  /**
   * A URL or options of node-postgres by which workers hear of new work at once, over one more connection that is open while they run. It
   * must lead to the server itself: PgBouncer in transaction mode lets no notification through. Default: none, and workers find work by
   * looking every `limits.sweepMs`, as they also do while that connection is broken.
   */
  listen?: string | ClientConfig;
}

/**
 * A PostgreSQL server, 15 or newer, reached by a URL, by options of node-postgres, or through a pool or MikroORM that the program has.
 *
 * What was handed in is never closed, and keeps its settings and parsers: transactions of ours set theirs for themselves and use no state
 * of the session, so PgBouncer in transaction mode and a pool of one connection are enough. Nothing is opened before `connect`.
 *
 * @throws OPTIONS_INVALID, when connecting, for a source that is none of these, or a `listen` that cannot be read.
 * @example
 * const runtime = await createRuntime({ database: postgres(process.env.DATABASE_URL!), agents: [support] });
 */
export function postgres(source: PostgresSource, options: PostgresOptions = {}): DatabaseAdapter {
  return { kind: 'postgres', connect: (how) => connect(source, options?.listen, how) };
}

async function connect(
  given: PostgresSource,
  listen: PostgresOptions['listen'],
  options: ConnectOptions,
): Promise<Database> {
  const { environment, limits } = options;
  const wakeUps = listen === undefined ? null : new Listener({ source: listen, channel: SCHEMA, ...options });
  const { pool, isOwn } = await choosePool(given, limits.connectTimeoutMs);
  const source = new PoolSource({ pool, isOwn, environment, limits });
  const orm = await openOrm({ source, environment, schema: SCHEMA });
  async function close(): Promise<void> {
    await orm.close();
    await source.close(); // MikroORM does not reach it when nothing was ever sent
  }
  try {
    const reviewSetup = await firstReview(orm, options);
    return {
      kind: 'postgres',
      orm,
      schema: SCHEMA,
      runtimeRole: null,
      singleConnection: false,
      tookOverDeadHolder: false,
      migrations: migrationSet(SCHEMA),
      wakeUps,
      reviewSetup,
      unhurried: (work) => source.unhurried(work),
      toolTransaction: (em) => toolTransaction(em, isOrm(given) ? (given.em as EntityManager) : em),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Proves that the server answers and is new enough, warns, and returns what looks again. */
async function firstReview(orm: MikroORM, { onWarning }: ConnectOptions): Promise<Database['reviewSetup']> {
  const told = new Set<DatabaseWarning['code']>();
  async function review(): Promise<readonly DatabaseWarning[]> {
    const facts = await readServerFacts(orm, SCHEMA);
    checkServerVersion(facts);
    const warnings = warningsOf(facts);
    for (const warning of warnings) {
      if (!told.has(warning.code)) onWarning?.(warning);
      told.add(warning.code);
    }
    return warnings;
  }
  await review();
  return review;
}
