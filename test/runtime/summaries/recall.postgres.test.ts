import { onPostgres } from '../../support/runtime-database.ts';
import { describeRecall } from './recall-suite.ts';

onPostgres(describeRecall);
