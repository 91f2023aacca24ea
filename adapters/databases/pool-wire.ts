import type { PoolClient, QueryArrayResult, QueryResult } from 'pg';
import type { ToolQuery, ToolQueryResult } from '../../persistence/database.contract.ts';
import { columnReader } from './read-column.ts';
import type { Wire, WireAnswer } from './wire.contract.ts';

const types = { getTypeParser: columnReader };

/** What node-postgres says when a query took longer than its `query_timeout`; it has no code for it. */
const NO_ANSWER = 'Query read timeout';

/** A connection out of a pool of node-postgres, also one of the user's with settings of its own. */
export class PoolWire implements Wire {
  readonly #client: PoolClient;
  readonly #answerTimeoutMs: () => number;
  #isSilent = false;
  #warned = false;
  /** Told by the code: the word for it is in the server's language. What is below a warning has the code of success. */
  readonly #onNotice = (notice: { code?: string | undefined }): void => {
    if (notice.code !== '00000') this.#warned = true;
  };

  /** An answer that does not come within `answerTimeoutMs` means that the connection is lost; 0: it may take as long as it takes. */
  constructor(client: PoolClient, answerTimeoutMs: () => number) {
    this.#client = client;
    this.#answerTimeoutMs = answerTimeoutMs;
    client.on('error', ignore); // the pool takes its own listener away while the client is out; the query under way fails by itself
    client.on('notice', this.#onNotice);
  }

  async send(sql: string, values?: readonly unknown[]): Promise<WireAnswer> {
    this.#warned = false;
    const query = {
      text: sql,
      types,
      query_timeout: this.#answerTimeoutMs(),
      ...(values?.length ? { values: [...values] } : {}),
    };
    const asked = this.#client.query(query as never) as unknown as Promise<Answer | Answer[]>;
    const answer = await asked.catch((error: unknown) => {
      this.#isSilent ||= error instanceof Error && error.message === NO_ANSWER;
      throw error;
    });
    const last = Array.isArray(answer) ? answer.at(-1)! : answer;
    return { rows: last.rows, command: last.command, rowCount: last.rowCount, warned: this.#warned };
  }

  async query({ text, values = [], rowMode, types: given }: ToolQuery): Promise<ToolQueryResult> {
    const query = {
      text,
      values: [...values],
      queryMode: 'extended', // a text holds one statement: none can hide behind another
      query_timeout: this.#answerTimeoutMs(),
      ...(rowMode === undefined ? {} : { rowMode }),
      ...(given === undefined ? {} : { types: given }),
    };
    const asked = this.#client.query(query as never) as unknown as Promise<ToolQueryResult>;
    const answer = await asked.catch((error: unknown) => {
      this.#isSilent ||= error instanceof Error && error.message === NO_ANSWER;
      throw error;
    });
    const { rows, rowCount, command, oid, fields } = answer;
    return { rows, rowCount, command, oid, fields };
  }

  /** Whether an answer did not come in time. */
  get isSilent(): boolean {
    return this.#isSilent;
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
