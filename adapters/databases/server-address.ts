import pg, { type PoolConfig } from 'pg';

/** `host:port/database` as node-postgres resolves it from options, URL and its environment variables. No user, no password. */
export function serverAddress(config: PoolConfig): string {
  const { host, port, database } = new pg.Client(config);
  return `${host}:${port}/${database}`;
}
