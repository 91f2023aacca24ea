import type { PoolClient, QueryArrayResult, QueryResult } from 'pg';
import { columnReader } from './read-column.ts';
import type { Wire, WireAnswer } from './wire.contract.ts';

const types = { getTypeParser: columnReader };

/** A connection out of a pool of node-postgres, also one of the user's with settings of its own. */
export class PoolWire implements Wire {
  readonly #client: PoolClient;
  #warned = false;
  readonly #onNotice = (notice: { severity?: string | undefined }): void => {
    if (notice.severity === 'WARNING') this.#warned = true;
  };

  constructor(client: PoolClient) {
    this.#client = client;
    client.on('error', ignore); // the pool takes its own listener away while the client is out; the query under way fails by itself
    client.on('notice', this.#onNotice);
  }

  async send(sql: string, values?: readonly unknown[]): Promise<WireAnswer> {
    this.#warned = false;
    const query = { text: sql, types, ...(values?.length ? { values: [...values] } : {}) };
    const answer = (await this.#client.query(query as never)) as Answer | Answer[];
    const last = Array.isArray(answer) ? answer.at(-1)! : answer;
    return { rows: last.rows, command: last.command, rowCount: last.rowCount, warned: this.#warned };
  }

  /** Gives the connection back, or has the pool destroy it. A COMMIT under way is not cancelled: the server carries it out. */
  release({ isBroken }: { isBroken: boolean }): void {
    this.#client.removeListener('notice', this.#onNotice);
    this.#client.removeListener('error', ignore);
    this.#client.release(isBroken);
  }
}

type Answer = Pick<QueryResult | QueryArrayResult, 'command' | 'rowCount'> & { rows: Record<string, unknown>[] };

function ignore(): void {}
