import { onPostgres } from '../../support/runtime-database.ts';
import { describeWorker } from './worker-suite.ts';

onPostgres(describeWorker);
