import { onPostgres } from '../../support/runtime-database.ts';
import { describeChildEnds } from './child-end-suite.ts';
import { describeChildren } from './children-suite.ts';

onPostgres((database) => {
  describeChildren(database);
  describeChildEnds(database);
});
