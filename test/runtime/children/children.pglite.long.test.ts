import { onPglite } from '../../support/runtime-database.ts';
import { describeChildEnds } from './child-end-suite.ts';
import { describeChildWorkers } from './child-worker-suite.ts';
import { describeChildren } from './children-suite.ts';

onPglite((database) => {
  describeChildren(database);
  describeChildEnds(database);
  describeChildWorkers(database);
});
