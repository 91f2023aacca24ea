import { availableParallelism, cpus, loadavg } from 'node:os';
import type pg from 'pg';

/** Where and when something was measured: no number means anything without it. */
export interface Machine {
  date: string;
  cpu: string;
  cores: number;
  /** How many processes wanted a core when the measuring began: above `cores`, times are noise. */
  load: number;
  node: string;
  server: string;
}

/** This machine, now, with the server that the connection leads to. */
export async function describeMachine(owner: pg.Client): Promise<Machine> {
  const { rows } = await owner.query(
    `SELECT format('PostgreSQL %s (fsync %s)', split_part(current_setting('server_version'), ' ', 1),
                   current_setting('fsync')) AS server`,
  );
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: cpus()[0]?.model.trim() ?? 'unknown CPU',
    cores: availableParallelism(),
    load: Number(loadavg()[0]?.toFixed(1)),
    node: process.versions.node,
    server: rows[0].server,
  };
}
