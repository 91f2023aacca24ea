import { onPglite } from '../support/runtime-database.ts';
import { describeAnswers } from './answer-suite.ts';
import { describeArguments } from './argument-suite.ts';
import { describeBounds } from './bound-suite.ts';

onPglite((database) => {
  describeArguments(database);
  describeAnswers(database);
  describeBounds(database);
});
