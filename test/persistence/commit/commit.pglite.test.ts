import { onPglite } from '../../support/runtime-database.ts';
import { describeCommits } from './commit-suite.ts';

onPglite(describeCommits);
