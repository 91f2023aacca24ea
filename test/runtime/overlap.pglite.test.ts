import { onPglite } from '../support/runtime-database.ts';
import { describeGrace } from './grace-suite.ts';
import { describeOverlaps } from './overlap-suite.ts';
import { describeReported } from './reported-suite.ts';

onPglite((database) => {
  describeOverlaps(database);
  describeGrace(database);
  describeReported(database);
});
