import { onPostgres } from '../support/runtime-database.ts';
import { describeCosts } from './cost-suite.ts';
import { describeHistory } from './history-suite.ts';
import { describeQuarantine } from './quarantine-suite.ts';
import { describeTenants } from './tenant-suite.ts';

onPostgres((database) => {
  describeHistory(database);
  describeTenants(database);
  describeQuarantine(database);
  describeCosts(database);
});
