import type { Behaviour } from '../../../examples/refunds/payments/behaviour.ts';
import { atTestEnd } from '../at-test-end.ts';
import { type PaymentsService, startPayments } from './start-payments.ts';

/** The payments service for one test: `startPayments`, stopped at the test's end. */
export async function paymentsWorld(behaviour: Partial<Behaviour> = {}): Promise<PaymentsService> {
  const service = await startPayments(behaviour);
  atTestEnd(() => service.stop());
  return service;
}
