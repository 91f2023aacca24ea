import { childModule } from '../children/child-module.ts';
import { type Child, startChild } from '../children/start-child.ts';
import type { PaymentsMethods, PaymentsNotices } from './payments-service.child.ts';

/** The payments service as a process of its own. */
export type PaymentsService = Child<PaymentsMethods, PaymentsNotices>;

/** Starts it; it serves once it is asked to open. */
export function startPayments(): PaymentsService {
  return startChild(childModule(import.meta.url, 'payments-service.child'));
}
