import { onPglite } from '../support/runtime-database.ts';
import { describeEndings } from './cancel-suite.ts';
import { describeMessages } from './message-suite.ts';
import { describeRecovery } from './recovery-suite.ts';
import { describeRuns } from './run-suite.ts';
import { describeTimes } from './time-suite.ts';

onPglite((database) => {
  describeRuns(database);
  describeMessages(database);
  describeRecovery(database);
  describeTimes(database);
  describeEndings(database);
});
