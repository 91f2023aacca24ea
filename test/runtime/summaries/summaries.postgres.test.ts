import { onPostgres } from '../../support/runtime-database.ts';
import { describeRemembering } from './remember-suite.ts';
import { describeSummaries } from './summary-suite.ts';

onPostgres((database) => {
  describeSummaries(database);
  describeRemembering(database);
});
