import { type Columns, insertCall, type Sql } from '../../migrations/scene.ts';
import { type Call, insertRow, type ROWS } from './rows.ts';

/** What a constraint refuses. */
export type Attempt = (sql: Sql, arranged: Call) => Promise<unknown>;

/** Inserts a row that differs from a legal one by `over`. */
export function row(table: keyof typeof ROWS, over: Columns | ((call: Call) => Columns) = {}): Attempt {
  return (sql, call) => insertRow(sql, table, call, typeof over === 'function' ? over(call) : over);
}

/** Two rows that a constraint tells apart. */
export function twice(attempt: Attempt): Attempt {
  return async (sql, call) => {
    await attempt(sql, call);
    await attempt(sql, call);
  };
}

/** The same, of another session of the tenant. */
export const ofAnother =
  (attempt: (other: Call) => Attempt): Attempt =>
  async (sql, call) => {
    return attempt(await insertCall(sql))(sql, call);
  };

/** Another tenant than that of the scene. */
export const ELSEWHERE = { tenant_id: 'other' };

/** One way to break a constraint. */
export interface Case {
  constraint: string;
  prevents: string;
  attempt: Attempt;
  inFront?: string[];
}

/** A constraint and what breaks it. */
export const check = (constraint: string, prevents: string, attempt: Attempt, ...inFront: string[]): Case => {
  return { constraint, prevents, attempt, inFront };
};
