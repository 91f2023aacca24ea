import { onPostgres } from '../../support/runtime-database.ts';
import { describeCrashes } from './crash-suite.ts';

// The fuzzer stops when its time is over, in the middle of a run whose processes are still up.
const isFuzzing = Number(process.env.TURNLOCK_FUZZ_MS ?? 0) > 0;

onPostgres(describeCrashes(0.4), { toleratesOpenConnections: isFuzzing });
