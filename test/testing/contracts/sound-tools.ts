import fc from 'fast-check';
import { z } from 'zod';
import { defineTool } from '../../../adapters/tools/define-tool.ts';
import { allow, requireApproval } from '../../../adapters/tools/policy.ts';
import { done, notDone } from '../../../adapters/tools/reconciliation.ts';
import type { Tool } from '../../../adapters/tools/tool.contract.ts';
import type { ToolContract } from '../../../testing/contracts/tool-contract.ts';

/** A bank in memory that knows which calls it has paid, and may fall silent. */
export class Bank {
  readonly payments = new Map<string, number>();
  paid = 0;
  isSilent = false;

  /** Pays once for each key; `null`: each time. */
  async pay(cents: number, key: string | null, signal?: AbortSignal): Promise<{ paid: number }> {
    if (this.isSilent) await aborted(signal);
    if (key === null || !this.payments.has(key)) this.paid += 1;
    if (key !== null) this.payments.set(key, cents);
    return { paid: cents };
  }
}

/** Rejects when the signal aborts; without one, never. */
function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
}

const inputSchema = z.object({ order: z.string().min(1), cents: z.int().positive() });
const outputSchema = z.object({ paid: z.int() });
const common = { description: 'Pays an order back.', inputSchema, outputSchema } as const;

/** Pays with the key of the call, so that it may be called again. */
export function idempotent(bank: Bank): Tool {
  return defineTool({
    ...common,
    name: 'refund',
    effect: 'idempotent',
    once: { per: 'tenant', key: ({ order }) => order },
    cost: ({ cents }) => cents * 10_000,
    policy: ({ cents }) => (cents <= 100 ? allow() : requireApproval()),
    execute: ({ cents }, { idempotencyKey, signal }) => bank.pay(cents, idempotencyKey, signal),
  });
}

/** Asks the bank what became of a call. */
export function reconcilable(bank: Bank): Tool {
  return defineTool({
    ...common,
    name: 'refund',
    effect: 'reconcilable',
    execute: ({ cents }, { idempotencyKey, signal }) => bank.pay(cents, idempotencyKey, signal),
    reconcile: (_, { idempotencyKey }) => {
      const cents = bank.payments.get(idempotencyKey);
      return cents === undefined ? notDone() : done({ paid: cents });
    },
  });
}

/** Looks, and does nothing. */
export function readOnly(bank: Bank): Tool {
  return defineTool({
    ...common,
    name: 'look',
    outputSchema: z.object({ paid: z.int(), order: z.string() }),
    effect: 'readOnly',
    execute: ({ order }) => ({ paid: bank.paid, order }),
  });
}

/** The contract of a tool at that bank. */
export function contractOf(make: (bank: Bank) => Tool): ToolContract<Bank> {
  return {
    make,
    world: () => new Bank(),
    params: fc.record({ order: fc.constantFrom('1', '2'), cents: fc.integer({ min: 1, max: 200 }) }),
    invalidParams: fc.oneof(
      fc.record({ order: fc.constantFrom('', 7), cents: fc.constant(1) }),
      fc.record({ order: fc.constant('1'), cents: fc.constantFrom(0, -1, 1.5, '1') }),
      fc.constantFrom<unknown[]>(null, 'text', [], {}),
    ),
    acts: ({ paid }) => paid,
    silence: (bank) => {
      bank.isSilent = true;
    },
    numRuns: 20,
    seed: 1,
    patienceMs: 10_000,
  };
}
