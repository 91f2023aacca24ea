import { onPglite } from '../support/runtime-database.ts';
import { describeGrace } from './grace-suite.ts';
import { describeOverlaps } from './overlap-suite.ts';

onPglite((database) => {
  describeOverlaps(database);
  describeGrace(database);
});
