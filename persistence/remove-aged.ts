import { asOperator } from './operator-transaction.ts';
import type { Store } from './session-transaction.ts';

/**
 * What goes by its age beside sessions: business keys that outlived theirs, memories that expired or were superseded, and what operators
 * looked for and removed, which is of no tenant.
 */
export type Aged = 'claims' | 'memories' | 'reads';

/** Which of them. */
export interface AgedRows {
  kind: Aged;
  olderThanMs: number;
  /** `null`: of all tenants. */
  tenantId: string | null;
}

const FUNCTIONS: Record<Aged, { count: string; remove: string }> = {
  claims: { count: 'count_left_claims', remove: 'remove_claims' },
  memories: { count: 'count_old_memories', remove: 'remove_memories' },
  reads: { count: 'count_operator_reads', remove: 'remove_operator_reads' },
};

/** How many there are. @throws PRIVILEGE_MISSING. */
export async function countAged(store: Store, rows: AgedRows): Promise<number> {
  return ask(store, FUNCTIONS[rows.kind].count, whichOf(rows));
}

/** Removes at most `max` of them; answers with how many. @throws PRIVILEGE_MISSING. */
export async function removeAged(store: Store, rows: AgedRows, max: number): Promise<number> {
  return ask(store, FUNCTIONS[rows.kind].remove, [...whichOf(rows), max]);
}

function whichOf({ kind, olderThanMs, tenantId }: AgedRows): unknown[] {
  return kind === 'reads' ? [olderThanMs] : [olderThanMs, tenantId];
}

async function ask(store: Store, name: string, values: readonly unknown[]): Promise<number> {
  const statement = `select turnlock.${name}(?::bigint${', ?'.repeat(values.length - 1)})::int as count`;
  const [row] = await asOperator(
    store,
    async (em) => (await em.execute(statement, [...values])) as [{ count: number }],
  );
  return row.count;
}
