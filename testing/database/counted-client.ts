import type pg from 'pg';
import type { PoolConfig } from 'pg';
import { TidyClient } from '../../adapters/databases/tidy-client.ts';
import type { Traffic } from './traffic.ts';

type Connect = (callback?: (error: Error | null) => void) => unknown;
type Query = (...given: unknown[]) => unknown;

/** What node-postgres has and its types do not tell. */
interface Inside {
  processID: number | null;
  connection: { stream: { destroy(): void } };
  connectionParameters: { database: string };
}

/** The class of a pool's clients: each connects to `database`, whatever the URL names, and `traffic` counts what it has under way. */
export function countedClient(database: string, traffic: Traffic): NonNullable<PoolConfig['Client']> {
  class CountedClient extends TidyClient {
    constructor(config?: PoolConfig) {
      super(config);
      this.database = database;
      insideOf(this).connectionParameters.database = database;
      const connect = this.connect as Connect;
      const query = this.query.bind(this) as Query;
      this.connect = ((callback) => {
        const end = traffic.begin({ backend: null });
        return connect((error) => {
          end();
          callback?.(error);
        });
      }) as Connect as pg.Client['connect'];
      this.query = ((...given: unknown[]) => {
        const answer = query(...given);
        if (answer instanceof Promise) traffic.during({ backend: backendOf(this) }, answer);
        return answer;
      }) as pg.Client['query'];
    }
  }
  return CountedClient as unknown as NonNullable<PoolConfig['Client']>;
}

/** The number of the server's process at the other end; `null` before the login. */
export function backendOf(client: pg.ClientBase): number | null {
  return insideOf(client).processID;
}

/** The connection breaks, as it does when the process dies that has it. */
export function breakConnection(client: pg.ClientBase): void {
  insideOf(client).connection.stream.destroy();
}

function insideOf(client: pg.ClientBase): Inside {
  return client as unknown as Inside;
}
