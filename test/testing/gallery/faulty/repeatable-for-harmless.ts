import { defineTool, type ToolContext } from '../../../../index.ts';
import type { Seen } from '../../../../testing/index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank, type Booking, type Refund } from '../worlds/bank.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

/** A bank that notes for which run it booked. */
class RunBank extends Bank {
  readonly runs = new Map<string, string>();

  bookInRun(refund: Refund, context: ToolContext): Booking {
    this.runs.set(context.executionId, context.runId);
    return this.bookOnce(context.idempotencyKey, refund, context);
  }
}

/** No run has two equal bookings that nobody approved. */
function noRunRepeatsByItself({ world, executions }: Seen<RunBank>): boolean | string {
  const approved = new Set(executions.filter((call) => call.approvedBy !== null).map((call) => call.executionId));
  const refunds = world.bookings
    .filter(({ executionId }) => !approved.has(executionId))
    .map(({ executionId, orderId, cents }) => `${cents} for order ${orderId} in run ${world.runs.get(executionId)}`);
  const twice = refunds.find((refund, index) => refunds.indexOf(refund) !== index);
  return twice === undefined || `refunded twice: ${twice}`;
}

/**
 * Reached by one answer of the model with two equal calls, no fault: both run, each with a key of its own. In later answers a person is
 * asked, as ever.
 */
export const repeatableForHarmless: ToolsEntry<RunBank> = {
  name: 'repeatable-for-harmless',
  title:
    'It says that it is repeatable, as the bank knows its keys, and means attempts where the calls of a turn are meant.',
  mistake: 'a doubled call that is not answered with the first',
  kind: 'tools',
  check: {
    world: () => new RunBank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'nonRepeatable',
        repeatable: true,
        execute: async (refund, context) => {
          await worker.at('before the bank');
          const { refundId } = bank.bookInRun(refund, context);
          await worker.at('after the bank');
          return { refundId };
        },
      }),
    ],
    calls: { refund: refundCalls },
    invariants: {
      'no run refunds the same twice unless a person agrees': noRunRepeatsByItself,
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
