import { onPostgres } from '../../support/runtime-database.ts';
import { describeWorkerEnd } from './worker-end-suite.ts';
import { describeWorker } from './worker-suite.ts';

onPostgres((database) => {
  describeWorker(database);
  describeWorkerEnd(database);
});
