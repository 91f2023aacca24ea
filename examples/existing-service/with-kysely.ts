import { CompiledQuery, Kysely, PostgresDialect, type Transaction } from 'kysely';
import type { Pool } from 'pg';
import type { CallerTransaction, Runtime } from 'turnlock';
import { type OpenComplaint, TENANT } from './complaint.ts';

interface Tables {
  'shop.complaints': { complaint_id: string; order_id: string; tenant_id: string; session_id: string };
}

/** A transaction of Kysely, as Turnlock takes it. */
function inTransaction(trx: Transaction<Tables>): CallerTransaction {
  return { query: (text, values) => trx.executeQuery(CompiledQuery.raw(text, values)) };
}

export function withKysely(pool: Pool, runtime: Runtime): OpenComplaint {
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return ({ complaintId, orderId, customer, text }) =>
    db.transaction().execute(async (trx) => {
      const transaction = inTransaction(trx);
      const session = await runtime.createSession({
        agent: 'complaints',
        tenantId: TENANT,
        userId: customer,
        externalId: complaintId,
        transaction,
      });
      const run = await session.send(text, { transaction });
      await trx
        .insertInto('shop.complaints')
        .values({
          complaint_id: complaintId,
          order_id: orderId,
          tenant_id: session.tenantId,
          session_id: session.sessionId,
        })
        .execute();
      return run;
    });
}
