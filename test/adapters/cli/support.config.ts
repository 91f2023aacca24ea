import { pglite } from '../../../adapters/databases/pglite.ts';
import { supportAgent } from './support-agent.ts';

/** What a user's `turnlock.config.ts` exports by default. */
export const config = { database: pglite('data'), agents: [supportAgent()], limits: { graceMs: 0, leaseMs: 1_000 } };
