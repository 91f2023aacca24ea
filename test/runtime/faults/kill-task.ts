import { askRefund, askRefunds } from '../../support/world/ask-payments.ts';
import { type Stage, writeAct } from './agents.ts';
import type { Effect } from './places.ts';

/** What a process that is to be killed is told. */
export interface KillTask {
  database: string;
  /** Where the payments service listens. */
  payments: string;
  /** Where each of its sessions stops. */
  place: string;
  /** The message of one session for each class. It is the number of an order as well. */
  orders: Record<Effect, string>;
}

/**
 * Tools that act at the payments service: `readOnly` asks what was refunded, the others ask for a refund. It honours keys for `idempotent`
 * alone.
 */
export function paymentsStage(
  payments: string,
  more: Pick<Stage, 'noteAnswer'> & { acted(effect: Effect, cell: string, executionId: string): Promise<void> },
): Stage {
  return {
    noteAnswer: () => more.noteAnswer(),
    async act(effect, orderId, context) {
      const { idempotencyKey: key, signal, executionId } = context;
      if (effect === 'transactional') await writeAct(orderId, context);
      else if (effect === 'readOnly') await askRefunds(payments, `orderId=${orderId}&key=${key}`);
      else await askRefund(payments, { orderId, key, signal, behaviour: { honoursKeys: effect === 'idempotent' } });
      await more.acted(effect, orderId, executionId);
    },
    async hasActed(_, { idempotencyKey }) {
      const { body } = await askRefunds(payments, `key=${idempotencyKey}`);
      return (body as { refunds: object[] }).refunds.length > 0;
    },
  };
}
