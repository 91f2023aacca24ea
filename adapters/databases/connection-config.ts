import pg, { type PoolConfig } from 'pg';
import { TurnlockError } from '../../errors.ts';

/**
 * A URL or options of node-postgres as options. Nothing is opened.
 *
 * @throws OPTIONS_INVALID, with `about` as what was not accepted, when node-postgres cannot read them. A URL never gets into the message.
 */
export function connectionConfig(source: string | PoolConfig, about: { name: string; wanted: string }): PoolConfig {
  const config = typeof source === 'string' ? { connectionString: source } : source;
  if (typeof config !== 'object' || config === null) throw refuseConnection(kindOf(config), about);
  const { connectionString } = config;
  if (connectionString !== undefined && !/^(?:postgres(?:ql)?|socket):\/?\/?|^\//.test(connectionString)) {
    throw refuseConnection('text that is no URL of PostgreSQL', about);
  }
  try {
    new pg.Client(config); // parses everything and opens nothing
  } catch {
    throw refuseConnection('options that node-postgres cannot read', about); // its error holds the URL with the password
  }
  return config;
}

/** The error of a `database` that is none, or of one of its options. */
export function refuseConnection(found: string, { name, wanted }: { name: string; wanted: string }): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `database not accepted: ${name} (found ${found}, wanted ${wanted})`,
  });
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}
