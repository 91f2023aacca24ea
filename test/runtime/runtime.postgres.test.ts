import { onPostgres } from '../support/runtime-database.ts';
import { describeRuns } from './run-suite.ts';

onPostgres(describeRuns);
