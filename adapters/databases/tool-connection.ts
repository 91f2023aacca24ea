import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { TurnlockError } from '../../errors.ts';
import type { ToolQuery, ToolQueryResult } from '../../persistence/database.contract.ts';
import { columnReader } from './read-column.ts';
import type { TransactionConnection } from './transaction-connection.ts';

const types = { getTypeParser: columnReader };

/** Commands whose tag counts rows changed, not rows read. */
const CHANGES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/**
 * Statements that would end or leave the commit's transaction, or outlive it. Savepoints of the tool's own are its own affair. As each
 * statement goes by the extended protocol, a text holds only one.
 */
const REFUSED =
  /^(?:begin|start|commit|end|abort|rollback(?!\s+(?:work\s+|transaction\s+)?to\b)|prepare\s+transaction|set(?!\s+(?:local|constraints)\b)|set\s+local\s+transaction|reset|discard|listen|unlisten|copy)\b/i;

/**
 * What stays with a connection when its transaction is over: settings, locks of the session, prepared statements, temporary tables, cursors.
 * Who comes next must not meet it. A function can hide such a statement; nothing of the runtime's own depends on it.
 */
const STAYS = /\bset_config\b|\bpg_(?:try_)?advisory_lock|^\s*prepare\b|\btemp(?:orary)?\b|\bwith\s+hold\b/i;

/** A setting that is set for the transaction alone: the usual way to name a tenant. */
const SET_LOCALLY = /\bset_config\s*\([^()]*,\s*(?:true|'t'|'true')\s*\)/gi;

/**
 * The connection of a commit's transaction as a transactional tool has it: one statement at a time of any kind, but none that ends the
 * transaction, and none once the tool has returned.
 */
export class ToolConnection implements DatabaseConnection {
  readonly #inner: TransactionConnection;
  readonly #pending = new Set<Promise<unknown>>();
  #isOver = false;
  #firstError: unknown;

  constructor(inner: TransactionConnection) {
    this.#inner = inner;
  }

  /** The error of the first statement that failed; `undefined` where none did. */
  get firstError(): unknown {
    return this.#firstError;
  }

  /** Whether the connection under it is of no use any more. */
  get isBroken(): boolean {
    return this.#inner.isBroken;
  }

  async query(query: ToolQuery): Promise<ToolQueryResult> {
    if (this.#isOver) throw over();
    const text = typeof query?.text === 'string' ? query.text : '';
    const refused = whyRefused(text);
    if (refused !== null) throw control(refused);
    if (STAYS.test(text.replaceAll(SET_LOCALLY, ''))) this.#inner.dropWhenReleased();
    const answer = this.#inner.query({ ...query, text });
    this.#pending.add(answer);
    try {
      return await answer;
    } catch (error) {
      this.#firstError ??= error;
      throw error;
    } finally {
      this.#pending.delete(answer);
    }
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, command, rowCount } = await this.query({ text: sql, values: [...parameters], types });
    const isChange = CHANGES.has(command) && rowCount !== null;
    return { rows: rows as Row[], ...(isChange ? { numAffectedRows: BigInt(rowCount) } : {}) };
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery(): AsyncIterableIterator<never> {
    throw control('a stream');
  }

  /** Takes no further statement, and resolves when the last one that was sent has its answer. */
  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.allSettled(this.#pending);
  }
}

function whyRefused(text: string): string | null {
  return REFUSED.exec(text.slice(beginningOf(text)))?.[0].toUpperCase() ?? null;
}

/** Where the first word of a text stands: after white space, empty statements and comments, which PostgreSQL nests. */
function beginningOf(text: string): number {
  let place = 0;
  for (;;) {
    const space = /^[\s;]*(?:--[^\n\r]*)?/.exec(text.slice(place))?.[0].length ?? 0;
    place += space;
    if (text.startsWith('/*', place)) place = endOfComment(text, place);
    else if (space === 0) return place;
  }
}

function endOfComment(text: string, start: number): number {
  let depth = 0;
  for (const { 0: mark, index } of text.slice(start).matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1;
    if (depth === 0) return start + index + 2;
  }
  return text.length;
}

/** What a tool may not send. */
export function control(found: string): TurnlockError {
  return new TurnlockError('TRANSACTION_CONTROL', {
    message: `statement was refused: transaction of a tool (found ${found}, wanted one that leaves the transaction to the runtime)`,
  });
}

function over(): TurnlockError {
  return new TurnlockError('TRANSACTION_OVER', {
    message: 'transaction is over: the one of a tool (found a statement after execute had ended, wanted none)',
  });
}
