import { onPglite } from '../../support/runtime-database.ts';
import { describeWorker } from './worker-suite.ts';

onPglite(describeWorker);
