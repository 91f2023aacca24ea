import type { ToolQuery, ToolQueryResult } from '../../persistence/database.contract.ts';

/** One connection as a transaction sees it: statements as text go in, answers come out. */
export interface Wire {
  /**
   * Sends one text, which may hold several statements, and resolves with the answer to the last. It is on its way when this returns.
   *
   * @throws the database's own error, with its SQLSTATE in `code`; an error without one when the connection is lost.
   */
  send(sql: string, values?: readonly unknown[]): Promise<WireAnswer>;
  /** Sends one statement by the extended protocol, and reads its answer as node-postgres does unless told otherwise. */
  query(query: ToolQuery): Promise<ToolQueryResult>;
}

/** What the database answered. */
export interface WireAnswer {
  readonly rows: Record<string, unknown>[];
  /** First word of the command tag: `SELECT`, `COMMIT`, `ROLLBACK`. */
  readonly command: string;
  /** Rows that the command touched; `null` where it counts none. */
  readonly rowCount: number | null;
  /** Whether a WARNING came before the answer. */
  readonly warned: boolean;
}

/** A connection that belongs to its borrower until it is given back. */
export interface LentConnection {
  readonly wire: Wire;
  /** Called once. A broken connection must not be used by anybody again. */
  giveBack(state: { isBroken: boolean }): void;
}

/** Lends connections, one borrower each. */
export interface ConnectionSource {
  /** @throws DATABASE_UNREACHABLE, DATABASE_LOGIN_REFUSED when none can be had within the bound. */
  borrow(): Promise<LentConnection>;
  /** Closes what the source opened itself. Repeating it does nothing. */
  close(): Promise<void>;
}
