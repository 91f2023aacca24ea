import type { MikroORM } from '@mikro-orm/postgresql';
import pg, { type Pool, type PoolConfig } from 'pg';
import { connectionConfig, refuseConnection } from './connection-config.ts';
import { TidyClient } from './tidy-client.ts';

/** A URL, options of node-postgres, or a pool or MikroORM that the program has already. */
export type PostgresSource = string | PoolConfig | Pool | Pick<MikroORM, 'em'>;

const ABOUT = { name: 'postgres()', wanted: 'a URL, options, a pg.Pool or a MikroORM' };

/** A pool, and whether it ends with the database. */
export interface ChosenPool {
  pool: Pool;
  isOwn: boolean;
}

/**
 * The pool of `source`: the given one, or a new one that has opened nothing yet.
 *
 * @throws OPTIONS_INVALID when `source` is none of {@link PostgresSource}. A URL never gets into the message.
 */
export async function choosePool(source: PostgresSource, connectTimeoutMs: number): Promise<ChosenPool> {
  if (isPool(source)) return { pool: source, isOwn: false };
  if (isOrm(source)) return { pool: await poolOf(source), isOwn: false };
  return { pool: makePool(source, connectTimeoutMs), isOwn: true };
}

function makePool(source: string | PoolConfig, connectTimeoutMs: number): Pool {
  return new pg.Pool({
    application_name: 'turnlock',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000, // the system's own is two hours
    connectionTimeoutMillis: connectTimeoutMs,
    Client: TidyClient as unknown as NonNullable<PoolConfig['Client']>, // the types leave its parameter out
    ...connectionConfig(source, ABOUT),
  });
}

async function poolOf(orm: Pick<MikroORM, 'em'>): Promise<Pool> {
  const connection = orm.em.getConnection() as { getNativeClient?: () => Promise<unknown> };
  const client = await connection.getNativeClient?.().catch(() => undefined);
  if (isPool(client)) return client;
  throw refuseConnection('a MikroORM without a pool of node-postgres', ABOUT);
}

function isPool(source: unknown): source is Pool {
  return isObject(source) && typeof source.connect === 'function' && 'totalCount' in source;
}

/** Whether `source` is a MikroORM of the program's. */
export function isOrm(source: unknown): source is Pick<MikroORM, 'em'> {
  return isObject(source) && isObject(source.em) && typeof source.em.getConnection === 'function';
}

function isObject(source: unknown): source is Record<string, unknown> {
  return typeof source === 'object' && source !== null;
}
