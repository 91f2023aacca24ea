import { onPglite } from '../../support/runtime-database.ts';
import { describeRemembering } from './remember-suite.ts';
import { describeSummaries } from './summary-suite.ts';

onPglite((database) => {
  describeSummaries(database);
  describeRemembering(database);
});
