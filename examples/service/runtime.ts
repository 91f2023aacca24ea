import { createRuntime } from 'turnlock';
import { postgres } from 'turnlock/postgres';
import { supportAgent } from './agent.ts';

/** What the process that started this one told it. */
export const { DATABASE_URL = '', PAYMENTS_URL = '', PROCESS_NAME = '' } = process.env;

/** Opens the sessions in this process. Every process has the same agents; `drive` says whether it also runs what it sends. */
export async function openRuntime({ drive }: { drive: boolean }) {
  return await createRuntime({
    database: postgres(DATABASE_URL, { listen: DATABASE_URL }),
    agents: [await supportAgent({ payments: PAYMENTS_URL, worker: PROCESS_NAME })],
    drive,
    migrate: 'auto', // a service's pipeline runs `turnlock migrate`
    limits: { leaseMs: 3_000, graceMs: 1_000, sweepMs: 1_000 }, // short, so that you need not wait for what you killed
    onWarning: ({ code, message }) => code === 'RLS_BYPASSED' || console.error(message), // the role here owns everything
  });
}
