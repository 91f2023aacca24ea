import { onPglite } from '../support/runtime-database.ts';
import { describeInstructions } from './instructions-suite.ts';
import { describeOutputs } from './output-suite.ts';

onPglite((database) => {
  describeOutputs(database);
  describeInstructions(database);
});
