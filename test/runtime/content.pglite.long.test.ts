import { onPglite } from '../support/runtime-database.ts';
import { describeKeys } from './key-suite.ts';
import { describeLimits } from './limit-suite.ts';
import { describeValues } from './value-suite.ts';

onPglite((database) => {
  describeValues(database);
  describeKeys(database);
  describeLimits(database);
});
