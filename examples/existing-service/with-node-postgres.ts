import type { Pool } from 'pg';
import type { Runtime } from 'turnlock';
import { type OpenComplaint, TENANT } from './complaint.ts';

/** A client of node-postgres is taken as it is. */
export function withNodePostgres(pool: Pool, runtime: Runtime): OpenComplaint {
  return async ({ complaintId, orderId, customer, text }) => {
    const client = await pool.connect();
    try {
      await client.query('begin');
      const session = await runtime.createSession({
        agent: 'complaints',
        tenantId: TENANT,
        userId: customer,
        externalId: complaintId,
        transaction: client,
      });
      const run = await session.send(text, { transaction: client });
      await client.query(
        'insert into shop.complaints (complaint_id, order_id, tenant_id, session_id) values ($1, $2, $3, $4)',
        [complaintId, orderId, session.tenantId, session.sessionId],
      );
      await client.query('commit');
      return run;
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  };
}
