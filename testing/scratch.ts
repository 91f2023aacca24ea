import fc from 'fast-check';
import { z } from 'zod';
import { defineTool, done, notDone } from '../index.ts';
import { checkToolPolicy } from './check-tool-policy.ts';
const kind = process.argv[2] ?? 'bad'; const numRuns = Number(process.argv[3] ?? 200); const seed = Number(process.argv[4] ?? 1);
const t = performance.now();
type Bank = { refunds: { order: string; cents: number; key: string }[] };
const report = await checkToolPolicy<Bank>({
  world: () => ({ refunds: [] }),
  tools: (bank, p) => [defineTool({
    name: 'refund', description: 'x', inputSchema: z.object({ order: z.string(), cents: z.int() }),
    effect: kind === 'bad' ? 'idempotent' : kind === 'rec' ? 'reconcilable' : 'nonRepeatable',
    ...(kind === 'rec' ? { reconcile: async (_p: unknown, { idempotencyKey }: { idempotencyKey: string }) => bank.refunds.some((r) => r.key === idempotencyKey) ? done({ ok: true }) : notDone() } : {}) as {},
    once: { per: 'tenant', key: ({ order }: { order: string }) => order },
    execute: async ({ order, cents }: { order: string; cents: number }, { idempotencyKey: key, tenantId }: { idempotencyKey: string; tenantId: string }) => {
      await p.at('before the bank');
      const o = `${tenantId} ${order}`;
      if (kind === 'good' && bank.refunds.some((r) => r.order === o)) return { ok: false };
      if (kind === 'rec' && bank.refunds.some((r) => r.key === key)) return { ok: true };
      bank.refunds.push({ order: o, cents, key });
      await p.at('after the bank');
      return { ok: true };
    },
  } as never)],
  calls: { refund: fc.record({ order: fc.constantFrom('A', 'B'), cents: fc.constantFrom(10, 500) }) },
  people: { settle: (bank, { idempotencyKey }) => bank.refunds.some((r) => r.key === idempotencyKey) ? { outcome: 'succeeded', output: null } : { outcome: 'failed' } },
  invariants: { 'no order is refunded twice': ({ world }) => { const o = world.refunds.map((r) => r.order); return new Set(o).size === o.length || `refunded: ${o.join(', ')}`; } },
  numRuns, seed,
});
console.log(report.ok, report.runs, 'runs in', ((performance.now() - t) / 1000).toFixed(1), 's');
if (report.failure) console.log(report.failure.text);
