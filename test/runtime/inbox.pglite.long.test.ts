import { onPglite } from '../support/runtime-database.ts';
import { describeEnqueue } from './enqueue-suite.ts';
import { describeEvidence } from './evidence-suite.ts';
import { describeInbox } from './inbox-suite.ts';
import { describeMisspelt } from './misspelt-suite.ts';
import { describeNoDrive } from './no-drive-suite.ts';

onPglite((database) => {
  describeInbox(database);
  describeEnqueue(database);
  describeEvidence(database);
  describeNoDrive(database);
  describeMisspelt(database);
});
