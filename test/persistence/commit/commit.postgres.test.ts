import { onPostgres } from '../../support/runtime-database.ts';
import { describeCommits } from './commit-suite.ts';

onPostgres(describeCommits);
