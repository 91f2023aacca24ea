import type { MikroORM } from '@mikro-orm/postgresql';
import type { Runtime } from 'turnlock';
import { type OpenComplaint, TENANT } from './complaint.ts';
import { AgentSession, Complaint, Order } from './shop.orm.ts';

/** An EntityManager in a transaction is taken as it is. */
export function withMikroOrm(orm: MikroORM, runtime: Runtime): OpenComplaint {
  return ({ complaintId, orderId, customer, text }) =>
    orm.em.fork().transactional(async (em) => {
      const session = await runtime.createSession({
        agent: 'complaints',
        tenantId: TENANT,
        userId: customer,
        externalId: complaintId,
        transaction: em,
      });
      const run = await session.send(text, { transaction: em });
      em.create(Complaint, {
        complaintId,
        order: em.getReference(Order, orderId),
        session: em.getReference(AgentSession, [session.tenantId, session.sessionId]),
      });
      return run; // what was created is written now, and committed
    });
}
