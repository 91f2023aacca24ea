import { sql } from 'drizzle-orm';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import { pgSchema, text, uuid, varchar } from 'drizzle-orm/pg-core';
import type { Pool } from 'pg';
import type { CallerTransaction, Runtime } from 'turnlock';
import { type OpenComplaint, TENANT } from './complaint.ts';

const complaints = pgSchema('shop').table('complaints', {
  complaintId: uuid('complaint_id').primaryKey(),
  orderId: text('order_id').notNull(),
  tenantId: varchar('tenant_id', { length: 64 }).notNull(),
  sessionId: uuid('session_id').notNull(),
});

/** A transaction of Drizzle, as Turnlock takes it. */
function inTransaction(tx: Pick<NodePgDatabase, 'execute'>): CallerTransaction {
  return { sql: (strings, ...values) => tx.execute(sql(strings, ...values)) };
}

export function withDrizzle(pool: Pool, runtime: Runtime): OpenComplaint {
  const db = drizzle(pool);
  return ({ complaintId, orderId, customer, text }) =>
    db.transaction(async (tx) => {
      const transaction = inTransaction(tx);
      const session = await runtime.createSession({
        agent: 'complaints',
        tenantId: TENANT,
        userId: customer,
        externalId: complaintId,
        transaction,
      });
      const run = await session.send(text, { transaction });
      await tx
        .insert(complaints)
        .values({ complaintId, orderId, tenantId: session.tenantId, sessionId: session.sessionId });
      return run;
    });
}
