import { onPostgres } from '../support/runtime-database.ts';
import { describeMessages } from './message-suite.ts';
import { describeRecovery } from './recovery-suite.ts';
import { describeRuns } from './run-suite.ts';

onPostgres((database) => {
  describeRuns(database);
  describeMessages(database);
  describeRecovery(database);
});
