import { onPostgres } from '../support/runtime-database.ts';
import { describeValueProperties } from './value-property-suite.ts';

// The fuzzer stops when its time is over, in the middle of a run whose runtimes are still open.
const isFuzzing = Number(process.env.TURNLOCK_FUZZ_MS ?? 0) > 0;

onPostgres(describeValueProperties, { toleratesOpenConnections: isFuzzing });
