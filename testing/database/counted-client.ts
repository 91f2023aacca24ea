import type pg from 'pg';
import type { PoolConfig } from 'pg';
import { TidyClient } from '../../adapters/databases/tidy-client.ts';
import type { SeenTransaction } from '../invariants/writers.ts';
import type { Traffic } from './traffic.ts';

type Connect = (callback?: (error: Error | null) => void) => unknown;
type Query = (...given: unknown[]) => unknown;

/** What node-postgres has and its types do not tell. */
interface Inside {
  processID: number | null;
  connection: { stream: { destroy(): void } };
  connectionParameters: { database: string };
}

/** What the clients of a pool tell. */
export interface Told {
  traffic: Traffic;
  /** The transaction of the one that was answered last; `null`: it had none open. */
  answered: SeenTransaction | null;
}

/** The class of a pool's clients: each connects to `database`, whatever the URL names, and tells what it has under way. */
export function countedClient(database: string, told: Told): NonNullable<PoolConfig['Client']> {
  const { traffic } = told;
  class CountedClient extends TidyClient {
    #transaction: SeenTransaction | null = null;

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
        this.#follow(textOf(given[0]));
        const answer = query(...given);
        if (!(answer instanceof Promise)) return answer;
        traffic.during({ backend: backendOf(this) }, answer);
        const tell = (): void => {
          told.answered = this.#transaction;
        };
        answer.then(tell, tell);
        return answer;
      }) as pg.Client['query'];
      const end = this.end as End;
      this.end = ((callback) => {
        this.#lose();
        return end(callback);
      }) as End as pg.Client['end'];
      this.on('end', () => this.#lose());
      losing.set(this, () => this.#lose());
    }

    /** A transaction is over once its end is sent: what the server lets others do then comes after it. */
    #follow(text: string): void {
      if (END.test(text)) this.#lose();
      if (BEGIN.test(text)) this.#transaction = { isOver: false };
    }

    #lose(): void {
      if (this.#transaction !== null) this.#transaction.isOver = true;
      this.#transaction = null;
    }
  }
  return CountedClient as unknown as NonNullable<PoolConfig['Client']>;
}

type End = (callback?: () => void) => unknown;

/** What is to be noted where a connection breaks. */
const losing = new WeakMap<pg.ClientBase, () => void>();

const BEGIN = /^begin\b/;
const END = /^(?:commit|rollback)$/;

function textOf(query: unknown): string {
  return typeof query === 'string' ? query : ((query as { text?: string }).text ?? '');
}

/** The number of the server's process at the other end; `null` before the login. */
export function backendOf(client: pg.ClientBase): number | null {
  return insideOf(client).processID;
}

/** The connection breaks, as it does when the process dies that has it. */
export function breakConnection(client: pg.ClientBase): void {
  losing.get(client)?.();
  insideOf(client).connection.stream.destroy();
}

function insideOf(client: pg.ClientBase): Inside {
  return client as unknown as Inside;
}
