import { onPglite } from '../support/runtime-database.ts';
import { describeApprovals } from './approval-suite.ts';
import { describeAwaiting } from './awaiting-suite.ts';

onPglite((database) => {
  describeApprovals(database);
  describeAwaiting(database);
});
