import { onPostgres } from '../support/runtime-database.ts';
import { describeAnswers } from './answer-suite.ts';
import { describeArguments } from './argument-suite.ts';

onPostgres((database) => {
  describeArguments(database);
  describeAnswers(database);
});
