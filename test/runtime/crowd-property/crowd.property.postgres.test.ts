import { onPostgres } from '../../support/runtime-database.ts';
import { describeCrowds } from './crowd-suite.ts';

// The fuzzer stops when its time is over, in the middle of a schedule whose processes are still up.
const isFuzzing = Number(process.env.TURNLOCK_FUZZ_MS ?? 0) > 0;

onPostgres(describeCrowds, { toleratesOpenConnections: isFuzzing });
