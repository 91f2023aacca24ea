import { onPostgres } from '../../support/runtime-database.ts';
import { describeCrowds } from './crowd-suite.ts';

const isFuzzing = Number(process.env.TURNLOCK_FUZZ_MS ?? 0) > 0;

onPostgres(describeCrowds(1), { toleratesOpenConnections: isFuzzing });
