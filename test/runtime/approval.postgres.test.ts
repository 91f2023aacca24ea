import { onPostgres } from '../support/runtime-database.ts';
import { describeApprovals } from './approval-suite.ts';
import { describeAwaiting } from './awaiting-suite.ts';

onPostgres((database) => {
  describeApprovals(database);
  describeAwaiting(database);
});
