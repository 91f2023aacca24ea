import { onPglite } from '../support/runtime-database.ts';
import { describeRuns } from './run-suite.ts';

onPglite(describeRuns);
