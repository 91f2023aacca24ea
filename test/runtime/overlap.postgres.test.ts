import { onPostgres } from '../support/runtime-database.ts';
import { describeGrace } from './grace-suite.ts';
import { describeOverlaps } from './overlap-suite.ts';

onPostgres((database) => {
  describeOverlaps(database);
  describeGrace(database);
});
