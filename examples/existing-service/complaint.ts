import type { Run } from 'turnlock';

/** The shop is one tenant. */
export const TENANT = 'shop';

/** A customer's complaint about an order. */
export interface Complaint {
  complaintId: string;
  orderId: string;
  customer: string;
  text: string;
}

/**
 * Opens a complaint in one transaction of the service: the agent's session, the customer's message, the service's own row. All of it is
 * there after the commit, and none of it after a rollback. An order that nobody knows is refused by the last statement.
 */
export type OpenComplaint = (complaint: Complaint) => Promise<Run>;
