import { onPostgres } from '../support/runtime-database.ts';
import { describeInstructions } from './instructions-suite.ts';
import { describeOutputs } from './output-suite.ts';

onPostgres((database) => {
  describeOutputs(database);
  describeInstructions(database);
});
